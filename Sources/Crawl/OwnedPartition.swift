/// A jobs partition that the worker owns: its ledger, its offsets, and what is to be set aside.
struct OwnedPartition: Sendable {
    let owned: PartitionEpoch
    var ledger: [String: CrawlRecord]
    var offsets = OffsetTracker()
    /// Where the partition continues as far as it is committed: at first, where its delivery began.
    var committed: Int64?
    /// It is about to be given up: nothing new begins in it.
    var isDraining = false

    /// Dead letters with the jobs that are done with them. Nothing recognises such a job when it is delivered again, so
    /// a dead letter is committed together with an offset past its job, never before.
    private(set) var deadLetters: [(letter: DeadLetter, job: Int64)] = []
    private(set) var forgotten: [String] = []
    /// What the transaction under way holds of the above, by count, and the jobs of its steps.
    private var underWay: (forgotten: Int, jobs: [Int64])?

    init(_ assigned: AssignedPartition) {
        owned = assigned.owned
        ledger = Dictionary(assigned.ledger.map { ($0.crawl, $0) }, uniquingKeysWith: { _, newer in newer })
    }

    /// Jobs are done that no transaction has said so.
    var hasProgress: Bool { offsets.next != committed }

    /// There is something to commit besides steps and offsets.
    var hasStaged: Bool {
        if !forgotten.isEmpty { return true }
        guard !deadLetters.isEmpty, let next = offsets.next(after: deadLetters.map(\.job)) else { return false }
        return deadLetters.contains { $0.job < next }
    }

    /// False if the job was delivered before in this ownership.
    mutating func deliver(_ offset: Int64) -> Bool {
        committed = committed ?? offset
        return offsets.deliver(offset)
    }

    mutating func setAside(_ letter: DeadLetter, job: Int64) { deadLetters.append((letter, job)) }

    /// Marks the records of runs that ended before a moment.
    mutating func forget(endedBefore limit: Timestamp) {
        guard forgotten.isEmpty, offsets.next != nil else { return }
        forgotten = ledger.values.filter { $0.isEnded && $0.updatedAt < limit }.map(\.crawl)
    }

    /// Adds what is staged here, and where the partition continues when `jobs` are done too.
    mutating func take(into transaction: inout Transaction, jobs: [Int64]) {
        guard let next = offsets.next(after: jobs + deadLetters.map(\.job)) else { return }
        let ready = deadLetters.filter { $0.job < next }
        transaction.deadLetters += ready.map(\.letter)
        transaction.forgotten += forgotten.map { ForgottenCrawl(partition: owned.partition, crawl: $0) }
        transaction.offsets.append(PartitionOffset(owned: owned, next: next))
        underWay = (forgotten.count, jobs + ready.map(\.job))
    }

    mutating func settled(committed: Bool, next: Int64) {
        guard let underWay else { return }
        self.underWay = nil
        guard committed else { return }
        for crawl in forgotten.prefix(underWay.forgotten) where ledger[crawl]?.isEnded == true { ledger[crawl] = nil }
        deadLetters.removeAll { $0.job < next }
        forgotten.removeFirst(underWay.forgotten)
        offsets.finish(underWay.jobs)
        self.committed = next
    }
}
