/// A crawl in memory: its record as it will be, and what is staged for the next step.
struct Walk: Sendable {
    let owned: PartitionEpoch
    /// `nil` if this worker could not open the source; then the run ends as failed.
    let opened: OpenedSource?
    /// The crawl with all that is staged; its `step` is the last committed one.
    var record: CrawlRecord

    /// Offsets of jobs that are done with the next step.
    private(set) var jobs: [Int64] = []
    /// Since when the oldest of `jobs` is held.
    private(set) var heldSince: Timestamp?
    private(set) var staged = Staged()
    /// What the transaction under way holds of this crawl.
    private(set) var underWay: (staged: Staged, jobs: [Int64], heldSince: Timestamp?)?

    /// The fetch under way.
    private(set) var ticket: FetchTicket?
    private var abandoned: [FetchTicket] = []
    /// Pages since the crawl came to the front of the line.
    var turn = 0
    var isInLine = false
    /// When the crawl is looked at next.
    var wakeAt: Timestamp?
    /// Jobs that came between the end of the run and its commit.
    var followers: [DeliveredJob] = []

    /// What waits to be committed besides the record.
    struct Staged: Sendable {
        var batches: [ResultBatch] = []
        var deadLetters: [DeadLetter] = []
        var bytes = 0
        /// The record is to be committed although no page is staged.
        var recordAlone = false

        var isEmpty: Bool { batches.isEmpty && deadLetters.isEmpty && !recordAlone }
    }

    init(_ record: CrawlRecord, owned: PartitionEpoch, opened: OpenedSource?) {
        self.record = record
        self.owned = owned
        self.opened = opened
    }

    var key: CrawlKey { CrawlKey(partition: owned.partition, crawl: record.crawl) }

    /// Nothing more happens to this crawl until another job comes: it has ended, is paused, or is a link of the plain chain
    /// whose next job is on its way. The ledger and that job say all that is to be known.
    func isAtRest(_ limits: WorkerLimits) -> Bool {
        guard staged.isEmpty, underWay == nil else { return false }
        if record.isEnded || record.status == .paused { return true }
        return limits.runAheadPages == 0 && jobs.isEmpty && ticket == nil
    }

    /// Bytes of pages held ahead of what is committed.
    var heldBytes: Int { staged.bytes + (underWay?.staged.bytes ?? 0) }

    func mayFetch(_ limits: WorkerLimits, now: Timestamp) -> Bool {
        guard opened != nil, ticket == nil, !record.isEnded, record.status != .paused else { return false }
        if let notBefore = record.notBefore, now < notBefore { return false }
        if limits.runAheadPages == 0 { return staged.isEmpty && underWay == nil && !jobs.isEmpty }
        let pages = staged.batches.count + (underWay?.staged.batches.count ?? 0)
        return pages < limits.runAheadPages && heldBytes < limits.runAheadBytes
    }

    func isExpired(_ now: Timestamp) -> Bool {
        !record.isEnded && record.limits.deadline.map { $0 <= now } == true
    }

    /// When to look at the crawl although nothing came: its wait is over, its job has been held for long, or its
    /// deadline has come.
    func nextWake(_ limits: WorkerLimits, now: Timestamp) -> Timestamp? {
        if record.isEnded { return nil }
        let waits = record.notBefore.flatMap { $0 > now ? $0 : nil }
        let parks = staged.isEmpty && underWay == nil ? heldSince.map { $0 + limits.parkAfter } : nil
        let wake = [waits, parks, record.limits.deadline].compactMap { $0 }.min()
        return wake.map { max($0, now + .milliseconds(1)) }
    }

    // MARK: Fetching

    mutating func startFetch(_ ticket: FetchTicket) { self.ticket = ticket }

    mutating func endFetch() { ticket = nil }

    /// Nobody waits for the result any more.
    mutating func giveUpFetch() {
        if let ticket { abandoned.append(ticket) }
        ticket = nil
    }

    /// The fetches that were given up since the last call.
    mutating func takeAbandoned() -> [FetchTicket] {
        defer { abandoned = [] }
        return abandoned
    }

    // MARK: Staging

    /// Ends the run; the fetch under way is of no use any more.
    mutating func end(_ end: CrawlRecord.End, now: Timestamp) {
        record.finish(end, at: now)
        stageRecord()
        giveUpFetch()
    }

    /// The job is done with the next step.
    mutating func absorb(_ job: DeliveredJob, now: Timestamp) {
        jobs.append(job.position.offset)
        heldSince = heldSince ?? now
    }

    mutating func stage(_ batch: ResultBatch?, deadLetters: [DeadLetter] = []) {
        staged.deadLetters += deadLetters
        guard let batch else { return }
        staged.batches.append(batch)
        staged.bytes += batch.page.items.bytes.count
    }

    mutating func stageRecord() { staged.recordAlone = true }

    // MARK: Steps

    /// Takes all that is staged as one step.
    mutating func takeStep() -> (step: Step, jobs: [Int64], deadLetters: [DeadLetter]) {
        var next = record
        next.step += 1
        var deadLetters = staged.deadLetters
        if next.end?.verdict == .failed { deadLetters.append(failure(next)) }
        let goesOn = !next.isEnded && next.status != .paused
        let step = Step(
            partition: owned.partition, batches: staged.batches, record: next, next: goesOn ? next.continuation : nil)
        let taken = jobs
        underWay = (staged, jobs, heldSince)
        (staged, jobs, heldSince) = (Staged(), [], nil)
        return (step, taken, deadLetters)
    }

    /// The job that goes on from the failed page, for people to send again.
    private func failure(_ record: CrawlRecord) -> DeadLetter {
        DeadLetter(
            kind: .crawlFailed, reason: record.end?.error ?? record.end?.reason.rawValue ?? "",
            content: .job(record.continuation), partition: owned.partition, position: record.newestJob,
            attempts: max(1, record.guards.attempts))
    }

    /// The step under way is committed.
    mutating func committed() {
        underWay = nil
        record.step += 1
    }

    /// The step under way came to nothing: it is staged again, before what was staged since.
    mutating func aborted() {
        guard let earlier = underWay else { return }
        underWay = nil
        staged.batches = earlier.staged.batches + staged.batches
        staged.deadLetters = earlier.staged.deadLetters + staged.deadLetters
        staged.bytes += earlier.staged.bytes
        staged.recordAlone = staged.recordAlone || earlier.staged.recordAlone
        jobs = earlier.jobs + jobs
        heldSince = earlier.heldSince ?? heldSince
    }
}

/// A source that was opened with a crawl's params.
struct OpenedSource: Sendable {
    let source: Source
    let pages: any PageSource
}

/// A crawl in its partition. The same id in two partitions, triggered by two partitioners, is two crawls.
package struct CrawlKey: Sendable, Hashable {
    package var partition: Int32
    package var crawl: String
}

/// Names one fetch.
package struct FetchTicket: Sendable, Hashable {
    package var key: CrawlKey
    package var serial: UInt64
}

/// A page to fetch now.
package struct FetchOrder: Sendable {
    package var ticket: FetchTicket
    package var source: String
    package var pages: any PageSource
    package var request: PageRequest
}
