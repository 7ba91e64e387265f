import CRdKafka

/// What the poll thread does: it alone polls, answers rebalances, and holds partitions back or lets them through.
///
/// Each partition's queue is taken from the consumer's queue before the partition is assigned, and forwarded to it only
/// while the partition is open and there is room, so that records wait inside librdkafka (bounded by its fetch limits).
final class PollLoop {
    private let core: ConsumerCore
    private let handler: any RebalanceHandler
    private var partitions: [Int32: Partition] = [:]
    private var batch: [ConsumedRecord] = []
    private var letsThrough = true
    private var wasAssigned = false
    private var isCooperative = false

    /// A partition that is assigned.
    private struct Partition {
        var owned: OwnedPartition
        /// The partition's queue; `nil` if librdkafka has none (then records are held here).
        var queue: OpaquePointer?
        var isOpen = false
        var isForwarded = false
        /// Records before this were delivered (librdkafka before 2.4 may deliver some again: #4636).
        var next: Int64 = 0
        /// Records that came while the partition was not open.
        var early: [ConsumedRecord] = []
    }

    private static let maxBatch = 256

    init(_ core: ConsumerCore, _ handler: any RebalanceHandler) {
        self.core = core
        self.handler = handler
    }

    func run() {
        let client = core.handle.forOwner
        let queue = rd_kafka_queue_get_consumer(client)!
        while core.closeBy == nil { serve(client, queue, queue, .milliseconds(100)) }
        leave(client, queue)
    }

    private func serve(
        _ client: OpaquePointer, _ polled: OpaquePointer, _ consumerQueue: OpaquePointer, _ wait: Duration
    ) {
        for command in core.takeCommands() { obey(command) }
        holdBackOrLetThrough(consumerQueue)
        var timeout = wait.timeoutMilliseconds
        while batch.count < Self.maxBatch, let event = rd_kafka_queue_poll(polled, timeout) {
            timeout = 0
            switch rd_kafka_event_type(event) {
            case RD_KAFKA_EVENT_FETCH: take(event)
            case RD_KAFKA_EVENT_REBALANCE:
                deliver()
                rebalance(client, event)
            case RD_KAFKA_EVENT_ERROR: take(error: event, client)
            default: break
            }
            rd_kafka_event_destroy(event)
        }
        deliver()
    }

    // MARK: Records

    private func take(_ event: OpaquePointer) {
        while let message = rd_kafka_event_message_next(event) {
            guard message.pointee.err == RD_KAFKA_RESP_ERR_NO_ERROR else {
                fail(unless: KafkaError(message.pointee.err, String(cString: rd_kafka_message_errstr(message))))
                continue
            }
            let number = message.pointee.partition
            guard let partition = partitions[number], message.pointee.offset >= partition.next else { continue }
            let record = ConsumedRecord(copying: message, of: partition.owned)
            partitions[number]?.next = record.offset + 1
            if partition.isOpen { batch.append(record) } else { partitions[number]?.early.append(record) }
        }
    }

    private func deliver() {
        core.mailbox.put(batch)
        batch.removeAll(keepingCapacity: true)
    }

    private func obey(_ command: ConsumerCore.Command) {
        switch command {
        case .open(let owned):
            guard var partition = partitions[owned.partition], partition.owned == owned else { return }
            partition.isOpen = true
            batch.append(contentsOf: partition.early)
            partition.early = []
            partitions[owned.partition] = partition
        case .close(let owned):
            if partitions[owned.partition]?.owned == owned { partitions[owned.partition]?.isOpen = false }
        }
    }

    private func holdBackOrLetThrough(_ queue: OpaquePointer) {
        letsThrough = core.mailbox.wantsMore(letsThrough)
        core.holdBack(!letsThrough)
        for (number, partition) in partitions {
            let forward = partition.isOpen && letsThrough
            guard forward != partition.isForwarded, let own = partition.queue else { continue }
            rd_kafka_queue_forward(own, forward ? queue : nil)
            partitions[number]?.isForwarded = forward
        }
    }

    // MARK: Errors

    private func take(error event: OpaquePointer, _ client: OpaquePointer) {
        let code = rd_kafka_event_error(event)
        if let fatal = KafkaError(fatalOf: client) { return fail(fatal) }
        if code == RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED { loseAll() }
        fail(unless: KafkaError(code, String(cString: rd_kafka_event_error_string(event))))
    }

    /// Ends the consumer if the error does not pass by itself.
    private func fail(unless error: KafkaError) {
        switch error.code {
        case .topicAuthorizationFailed, .groupAuthorizationFailed, .autoOffsetReset: fail(error)
        default: core.report(ClientReport(level: 4, facility: error.name, message: error.reason))
        }
    }

    private func fail(_ error: KafkaError) {
        core.report(ClientReport(level: 3, facility: error.name, message: error.reason))
        if error.disposition == .fenced || error.disposition == .fatal { loseAll() }
        core.mailbox.finish(error)
    }

    private func loseAll() {
        let lost = core.ownership.removeAll()
        core.mailbox.purge(lost)
        if !lost.isEmpty { handler.lost(lost) }
    }

    // MARK: Rebalance

