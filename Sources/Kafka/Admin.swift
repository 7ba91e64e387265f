/// Looks at a cluster and lays topics out. Every call ends within `limit`.
public final class Admin: Sendable {
    public let limit: Duration

    public init(_ configuration: ClientConfiguration, limit: Duration = .seconds(15)) throws(KafkaError) {
        fatalError()
    }

    /// Creates the topics that are not there; says for each whether it was made.
    public func createTopics(_ topics: [NewTopic]) async throws(KafkaError) -> [String: TopicCreation] { fatalError() }
    public func deleteTopics(_ topics: [String]) async throws(KafkaError) { fatalError() }
    /// The number of partitions, `nil` for a topic that does not exist.
    public func partitionCounts(_ topics: [String]) async throws(KafkaError) -> [String: Int?] { fatalError() }
    /// All settings of a topic, broker defaults included: `max.message.bytes`, `cleanup.policy`.
    public func topicSettings(_ topic: String) async throws(KafkaError) -> [String: String] { fatalError() }
    /// The first offset, and the one after the last: of the log, or of what `readCommitted` readers may see.
    public func watermarks(_ partition: TopicPartition, _ isolation: Isolation) async throws(KafkaError) -> Range<Int64>
    {
        fatalError()
    }
    /// The group's committed offsets of the topic's partitions, `nil` where there is none.
    public func committedOffsets(group: String, topic: String) async throws(KafkaError) -> [Int32: Int64?] {
        fatalError()
    }
    /// Sets the group's offsets. The group must have no members.
    public func resetOffsets(group: String, to offsets: [TopicPartition: Int64]) async throws(KafkaError) {
        fatalError()
    }
    public func describeGroup(_ group: String) async throws(KafkaError) -> GroupDescription { fatalError() }
    public func close() async { fatalError() }
}

public enum Isolation: String, Sendable, CaseIterable {
    case readCommitted = "read_committed"
    case readUncommitted = "read_uncommitted"
}

public struct NewTopic: Sendable, Hashable {
    public var name: String
    public var partitions: Int
    /// `nil` is the broker's default.
    public var replicationFactor: Int?
    public var settings: [String: String]

    public init(_ name: String, partitions: Int, replicationFactor: Int? = nil, settings: [String: String] = [:]) {
        self.name = name
        self.partitions = partitions
        self.replicationFactor = replicationFactor
        self.settings = settings
    }
}

public enum TopicCreation: Sendable, Hashable {
    case created
    case exists
    case failed(KafkaError)
}

public struct GroupDescription: Sendable, Hashable {
    public var group: String
    /// `Stable`, `Empty`, `PreparingRebalance`, `Dead` …
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
