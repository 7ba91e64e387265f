import CRdKafka

/// Looks at a cluster and lays topics out. Every call ends within `limit`.
public final class Admin: Sendable {
    public let limit: Duration
    private let handle: ClientHandle
    private let uncommitted: ClientHandle
    private let committed: ClientHandle

    /// Throws if the configuration is refused. Nothing is connected yet.
    public init(_ configuration: ClientConfiguration, limit: Duration = .seconds(15)) throws(KafkaError) {
        self.limit = limit
        handle = try ClientHandle(RD_KAFKA_PRODUCER, ClientSettings(configuration))
        uncommitted = try ClientHandle(
            RD_KAFKA_CONSUMER, ClientSettings.groupless(configuration, isolation: .readUncommitted))
        committed = try ClientHandle(
            RD_KAFKA_CONSUMER, ClientSettings.groupless(configuration, isolation: .readCommitted))
    }

    /// Frees everything, after the calls under way.
    public func close() async {
        let handles = [handle, uncommitted, committed]
        try? await onThread("kafka-close", within: limit) {
            for handle in handles { handle.destroy() }
            return .success(())
        }
    }

    /// Creates the topics that are not there, and waits until the brokers know them; says for each whether it was made.
    public func createTopics(_ topics: [NewTopic]) async throws(KafkaError) -> [String: TopicCreation] {
        try await request("create topics") { client, limit throws(KafkaError) in
            let deadline = ContinuousClock.now + limit
            let results = try AdminRequests(client, limit).createTopics(topics)
            for (topic, result) in results where result == .created {
                // The controller made it; the broker that is asked next may hear of it a moment later.
                while try partitionCount(topic, client, limit) == nil, !deadline.isPast { pause(.milliseconds(20)) }
            }
            return results
        }
    }

    /// Deletes topics. Throws the first failure.
    public func deleteTopics(_ topics: [String]) async throws(KafkaError) {
        try await request("delete topics") { client, limit throws(KafkaError) in
            try AdminRequests(client, limit).deleteTopics(topics)
        }
    }

    /// The number of partitions of each topic that exists.
    public func partitionCounts(_ topics: [String]) async throws(KafkaError) -> [String: Int] {
        try await request("metadata") { client, limit throws(KafkaError) in
            var counts: [String: Int] = [:]
            for topic in topics { counts[topic] = try partitionCount(topic, client, limit) }
            return counts
        }
    }

    /// All settings of a topic, broker defaults included: `max.message.bytes`, `cleanup.policy`.
    public func topicSettings(_ topic: String) async throws(KafkaError) -> [String: String] {
        try await request("describe settings") { client, limit throws(KafkaError) in
            try AdminRequests(client, limit).topicSettings(topic)
        }
    }

    /// The first offset, and the one after the last: of the log, or of what `readCommitted` readers may see.
    public func watermarks(
        _ partition: TopicPartition, _ isolation: Isolation
    ) async throws(KafkaError) -> Range<Int64> {
        let (limit, handle) = (limit, isolation == .readCommitted ? committed : uncommitted)
        do {
            return try await onThread("kafka-admin", within: limit + .seconds(1)) {
                Result { () throws(KafkaError) in try handle.watermarks(partition, until: .now + limit) }
            }
        } catch {
            throw handle.explained(error)
        }
    }

    /// The group's committed offsets of the topic's partitions, `nil` where there is none. Waits for open transactions
    /// that hold offsets.
    public func committedOffsets(group: String, topic: String) async throws(KafkaError) -> [Int32: Int64?] {
        try await request("committed offsets") { client, limit throws(KafkaError) in
            guard let count = try partitionCount(topic, client, limit) else {
                throw KafkaError(.unknownTopicOrPartition, "there is no topic \(topic)")
            }
            let partitions = (0..<Int32(count)).map { TopicPartition(topic: topic, partition: $0) }
            return try AdminRequests(client, limit).committedOffsets(group, of: partitions)
        }
    }

    /// Sets the group's offsets. The group must have no members.
    public func resetOffsets(group: String, to offsets: [TopicPartition: Int64]) async throws(KafkaError) {
        try await request("reset offsets") { client, limit throws(KafkaError) in
            try AdminRequests(client, limit).resetOffsets(group, to: offsets)
        }
    }

    /// Who is in a group. A group that never was is `Dead`.
    public func describeGroup(_ group: String) async throws(KafkaError) -> GroupDescription {
        try await request("describe group") { client, limit throws(KafkaError) in
            try AdminRequests(client, limit).describe(group)
        }
    }

    private func request<R: Sendable>(
        _ name: String, _ body: @escaping @Sendable (OpaquePointer, Duration) throws(KafkaError) -> R
    ) async throws(KafkaError) -> R {
        let (limit, handle) = (limit, handle)
        do {
            return try await onThread("kafka-admin", within: limit + .seconds(1)) {
                Result { () throws(KafkaError) in
                    try handle.use { client throws(KafkaError) in try body(client, limit) }
                }
            }
        } catch {
            var named = handle.explained(error)
            named.reason = "\(name): \(named.reason)"
            throw named
        }
    }
}

/// Which records a reader sees.
public enum Isolation: String, Sendable, CaseIterable {
    case readCommitted = "read_committed"
    case readUncommitted = "read_uncommitted"
}

/// A topic to be made.
public struct NewTopic: Sendable, Hashable {
    public var name: String
    public var partitions: Int
    /// `nil` is the broker's default.
    public var replicationFactor: Int?
    /// Topic settings by their Kafka names, such as `cleanup.policy`.
    public var settings: [String: String]

    public init(_ name: String, partitions: Int, replicationFactor: Int? = nil, settings: [String: String] = [:]) {
        self.name = name
        self.partitions = partitions
        self.replicationFactor = replicationFactor
        self.settings = settings
    }
}

/// What became of a topic that was to be made.
public enum TopicCreation: Sendable, Hashable {
    case created
    case exists
    case failed(KafkaError)
}

/// Who is in a consumer group.
public struct GroupDescription: Sendable, Hashable {
    public var group: String
    /// As the broker says it: `Stable`, `Empty`, `PreparingRebalance`, `CompletingRebalance`, `Dead`.
    public var state: String
    public var assignor: String
    public var members: [Member]

    public struct Member: Sendable, Hashable {
        public var memberId: String
        public var clientId: String
        public var groupInstanceId: String?
        public var host: String
        public var partitions: [TopicPartition]
    }
}

/// `nil` if the topic does not exist.
private func partitionCount(_ topic: String, _ client: OpaquePointer, _ limit: Duration) throws(KafkaError) -> Int? {
    // A topic handle makes it a question about this topic alone; the client's cache answers none.
    guard let handle = rd_kafka_topic_new(client, topic, nil) else { throw KafkaError(rd_kafka_last_error()) }
    defer { rd_kafka_topic_destroy(handle) }
    let deadline = ContinuousClock.now + limit
    while true {
        var metadata: UnsafePointer<rd_kafka_metadata>?
        let code = rd_kafka_metadata(client, 0, handle, &metadata, max(1, deadline.millisecondsLeft))
        if code != RD_KAFKA_RESP_ERR_NO_ERROR { throw KafkaError(code) }
        defer { rd_kafka_metadata_destroy(metadata) }
        guard let entry = metadata?.pointee.topics?.pointee else { return nil }
        if entry.err == RD_KAFKA_RESP_ERR_NO_ERROR { return Int(entry.partition_cnt) }
        if entry.err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART { return nil }
        let error = KafkaError(entry.err)
        guard error.disposition == .retriable, !deadline.isPast else { throw error }
        pause(.milliseconds(50))
    }
}
