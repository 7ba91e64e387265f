import CRdKafka

/// Reads whole partitions without a group: everything that was committed before the call, and nothing that was aborted.
public final class PartitionReader: Sendable {
    private let committed: ClientHandle
    private let uncommitted: ClientHandle

    /// Throws if the configuration is refused.
    public init(_ configuration: ClientConfiguration) throws(KafkaError) {
        committed = try ClientHandle(
            RD_KAFKA_CONSUMER, ClientSettings.groupless(configuration, isolation: .readCommitted))
        uncommitted = try ClientHandle(
            RD_KAFKA_CONSUMER, ClientSettings.groupless(configuration, isolation: .readUncommitted))
    }

    /// Hands every committed record from `offset` (default: the first there is) up to the high watermark of this moment
    /// to `deliver`, in order, on one thread.
    ///
    /// The end is the high watermark, not the last stable offset: a crashed writer's open transaction may have committed
    /// records of others behind it (KAFKA-10167). So it waits for such transactions to end, and `progress` tells about
    /// it, once a second. However long the partition is, reading goes on while it gets on: it throws `timedOut` after
    /// `patience` without progress, and `destroyed` when `isWanted` turns false.
    public func read(
        _ partition: TopicPartition, from offset: Int64? = nil, patience: Duration = .seconds(120),
        isWanted: @escaping @Sendable () -> Bool = { true },
        progress: @escaping @Sendable (ReadProgress) -> Void = { _ in },
        deliver: @escaping @Sendable ([ConsumedRecord]) -> Void
    ) async throws(KafkaError) {
        let (committed, uncommitted) = (committed, uncommitted)
        try await onThread("kafka-read", within: .seconds(86_400)) {
            Result { () throws(KafkaError) in
                let end = try uncommitted.watermarks(partition, until: .now + patience).upperBound
                var reading = Reading(partition, end: end, isWanted, progress, deliver)
                try committed.use { client throws(KafkaError) in
                    try reading.run(client, from: offset, patience: patience)
                }
            }
        }
    }

    /// Frees everything, after the reads under way.
    public func close() async {
        let (committed, uncommitted) = (committed, uncommitted)
        try? await onThread("kafka-close", within: .seconds(30)) {
            committed.destroy()
            uncommitted.destroy()
            return .success(())
        }
    }
}

/// How far reading a partition is.
public struct ReadProgress: Sendable, Hashable {
    public var partition: TopicPartition
    /// The next offset to read.
    public var position: Int64
    /// Where reading will end.
    public var end: Int64
    /// A transaction is open below the end: reading waits for it to end.
    public var waitsForOpenTransaction: Bool
}

/// One pass through a partition.
private struct Reading {
    let partition: TopicPartition
    let end: Int64
    let isWanted: () -> Bool
    let progress: (ReadProgress) -> Void
    let deliver: ([ConsumedRecord]) -> Void
    private var batch: [ConsumedRecord] = []
    private var position: Int64 = 0
    private var reported: (at: ContinuousClock.Instant, waits: Bool)?
    /// What can be read now ends before the end: librdkafka says so once.
    private var waitsForOpenTransaction = false

    private static let maxBatch = 256

    init(
        _ partition: TopicPartition, end: Int64, _ isWanted: @escaping () -> Bool,
        _ progress: @escaping (ReadProgress) -> Void, _ deliver: @escaping ([ConsumedRecord]) -> Void
    ) {
        self.partition = partition
        self.end = end
        self.isWanted = isWanted
        self.progress = progress
        self.deliver = deliver
    }

    mutating func run(
        _ client: OpaquePointer, from offset: Int64?, patience: Duration
    ) throws(KafkaError) {
        position = offset ?? 0
        if end <= position { return }
        let stream = try PartitionStream(client, partition, from: offset ?? Int64(RD_KAFKA_OFFSET_BEGINNING))
        defer { stream.stop() }
        var (seen, since) = (position, ContinuousClock.now)
        while position < end {
            guard isWanted() else { throw KafkaError(.destroyed, "\(partition) is not wanted any more") }
            if position > seen { (seen, since) = (position, .now) }
            if .now - since > patience {
                throw KafkaError(.timedOut, "\(partition) was read up to offset \(position) of \(end) only")
            }
            try step(stream)
        }
        flush()
    }

    private mutating func step(_ stream: PartitionStream) throws(KafkaError) {
        switch try stream.next(waiting: .milliseconds(200)) {
        case .record(let offset, let record):
            position = offset + 1
            waitsForOpenTransaction = false
            if offset < end { batch.append(record) }
            if batch.count >= Self.maxBatch { flush() }
        case .end(let offset):
            // The position also passes control records and aborted ones, which are never seen.
            position = max(position, offset)
            waitsForOpenTransaction = position < end
            flush()
            tell()
        case .nothing:
            flush()
            tell()
        }
    }

