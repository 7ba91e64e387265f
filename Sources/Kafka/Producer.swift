import CRdKafka
import Synchronization
import Threads

/// Writes records outside of transactions, each once (idempotent), and says where they are.
public final class Producer: Sendable {
    private let instance: ProducerInstance
    private let thread = CallThread("kafka-produce")
    private let lastBatch = Atomic<UInt32>(0)

    /// Throws if the configuration is refused.
    public init(_ configuration: ProducerConfiguration) throws(KafkaError) {
        var settings = try configuration.settings()
        settings.set("message.timeout.ms", "30000")
        instance = try ProducerInstance(settings)
        let instance = instance
        let topics = configuration.topics
        thread.enqueue { try? instance.warmUp(topics) }
    }

    deinit {
        let instance = instance
        startThread("kafka-destroy") { instance.destroy() }
    }

    /// Writes the records and waits until all are stored on all in-sync replicas; says where each is, in their order.
    /// Throws the first error; the other records may have been stored then.
    public func send(
        _ records: [ProducerRecord], within limit: Duration = .seconds(30)
    ) async throws(KafkaError) -> [RecordPosition] {
        let batch = lastBatch.add(1, ordering: .relaxed).newValue
        let instance = instance
        return try await thread.call {
            Result { () throws(KafkaError) in
                try Self.send(records, instance, batch, until: .now + limit)
            }
        }
    }

    private static func send(
        _ records: [ProducerRecord], _ instance: ProducerInstance, _ batch: UInt32,
        until deadline: ContinuousClock.Instant
    ) throws(KafkaError) -> [RecordPosition] {
        let deliveries = instance.deliveries
        deliveries.open(batch, keepsOnePosition: false)
        defer { _ = deliveries.close(batch) }
        for (index, record) in records.enumerated() {
            while let error = instance.produce(record, index, batch: batch) {
                guard error.code == .queueFull, deliveries.waitForRoom(batch, until: deadline) else { throw error }
            }
        }
        guard deliveries.waitForAll(batch, until: deadline) else {
            throw KafkaError(.timedOut, "the records were not acknowledged in time")
        }
        let result = deliveries.peek(batch)
        if let failure = result.failure { throw failure }
        return records.indices.map { index in
            result.positions[index]
                ?? RecordPosition(topic: records[index].topic, partition: records[index].partition ?? -1, offset: -1)
        }
    }

    /// Waits for what is being sent and frees everything.
    public func close(within limit: Duration = .seconds(10)) async -> CloseOutcome {
        thread.stop()
        let instance = instance
        let closed: Void? = try? await onThread("kafka-close", within: limit) { .success(instance.destroy()) }
        return closed == nil ? .abandoned : .closed
    }
}
