import CRdKafka
import Threads

/// One librdkafka producer with the thread that drains its events.
///
/// Delivery reports are taken as events on a thread of their own: left to the flush inside of a commit, which polls in
/// steps of 10 ms, a transaction takes 6 to 18 times as long.
final class ProducerInstance: Sendable {
    let handle: ClientHandle
    let deliveries = Deliveries()
    private let topics = Monitor<[String: Topic]>([:])
    private let events = Monitor(EventThread())
    private let report: @Sendable (ClientReport) -> Void

    private struct EventThread {
        var shouldEnd = false
        var hasEnded = false
    }

    private struct Topic: @unchecked Sendable { let native: OpaquePointer }

    init(_ settings: ClientSettings) throws(KafkaError) {
        report = settings.report
        handle = try ClientHandle(RD_KAFKA_PRODUCER, settings, events: RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR)
        startThread("kafka-events") { [self] in drainEvents() }
    }

    /// Why the instance is of no use any more, if it is not.
    var fatalError: KafkaError? {
        try? handle.use { client throws(KafkaError) -> KafkaError? in KafkaError(fatalOf: client) } ?? nil
    }

    /// Enqueues a record; its report will come to the batch. `nil` is success.
    func produce(_ record: ProducerRecord, _ index: Int, batch: UInt32) -> KafkaError? {
        do {
            return try handle.use { client throws(KafkaError) in
                let topic = try topic(record.topic, client)
                deliveries.expect(batch)
                let headers = nativeHeaders(record.headers)
                let code = withBytes(record.key) { key, keySize in
                    withBytes(record.value) { value, size in
                        crdkafka_produce(
                            client, topic, record.partition ?? RD_KAFKA_PARTITION_UA, key, keySize, value, size,
                            headers,
                            record.timestamp ?? 0, Deliveries.tag(batch, record: index))
                    }
                }
                if code == RD_KAFKA_RESP_ERR_NO_ERROR { return nil }
                deliveries.doNotExpect(batch)
                if let headers { rd_kafka_headers_destroy(headers) }
                return KafkaError(code)
            }
        } catch {
            return error
        }
    }

    /// Gets ready for topics: without this the first record to each waits up to a second (librdkafka #5032).
    func warmUp(_ names: [String]) throws(KafkaError) {
        try handle.use { client throws(KafkaError) in
            for name in names {
                var metadata: UnsafePointer<rd_kafka_metadata>?
                let code = rd_kafka_metadata(client, 0, try topic(name, client), &metadata, 5_000)
                if let metadata { rd_kafka_metadata_destroy(metadata) }
                if code != RD_KAFKA_RESP_ERR_NO_ERROR {
                    report(ClientReport(level: 4, facility: "metadata", message: "\(name): \(KafkaError(code))"))
                }
            }
        }
    }

    private func topic(_ name: String, _ client: OpaquePointer) throws(KafkaError) -> OpaquePointer {
        try topics.withLock { topics throws(KafkaError) in
            if let topic = topics[name] { return topic.native }
            guard let native = rd_kafka_topic_new(client, name, nil) else {
                throw KafkaError(rd_kafka_last_error(), "topic \(name) cannot be written to")
            }
            topics[name] = Topic(native: native)
            return native
        }
    }

    private func drainEvents() {
        let client = handle.forOwner
        let queue = rd_kafka_queue_get_main(client)!
        while !events.withLock({ $0.shouldEnd }) {
            guard let event = rd_kafka_queue_poll(queue, 100) else { continue }
            switch rd_kafka_event_type(event) {
            case RD_KAFKA_EVENT_DR: deliveries.take(event)
            case RD_KAFKA_EVENT_ERROR:
                let error = KafkaError(rd_kafka_event_error(event), String(cString: rd_kafka_event_error_string(event)))
                report(ClientReport(level: 4, facility: error.name, message: error.reason))
            default: break
            }
            rd_kafka_event_destroy(event)
        }
        rd_kafka_queue_destroy(queue)
        events.update { $0.hasEnded = true }
    }

    /// Frees everything. Blocks until the calls under way have ended.
    func destroy() {
        events.update { $0.shouldEnd = true }
        try? handle.use { client throws(KafkaError) in
            guard let queue = rd_kafka_queue_get_main(client) else { return }
            rd_kafka_queue_yield(queue)
            rd_kafka_queue_destroy(queue)
        }
        events.wait { $0.hasEnded }
        // A call that does not return may still hold a topic handle.
        handle.waitForCalls()
        let handles = topics.withLock { topics in
            defer { topics = [:] }
            return topics
        }
        for topic in handles.values { rd_kafka_topic_destroy(topic.native) }
        handle.destroy()
    }
}

extension ProducerConfiguration {
    /// What transactional and plain producers share.
    func settings() throws(KafkaError) -> ClientSettings {
        var settings = try ClientSettings(
            client,
            defaults: [
                "compression.type": compression.rawValue, "linger.ms": String(linger.timeoutMilliseconds),
                "retry.backoff.ms": "20", "topic.metadata.propagation.max.ms": "5000",
                "partitioner": "murmur2_random", "queue.buffering.max.kbytes": "262144",
            ])
        settings.set("message.max.bytes", String(maxMessageBytes))
        settings.set("enable.idempotence", "true")
        settings.set("acks", "all")
        settings.set("delivery.report.only.error", "false")
        return settings
    }
}
