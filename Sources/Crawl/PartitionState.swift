/// A jobs partition that the worker owns: its ledger, its offsets, and what is to be set aside.
struct PartitionState: Sendable {
    let owned: PartitionEpoch
    var ledger: [String: CrawlRecord]
    var offsets = OffsetTracker()
    private var newestTime = Timestamp(milliseconds: .min)
    /// Where the partition continues as far as it is committed: at first, where its delivery began.
    var committed: Int64?
    /// It is about to be given up: nothing new begins in it.
    var isDraining = false

    /// Dead letters with the jobs that are done with them. Nothing recognises such a job when it is delivered again, so
    /// a dead letter is committed together with an offset past its job, never before.
    /// In the order of the jobs.
    private(set) var deadLetters: [(letter: DeadLetter, job: Int64)] = []
    /// Bytes of what the dead letters hold.
    private(set) var deadLetterBytes = 0
    /// Ended runs to be forgotten.
    private(set) var forgotten: [ForgottenRun] = []
    /// What the transaction under way forgets, and the jobs that are done with it.
    private var underWay: (forgotten: [ForgottenRun], jobs: [Int64])?

    struct ForgottenRun: Sendable, Hashable {
        var crawl: String
        var run: Int64
        var step: Int64

        init(_ record: CrawlRecord) { (crawl, run, step) = (record.crawl, record.run, record.step) }
    }

    /// One transaction takes at most so many dead letters, and at most so many bytes of them, or one.
    private static let deadLettersAtOnce = (count: 1_000, bytes: 4 << 20)

    init(_ assigned: AssignedPartition) {
        owned = assigned.owned
        ledger = Dictionary(assigned.ledger.map { ($0.crawl, $0) }, uniquingKeysWith: { _, newer in newer })
    }

    /// Jobs are done that no transaction has said so.
    var hasProgress: Bool { offsets.next != committed }

    /// There is something to commit besides steps and offsets.
    var hasStaged: Bool {
        if !forgotten.isEmpty { return true }
        guard let first = deadLetters.first, let next = offsets.next(after: nextDeadLetters.map(\.job)) else {
            return false
        }
        return first.job < next
    }

    /// As many as one transaction may take.
    private var nextDeadLetters: ArraySlice<(letter: DeadLetter, job: Int64)> {
        var bytes = 0
        let fitting = deadLetters.prefix(Self.deadLettersAtOnce.count).prefix { entry in
            bytes += entry.letter.size
            return bytes <= Self.deadLettersAtOnce.bytes
        }
        return fitting.isEmpty ? deadLetters.prefix(1) : fitting
    }

    /// The job, unless it was delivered before in this ownership. Its time is made to grow with its offset: producers have
    /// clocks of their own, and what a crawl heard last is told by both.
    mutating func deliver(_ job: DeliveredJob) -> DeliveredJob? {
        let offset = job.position.offset
        committed = committed ?? offset
        guard offsets.deliver(offset) else { return nil }
        newestTime = max(newestTime, job.position.timestamp)
        var job = job
        job.position.timestamp = newestTime
        return job
    }

    mutating func setAside(_ letter: DeadLetter, job: Int64) {
        // A job that waited for the end of its crawl's last run is later than those behind it.
        let place = deadLetters.lastIndex { $0.job < job }.map { $0 + 1 } ?? 0
        deadLetters.insert((letter, job), at: place)
        deadLetterBytes += letter.size
    }

    /// Marks the records of runs that ended before a moment.
    mutating func forget(endedBefore limit: Timestamp) {
        guard forgotten.isEmpty, offsets.next != nil else { return }
        forgotten = ledger.values.filter { $0.isEnded && $0.updatedAt < limit }.map(ForgottenRun.init)
    }

    /// Adds what is staged here, and where the partition continues when `jobs` are done too.
    mutating func take(into transaction: inout Transaction, jobs: [Int64]) {
        let letters = nextDeadLetters
        guard let next = offsets.next(after: jobs + letters.map(\.job)) else { return }
        let ready = letters.prefix { $0.job < next }
        // A crawl may have begun its next run since it was marked.
        forgotten.removeAll { gone in ledger[gone.crawl].map { ForgottenRun($0) != gone || !$0.isEnded } ?? true }
        transaction.deadLetters += ready.map(\.letter)
        transaction.forgotten += forgotten.map { ForgottenCrawl(partition: owned.partition, crawl: $0.crawl) }
        transaction.offsets.append(PartitionOffset(owned: owned, next: next))
        underWay = (forgotten, jobs + ready.map(\.job))
    }

    mutating func settled(committed: Bool, next: Int64) {
        guard let underWay else { return }
        self.underWay = nil
        guard committed else { return }
        for gone in underWay.forgotten where ledger[gone.crawl].map(ForgottenRun.init) == gone {
            ledger[gone.crawl] = nil
        }
        forgotten.removeAll(where: underWay.forgotten.contains)
        let taken = deadLetters.prefix { $0.job < next }
        deadLetterBytes -= taken.reduce(0) { $0 + $1.letter.size }
        deadLetters.removeFirst(taken.count)
        offsets.finish(underWay.jobs)
        self.committed = next
    }
}
