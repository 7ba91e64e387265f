import Crawl

/// A broker with the four topics of the crawl log, in memory: honest transactions, one consumer group, no threads, no clock.
///
/// It does what Kafka does where exactly-once depends on it: an open transaction holds readers back, also one of a
/// crashed member until it times out; offsets are part of a transaction and are refused as a whole from a member
/// that the group went on without (KIP-447); a new owner waits for open transactions before it restores; control
/// records leave gaps in the offsets. A `Defect` switches one of these off, to show that a test would notice.
public struct MemoryBroker: Sendable {
    /// A message of the jobs topic.
    public struct JobMessage: Sendable {
        public var content: DeliveredJob.Content
        public var received: ReceivedRecord
    }

    /// A record of the crawls topic; without `record` it is a tombstone.
    public struct LedgerEntry: Sendable {
        public var crawl: String
        public var record: CrawlRecord?
    }

    /// A rule that is broken on purpose.
    public enum Defect: Sendable, CaseIterable {
        /// Offsets are taken from whoever sends them.
        case acceptsStaleOwners
        /// A new owner starts with an empty ledger.
        case restoresNothing
        /// A new owner reads the ledger to the last stable offset and does not wait for the high watermark.
        case restoresToStableOffset
        /// A new owner does not wait for open transactions that hold offsets of its partition.
        case ignoresPendingOffsets
        /// A new owner reads the ledger first and the committed offset afterwards.
        case restoresBeforeOffsets
        /// An aborted transaction is shown as if it were committed.
        case showsAborted
        /// Offsets are not part of the transaction: they count as soon as they are sent.
        case commitsOffsetsEarly
    }

    public let partitions: Int32
    public let defects: Set<Defect>
    /// The time that new records carry. Set by whoever drives the broker.
    public var now = Timestamp(milliseconds: 0)

    public private(set) var jobs: [PartitionLog<JobMessage>]
    public private(set) var crawls: [PartitionLog<LedgerEntry>]
    public private(set) var pages: [PartitionLog<ResultBatch>]
    public private(set) var deadLetters: [PartitionLog<DeadLetter>]
    /// Where each jobs partition continues for a new owner.
    public private(set) var committedOffsets: [Int32: Int64] = [:]
    public internal(set) var group: MemoryGroup

    /// What each member reads: an entry for each partition that it owns.
    var readers: [Int: [Int32: Reader]] = [:]
    var openTransactions: [TransactionID: OpenTransaction] = [:]
    private var newestTransaction = 0
    /// Transactions in the order in which they became visible.
    public private(set) var commitOrder: [TransactionID: Int] = [:]

    struct Reader: Sendable {
        var epoch: Int64
        /// The next job to read; `nil` until the ledger is restored.
        var position: Int64?
        /// The ledger as it was when the partition was assigned; only a broken broker looks at it.
        var earlyLedger: [CrawlRecord]
    }

    struct OpenTransaction: Sendable {
        var member: Int
        var offsets: [Int32: Int64] = [:]
    }

    public init(
        partitions: Int32 = 2, assignment: MemoryGroup.Assignment = .cooperative, defects: Set<Defect> = []
    ) {
        let count = Int(partitions)
        self.partitions = partitions
        self.defects = defects
        jobs = Array(repeating: PartitionLog(), count: count)
        crawls = Array(repeating: PartitionLog(), count: count)
        pages = Array(repeating: PartitionLog(), count: count)
        deadLetters = Array(repeating: PartitionLog(), count: count)
        group = MemoryGroup(partitions: partitions, assignment: assignment)
    }

    // MARK: Producing and administering

    /// Puts a message on the jobs topic, outside any transaction.
    @discardableResult
    public mutating func produce(_ message: JobMessage, to partition: Int32) -> JobPosition {
        JobPosition(offset: jobs[Int(partition)].append(message, at: now), timestamp: now)
    }

    @discardableResult
    public mutating func produce(_ job: Job, to partition: Int32) -> JobPosition {
        produce(JobMessage(job), to: partition)
    }

    /// Makes the group read everything again. As in Kafka, only a group without members can be reset.
    public mutating func resetOffsets() {
        precondition(group.members.isEmpty, "the offsets of a group with members cannot be reset")
        committedOffsets = [:]
    }

    /// Compacts the crawls topic: of each crawl the newest stable record is kept.
    public mutating func compactLedger() {
        for index in crawls.indices {
            var newest: [String: Int64] = [:]
            for record in crawls[index].committed() { newest[record.value.crawl] = record.offset }
            crawls[index].compact { newest[$0.value.crawl] != $0.offset }
        }
    }