    private mutating func flush() {
        if !batch.isEmpty { deliver(batch) }
        batch.removeAll(keepingCapacity: true)
    }

    /// Once a second, and at once when the reason for waiting changes.
    private mutating func tell() {
        if let reported, reported.waits == waitsForOpenTransaction, .now - reported.at < .seconds(1) { return }
        reported = (.now, waitsForOpenTransaction)
        progress(
            ReadProgress(
                partition: partition, position: position, end: end, waitsForOpenTransaction: waitsForOpenTransaction))
    }
}

/// One partition being fetched, by the thread that made it.
struct PartitionStream {
    enum Element {
        case record(Int64, ConsumedRecord)
        /// What can be read now ends before this offset.
        case end(Int64)
        case nothing
    }

    private let topic: OpaquePointer
    private let queue: OpaquePointer
    private let owned: OwnedPartition

    init(_ client: OpaquePointer, _ partition: TopicPartition, from offset: Int64) throws(KafkaError) {
        owned = OwnedPartition(topic: partition.topic, partition: partition.partition, epoch: 0)
        guard let topic = rd_kafka_topic_new(client, partition.topic, nil) else {
            throw KafkaError(rd_kafka_last_error(), "\(partition.topic) cannot be read")
        }
        self.topic = topic
        // Asked for here, the leader is known at once; librdkafka itself looks every half second.
        var metadata: UnsafePointer<rd_kafka_metadata>?
        if rd_kafka_metadata(client, 0, topic, &metadata, 5_000) == RD_KAFKA_RESP_ERR_NO_ERROR {
            rd_kafka_metadata_destroy(metadata)
        }
        queue = rd_kafka_queue_new(client)!
        if rd_kafka_consume_start_queue(topic, partition.partition, offset, queue) != 0 {
            let code = rd_kafka_last_error()
            rd_kafka_queue_destroy(queue)
            rd_kafka_topic_destroy(topic)
            throw KafkaError(code, "\(partition) cannot be read")
        }
    }

    func next(waiting limit: Duration) throws(KafkaError) -> Element {
        guard let message = rd_kafka_consume_queue(queue, limit.timeoutMilliseconds) else { return .nothing }
        defer { rd_kafka_message_destroy(message) }
        switch message.pointee.err {
        case RD_KAFKA_RESP_ERR_NO_ERROR:
            return .record(message.pointee.offset, ConsumedRecord(copying: message, of: owned))
        case RD_KAFKA_RESP_ERR__PARTITION_EOF: return .end(message.pointee.offset)
        case let code:
            let error = KafkaError(
                code, "\(owned.topicPartition): " + String(cString: rd_kafka_message_errstr(message)))
            if error.disposition == .retriable { return .nothing }
            throw error
        }
    }

    func stop() {
        rd_kafka_consume_stop(topic, owned.partition)
        rd_kafka_queue_destroy(queue)
        rd_kafka_topic_destroy(topic)
    }
}

extension ClientSettings {
    /// A consumer that is in no group and reads to the end.
    static func groupless(_ client: ClientConfiguration, isolation: Isolation) throws(KafkaError) -> ClientSettings {
        var settings = try ClientSettings(
            client,
            defaults: ["fetch.wait.max.ms": "50", "check.crcs": "true", "queued.max.messages.kbytes": "16384"])
        settings.set("isolation.level", isolation.rawValue)
        settings.set("enable.partition.eof", "true")
        settings.set("enable.auto.commit", "false")
        settings.set("enable.auto.offset.store", "false")
        settings.set("auto.offset.reset", "error")
        settings.set("allow.auto.create.topics", "false")
        return settings
    }
}

extension ClientHandle {
    /// The first offset and the one after the last, as the client's isolation level sees them.
    func watermarks(
        _ partition: TopicPartition, until deadline: ContinuousClock.Instant
    ) throws(KafkaError) -> Range<Int64> {
        try use { client throws(KafkaError) in
            var (low, high): (Int64, Int64) = (0, 0)
            while true {
                let timeout = max(1, min(5_000, deadline.millisecondsLeft))
                let code = rd_kafka_query_watermark_offsets(
                    client, partition.topic, partition.partition, &low, &high, timeout)
                if code == RD_KAFKA_RESP_ERR_NO_ERROR { return low..<max(low, high) }
                let error = KafkaError(code, "watermarks of \(partition): " + String(cString: rd_kafka_err2str(code)))
                guard error.disposition == .retriable, !deadline.isPast else { throw error }
                pause(.milliseconds(50))
            }
        }
    }
}
