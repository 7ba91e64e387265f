/// Is told which partitions come and go. All calls come from the consumer's poll thread, one at a time.
public protocol RebalanceHandler: Sendable {
    /// The partitions are owned now. Nothing of them is delivered until each is opened. Must not block.
    func assigned(_ partitions: [OwnedPartition])
    /// The partitions are about to be given up. May block until `deadline` to commit what is done; nothing more of them is
    /// handed out. After the return they belong to someone else.
    func revoking(_ partitions: [OwnedPartition], deadline: ContinuousClock.Instant)
    /// The partitions belong to someone else already; nothing of them can be committed. Must not block.
    func lost(_ partitions: [OwnedPartition])
}

/// A member of a consumer group that reads one topic.
public final class Consumer: Sendable {
    /// Joins the group. Throws if the configuration is refused.
    public init(_ configuration: ConsumerConfiguration, topic: String, handler: any RebalanceHandler) throws(KafkaError)
    {
        fatalError()
    }

    /// Lets records of the partition be delivered. Does nothing if it is not owned in this epoch any more.
    public func open(_ partition: OwnedPartition) { fatalError() }
    /// Holds the partition back; membership goes on, and no pause and resume is involved (they cost a second).
    public func close(_ partition: OwnedPartition) { fatalError() }

    /// The next records, in offset order for each partition; at least one. `nil` when the consumer was closed, empty when
    /// the task was cancelled. Throws when the consumer is of no use any more, for example fenced.
    public func nextBatch(max: Int = 256) async throws(KafkaError) -> [ConsumedRecord]? { fatalError() }

    /// What is owned now.
    public var assignment: [OwnedPartition] { fatalError() }
    /// True if the partition is owned in this epoch.
    public func owns(_ partition: OwnedPartition) -> Bool { fatalError() }

    /// The group's committed offset of each partition, `nil` where there is none. Waits for open transactions that hold
    /// offsets of it (KIP-447, require stable); throws `timedOut` after `timeout`.
    public func committed(
        _ partitions: [OwnedPartition], timeout: Duration = .seconds(30)
    ) async throws(KafkaError) -> [TopicPartition: Int64?] { fatalError() }

    /// Gives all partitions up, through the handler, leaves the group and frees everything.
    public func close(within limit: Duration = .seconds(30)) async -> CloseOutcome { fatalError() }
}

public enum CloseOutcome: Sendable, Hashable {
    case closed
    /// The deadline passed; a thread is left behind, and the group will notice by the session time-out.
    case abandoned
}