    /// The newest record of each crawl of a partition, as a reader sees it now.
    public func ledger(of partition: Int32) -> [CrawlRecord] {
        fold(crawls[Int(partition)].committed())
    }

    private func fold(_ records: [PartitionLog<LedgerEntry>.Record]) -> [CrawlRecord] {
        var newest: [String: CrawlRecord] = [:]
        for record in records { newest[record.value.crawl] = record.value.record }
        return newest.sorted { $0.key < $1.key }.map(\.value)
    }
}

// MARK: Consuming

extension MemoryBroker {
    /// Reads the ledger for a new owner; `nil` while it has to wait for an open transaction.
    public mutating func restore(_ owned: PartitionEpoch, for member: Int) -> AssignedPartition? {
        let partition = Int(owned.partition)
        guard let reader = readers[member]?[owned.partition], reader.epoch == owned.epoch else { return nil }
        if !defects.contains(.ignoresPendingOffsets), holdsOffsets(of: owned.partition) { return nil }
        let log = crawls[partition]
        if defects.isDisjoint(with: [.restoresToStableOffset, .ignoresPendingOffsets]), log.stableEnd < log.end {
            return nil
        }
        readers[member]?[owned.partition]?.position = committedOffsets[owned.partition] ?? 0
        if defects.contains(.restoresNothing) { return AssignedPartition(owned: owned, ledger: []) }
        if defects.contains(.restoresBeforeOffsets) {
            return AssignedPartition(owned: owned, ledger: reader.earlyLedger)
        }
        return AssignedPartition(owned: owned, ledger: fold(log.committed()))
    }

    private func holdsOffsets(of partition: Int32) -> Bool {
        openTransactions.values.contains { $0.offsets[partition] != nil }
    }

    /// The next jobs of a partition, at most `limit`. None before it is restored.
    public mutating func poll(_ owned: PartitionEpoch, for member: Int, limit: Int = 16) -> [DeliveredJob] {
        guard let reader = readers[member]?[owned.partition], reader.epoch == owned.epoch,
            let position = reader.position
        else { return [] }
        let records = jobs[Int(owned.partition)].committed(from: position, limit: limit)
        guard let last = records.last else { return [] }
        readers[member]?[owned.partition]?.position = last.offset + 1
        return records.map { record in
            DeliveredJob(
                owned: owned, position: JobPosition(offset: record.offset, timestamp: record.timestamp),
                content: record.value.content, received: record.value.received)
        }
    }

    /// True if the member reads no partition that has jobs for it.
    public func hasReadAll(_ member: Int) -> Bool {
        readers[member, default: [:]].allSatisfy { partition, reader in
            reader.position.map { jobs[Int(partition)].committed(from: $0, limit: 1).isEmpty } ?? false
        }
    }
}

// MARK: The group

extension MemoryBroker {
    public mutating func join() -> Int {
        let member = group.join()
        readers[member] = [:]
        return member
    }

    /// What the member has to do next; new partitions are to be restored before they are read.
    public mutating func heartbeat(_ member: Int) -> MemoryGroup.News {
        let news = group.heartbeat(member)
        for owned in news.assigned {
            let early = defects.contains(.restoresBeforeOffsets) ? ledger(of: owned.partition) : []
            readers[member]?[owned.partition] = Reader(epoch: owned.epoch, position: nil, earlyLedger: early)
        }
        if news.isExpelled { readers[member] = [:] }
        return news
    }

    /// The member finished with what it was told to give up.
    public mutating func gaveUp(_ member: Int) {
        group.gaveUp(member)
        let owned = group.members[member]?.owned ?? [:]
        readers[member] = readers[member]?.filter { owned[$0.key] != nil }
    }

    /// Makes all members rejoin, as a new subscription of one of them does.
    public mutating func rebalance() { group.rebalance() }

    /// The member is out of the group, because it left or because nothing was heard of it. It is told when it asks.
    public mutating func remove(_ member: Int) { group.remove(member) }
}

// MARK: Transactions

extension MemoryBroker {
    /// Why the broker does not take what a member sends.
    public enum Refusal: Sendable, Hashable {
        /// The group has gone on without this member, or to a generation that it does not know yet.
        case illegalGeneration
        /// The member does not own the partition in this epoch.
        case notOwned(PartitionEpoch)
        /// The transaction touches a partition without sending its offset, so nothing protects it.
        case unprotected(partition: Int32)
        /// The transaction was ended by the broker.
        case fenced
    }

