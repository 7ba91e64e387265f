import CRdKafka
import Threads

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
///
/// One thread polls: it answers every rebalance, and copies records out into a bounded buffer that `nextBatch` takes
/// from. While the buffer is full the partitions are held back and polling goes on, so that a slow reader stays a member.
public final class Consumer: Sendable {
    private let core: ConsumerCore

    /// Joins the group. Throws if the configuration is refused.
    public init(
        _ configuration: ConsumerConfiguration, topic: String, handler: any RebalanceHandler
    ) throws(KafkaError) {
        core = try ConsumerCore(configuration, topic: topic)
        let core = core
        startThread("kafka-poll") { PollLoop(core, handler).run() }
    }

    deinit { core.requestClose(within: .seconds(10)) }

    /// Lets records of the partition be delivered. Does nothing if it is not owned in this epoch any more.
    public func open(_ partition: OwnedPartition) { core.send(.open(partition)) }

    /// Holds the partition back; membership goes on, and no pause and resume is involved (they cost a second).
    public func close(_ partition: OwnedPartition) { core.send(.close(partition)) }

    /// The next records, in offset order for each partition; at least one. `nil` when the consumer was closed, empty when
    /// the task was cancelled. Throws when the consumer is of no use any more, for example fenced. One task at a time.
    public func nextBatch(max: Int = 256) async throws(KafkaError) -> [ConsumedRecord]? {
        while true {
            guard let taken = try await core.mailbox.take(max: max) else { return nil }
            core.roomWasMade()
            let batch = taken.filter { core.ownership.delivers($0.owned) }
            if !batch.isEmpty || Task.isCancelled { return batch }
        }
    }

    /// What is owned now.
    public var assignment: [OwnedPartition] { core.ownership.assignment }

    /// True if the partition is owned in this epoch.
    public func owns(_ partition: OwnedPartition) -> Bool { core.ownership.owns(partition) }

    /// The group's committed offset of each partition, `nil` where there is none. Waits for open transactions that hold
    /// offsets of it (KIP-447, require stable); throws `timedOut` after `timeout`.
    public func committed(
        _ partitions: [OwnedPartition], timeout: Duration = .seconds(30)
    ) async throws(KafkaError) -> [TopicPartition: Int64?] {
        let core = core
        return try await onThread("kafka-committed", within: timeout + .seconds(5)) {
            Result { () throws(KafkaError) in
                try core.committed(partitions.map(\.topicPartition), until: .now + timeout)
            }
        }
    }

    /// Gives all partitions up, through the handler, leaves the group and frees everything.
    public func close(within limit: Duration = .seconds(30)) async -> CloseOutcome {
        core.requestClose(within: limit)
        let core = core
        let outcome = try? await onThread("kafka-close", within: limit + .seconds(1)) {
            .success(core.waitUntilClosed(.now + limit))
        }
        return outcome ?? .abandoned
    }

    /// Ends without a word, as a killed process does: the group waits for its session to time out. For tests.
    func crash() {
        core.crash()
        core.requestClose(within: .zero)
    }

    /// Group metadata for a transaction that touches the partitions: fetched for it and checked.
    func groupMetadata(for partitions: [OwnedPartition]) throws(KafkaError) -> GroupMetadata {
        try core.groupMetadata(for: partitions)
    }
}

/// How closing a client ended.
public enum CloseOutcome: Sendable, Hashable {
    case closed
    /// The deadline passed; a thread is left behind, and the cluster will notice by a time-out.
    case abandoned
}

/// What the poll thread and the callers of a consumer share.
final class ConsumerCore: Sendable {
    enum Command: Sendable {
        case open(OwnedPartition)
        case close(OwnedPartition)
    }

    private struct State {
        var commands: [Command] = []
        var closeBy: ContinuousClock.Instant?
        var heldBack = false
        var hasCrashed = false
        var outcome: CloseOutcome?
    }

    let handle: ClientHandle
    let topic: String
    let ownership: Ownership
    let mailbox: RecordMailbox
    let revokeDeadline: Duration
    let report: @Sendable (ClientReport) -> Void
    private let state = Monitor(State())

    init(_ configuration: ConsumerConfiguration, topic: String) throws(KafkaError) {
        self.topic = topic
        report = configuration.client.report
        ownership = Ownership(topic: topic)
        mailbox = RecordMailbox(maxRecords: configuration.maxBufferedRecords, maxBytes: configuration.maxBufferedBytes)
        revokeDeadline = min(configuration.revokeDeadline, configuration.maxPollInterval / 10)
        let events = RD_KAFKA_EVENT_REBALANCE | RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_FETCH
        handle = try ClientHandle(RD_KAFKA_CONSUMER, configuration.settings(), events: events)
        try handle.use { client throws(KafkaError) in
            rd_kafka_poll_set_consumer(client)
            let subscription = PartitionList([TopicPartition(topic: topic, partition: RD_KAFKA_PARTITION_UA)])
            let code = rd_kafka_subscribe(client, subscription.native)
            if code != RD_KAFKA_RESP_ERR_NO_ERROR { throw KafkaError(code) }
        }
    }