    private func rebalance(_ client: OpaquePointer, _ event: OpaquePointer) {
        // Every rebalance is answered, or the group waits for ever.
        guard let list = rd_kafka_event_topic_partition_list(event) else {
            return answer(rd_kafka_assign(client, nil))
        }
        let numbers = PartitionEntry.all(of: list).map(\.partition.partition)
        // While the consumer closes there may be no answer; the protocol does not change.
        if let name = rd_kafka_rebalance_protocol(client).map({ String(cString: $0) }), name != "NONE" {
            isCooperative = name == "COOPERATIVE"
        }
        switch rd_kafka_event_error(event) {
        case RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS: assign(client, list, numbers)
        case RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS:
            giveUp(numbers, isLost: rd_kafka_assignment_lost(client) != 0)
            if isCooperative {
                answer(rd_kafka_incremental_unassign(client, list))
            } else {
                answer(rd_kafka_assign(client, nil))
            }
        default:
            loseAll()
            forget(Array(partitions.keys))
            answer(rd_kafka_assign(client, nil))
        }
    }

    private func assign(
        _ client: OpaquePointer, _ list: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>, _ numbers: [Int32]
    ) {
        wasAssigned = true
        var queues: [Int32: OpaquePointer] = [:]
        for number in numbers { queues[number] = heldBackQueue(client, number) }
        if isCooperative {
            answer(rd_kafka_incremental_assign(client, list))
        } else {
            answer(rd_kafka_assign(client, list))
        }
        let memberId = rd_kafka_memberid(client)
        defer { if let memberId { rd_kafka_mem_free(client, memberId) } }
        let owned = core.ownership.assign(numbers, member: memberId.map { String(cString: $0) } ?? "")
        for partition in owned {
            let queue = queues[partition.partition] ?? heldBackQueue(client, partition.partition)
            partitions[partition.partition] = Partition(owned: partition, queue: queue)
        }
        if !owned.isEmpty { handler.assigned(owned) }
    }

    private func heldBackQueue(_ client: OpaquePointer, _ partition: Int32) -> OpaquePointer? {
        guard let queue = rd_kafka_queue_get_partition(client, core.topic, partition) else { return nil }
        rd_kafka_queue_forward(queue, nil)
        return queue
    }

    /// Drain first, fence second: what is done may still be committed, nothing new is handed out.
    private func giveUp(_ numbers: [Int32], isLost: Bool) {
        let owned = core.ownership.startRevoking(numbers)
        core.mailbox.purge(owned)
        if isLost {
            core.ownership.remove(owned)
            if !owned.isEmpty { handler.lost(owned) }
        } else {
            if !owned.isEmpty { handler.revoking(owned, deadline: .now + core.revokeDeadline) }
            core.ownership.remove(owned)
        }
        forget(numbers)
    }

    private func forget(_ numbers: [Int32]) {
        for number in numbers {
            guard let queue = partitions.removeValue(forKey: number)?.queue else { continue }
            rd_kafka_queue_forward(queue, nil)
            rd_kafka_queue_destroy(queue)
        }
    }

    private func answer(_ error: OpaquePointer?) {
        guard let error else { return }
        let failure = KafkaError(consuming: error)
        core.report(ClientReport(level: 4, facility: failure.name, message: failure.reason))
    }

    private func answer(_ code: rd_kafka_resp_err_t) {
        if code == RD_KAFKA_RESP_ERR_NO_ERROR { return }
        let failure = KafkaError(code)
        core.report(ClientReport(level: 4, facility: failure.name, message: failure.reason))
    }

    // MARK: Leaving

    /// librdkafka before 2.3 fails an assertion when a cooperative consumer is closed or freed before its first assignment,
    /// which may take a session time-out to come when another member has died (#4381).
    private static let survivesAnEarlyEnd = rd_kafka_version() >= 0x0203_00ff

    /// Leaves the group. Every rebalance that is waiting, or comes meanwhile, is answered, or closing would never end.
    private func leave(_ client: OpaquePointer, _ queue: OpaquePointer) {
        let deadline = core.closeBy ?? .now
        let firstAssignment = min(deadline, .now + .seconds(5))
        let hasCrashed = core.hasCrashed
        while !wasAssigned, !firstAssignment.isPast { serve(client, queue, queue, .milliseconds(50)) }
        let hasLeft = wasAssigned && !hasCrashed && closeGroup(client, until: deadline)
        if hasCrashed { core.mailbox.purge(core.ownership.removeAll()) } else { loseAll() }
        forget(Array(partitions.keys))
        core.mailbox.finish()
        rd_kafka_queue_destroy(queue)
        if wasAssigned || Self.survivesAnEarlyEnd {
            core.handle.destroy(leavesGroup: hasLeft)
        } else {
            core.handle.abandon()
        }
        core.closed(hasLeft || !deadline.isPast ? .closed : .abandoned)
    }

    /// False if the deadline came first, or a consumer with a fatal error, which is in no group any more, refused.
    private func closeGroup(_ client: OpaquePointer, until deadline: ContinuousClock.Instant) -> Bool {
        let closing = rd_kafka_queue_new(client)!
        defer { rd_kafka_queue_destroy(closing) }
        if let error = rd_kafka_consumer_close_queue(client, closing) {
            answer(error)
            return false
        }
        while rd_kafka_consumer_closed(client) == 0, !deadline.isPast {
            serve(client, closing, closing, .milliseconds(50))
        }
        return rd_kafka_consumer_closed(client) != 0
    }
}