    public mutating func begin(_ member: Int) -> TransactionID {
        newestTransaction += 1
        let id = TransactionID(number: newestTransaction)
        openTransactions[id] = OpenTransaction(member: member)
        return id
    }

    /// Appends the records of a transaction. Nobody with `read_committed` sees them before the commit.
    public mutating func write(_ transaction: Transaction, in id: TransactionID) -> Refusal? {
        guard openTransactions[id] != nil else { return .fenced }
        for forgotten in transaction.forgotten {
            let entry = LedgerEntry(crawl: forgotten.crawl, record: nil)
            crawls[Int(forgotten.partition)].append(entry, at: now, in: id)
        }
        for step in transaction.steps {
            let index = Int(step.partition)
            for batch in step.batches { pages[index].append(batch, at: now, in: id) }
            crawls[index].append(LedgerEntry(crawl: step.record.crawl, record: step.record), at: now, in: id)
            if let next = step.next { jobs[index].append(JobMessage(next), at: now, in: id) }
        }
        for letter in transaction.deadLetters {
            deadLetters[Int(letter.partition)].append(letter, at: now, in: id)
        }
        return nil
    }

    /// Makes the offsets part of the transaction, or refuses all of them. Sent last before the commit.
    public mutating func sendOffsets(_ transaction: Transaction, in id: TransactionID) -> Refusal? {
        guard let member = openTransactions[id]?.member else { return .fenced }
        if !defects.contains(.acceptsStaleOwners), let refusal = check(transaction, from: member) { return refusal }
        for offset in transaction.offsets {
            openTransactions[id]?.offsets[offset.owned.partition] = offset.next
            if defects.contains(.commitsOffsetsEarly) { committedOffsets[offset.owned.partition] = offset.next }
        }
        return nil
    }

    private func check(_ transaction: Transaction, from member: Int) -> Refusal? {
        guard let state = group.members[member], state.generation == group.generation else {
            return .illegalGeneration
        }
        if let foreign = transaction.offsets.first(where: { !group.owns(member, $0.owned) }) {
            return .notOwned(foreign.owned)
        }
        let sent = Set(transaction.offsets.map(\.owned.partition))
        return transaction.touchedPartitions.subtracting(sent).min().map { .unprotected(partition: $0) }
    }

    /// Makes the whole transaction visible. Needs no membership: the offsets were checked when they were sent.
    public mutating func commit(_ id: TransactionID) -> Refusal? {
        guard let transaction = openTransactions.removeValue(forKey: id) else { return .fenced }
        committedOffsets.merge(transaction.offsets) { _, sent in sent }
        finish(id, committed: true)
        return nil
    }

    /// Makes the whole transaction void: called by its member, or because it timed out or its producer was fenced.
    public mutating func abort(_ id: TransactionID) {
        guard openTransactions.removeValue(forKey: id) != nil else { return }
        finish(id, committed: defects.contains(.showsAborted))
    }

    private mutating func finish(_ id: TransactionID, committed: Bool) {
        if committed { commitOrder[id] = commitOrder.count }
        for index in jobs.indices {
            pages[index].finish(id, committed: committed)
            crawls[index].finish(id, committed: committed)
            jobs[index].finish(id, committed: committed)
            deadLetters[index].finish(id, committed: committed)
        }
    }

    /// Members with an open transaction.
    public var membersWithOpenTransactions: [Int] { Set(openTransactions.values.map(\.member)).sorted() }

    /// Ends the open transactions of a member, as the coordinator does when they time out.
    public mutating func timeOutTransactions(of member: Int) {
        for id in openTransactions.filter({ $0.value.member == member }).keys.sorted() { abort(id) }
    }
}

extension Transaction {
    var touchedPartitions: Set<Int32> {
        Set(steps.map(\.partition)).union(deadLetters.map(\.partition)).union(forgotten.map(\.partition))
    }
}

extension MemoryBroker.JobMessage {
    /// The value stands for the bytes that a real log would carry.
    init(_ job: Job) {
        content = .job(job)
        received = ReceivedRecord(key: Array(job.crawl.utf8), value: Array("a job of \(job.crawl)".utf8))
    }

    /// A message that nothing can be made of.
    public init(unusable received: ReceivedRecord, _ kind: DeadLetter.Kind = .malformedJob, reason: String) {
        content = .unusable(kind: kind, reason: reason)
        self.received = received
    }
}