    func send(_ command: Command) {
        state.update { $0.commands.append(command) }
        wakePollThread()
    }

    func takeCommands() -> [Command] {
        state.withLock { state in
            defer { state.commands.removeAll() }
            return state.commands
        }
    }

    /// The poll thread holds partitions back, and wants to be woken when there is room again.
    func holdBack(_ held: Bool) { state.withLock { $0.heldBack = held } }

    func roomWasMade() {
        if state.withLock({ $0.heldBack }), mailbox.wantsMore(false) { wakePollThread() }
    }

    func requestClose(within limit: Duration) {
        state.update { if $0.closeBy == nil { $0.closeBy = .now + limit } }
        wakePollThread()
    }

    func crash() { state.update { $0.hasCrashed = true } }

    var hasCrashed: Bool { state.withLock { $0.hasCrashed } }

    var closeBy: ContinuousClock.Instant? { state.withLock { $0.closeBy } }

    func closed(_ outcome: CloseOutcome) { state.update { $0.outcome = outcome } }

    func waitUntilClosed(_ deadline: ContinuousClock.Instant) -> CloseOutcome {
        state.wait(until: deadline) { $0.outcome != nil }
        return state.withLock { $0.outcome } ?? .abandoned
    }

    private func wakePollThread() {
        try? handle.use { client throws(KafkaError) in
            guard let queue = rd_kafka_queue_get_consumer(client) else { return }
            rd_kafka_queue_yield(queue)
            rd_kafka_queue_destroy(queue)
        }
    }

    /// Asks again while the answer is "not yet": in short calls, so that a consumer that closes is not held up.
    func committed(
        _ partitions: [TopicPartition], until deadline: ContinuousClock.Instant
    ) throws(KafkaError) -> [TopicPartition: Int64?] {
        while true {
            do {
                return try committedNow(partitions, until: min(deadline, .now + .seconds(2)))
            } catch {
                guard error.disposition == .retriable, !deadline.isPast, closeBy == nil else { throw error }
                state.wait(until: .now + .milliseconds(20)) { $0.closeBy != nil }
            }
        }
    }

    private func committedNow(
        _ partitions: [TopicPartition], until deadline: ContinuousClock.Instant
    ) throws(KafkaError) -> [TopicPartition: Int64?] {
        try handle.use { client throws(KafkaError) in
            let list = PartitionList(partitions)
            let code = rd_kafka_committed(client, list.native, deadline.millisecondsLeft)
            if code != RD_KAFKA_RESP_ERR_NO_ERROR { throw KafkaError(code) }
            var committed: [TopicPartition: Int64?] = [:]
            for entry in list.entries {
                if let error = entry.error { throw error }
                committed.updateValue(entry.committed, forKey: entry.partition)
            }
            return committed
        }
    }

    func groupMetadata(for partitions: [OwnedPartition]) throws(KafkaError) -> GroupMetadata {
        try ownership.check(partitions)
        let metadata = try handle.use { client throws(KafkaError) in try GroupMetadata(of: client) }
        try metadata.check(member: ownership.member)
        try ownership.check(partitions)
        return metadata
    }
}

extension ConsumerConfiguration {
    func settings() throws(KafkaError) -> ClientSettings {
        guard heartbeatInterval < sessionTimeout, sessionTimeout <= maxPollInterval else {
            throw KafkaError(
                .invalidArgument,
                "the heartbeat interval (\(heartbeatInterval)) must be less than a session's time-out "
                    + "(\(sessionTimeout)), and that not more than the poll interval (\(maxPollInterval))")
        }
        var settings = try ClientSettings(
            client,
            defaults: [
                "fetch.wait.max.ms": "100", "queued.min.messages": "1000", "queued.max.messages.kbytes": "4096",
                "check.crcs": "true",
            ])
        settings.set("group.id", group)
        if let groupInstanceId { settings.set("group.instance.id", groupInstanceId) }
        settings.set("enable.auto.commit", "false")
        settings.set("enable.auto.offset.store", "false")
        settings.set("isolation.level", "read_committed")
        settings.set("allow.auto.create.topics", "false")
        settings.set("enable.partition.eof", "false")
        settings.set("auto.offset.reset", offsetReset.rawValue)
        settings.set("partition.assignment.strategy", assignor.rawValue)
        settings.set("max.poll.interval.ms", maxPollInterval)
        settings.set("session.timeout.ms", sessionTimeout)
        settings.set("heartbeat.interval.ms", heartbeatInterval)
        return settings
    }
}
