/// All that a worker knows and decides, as a value: events go in, orders come out, and nothing here waits, reads a
/// clock or does I/O. `Worker` performs what this decides; the simulation runs it through schedules of its own.
///
/// The life of a job (each line is a method, in the file that is named):
/// ```
/// deliver          +Admission   job ─► stale · dead letter · absorbed by its crawl · a crawl in line
/// nextFetches      +Fetching    line ─► one page of one crawl at a time, many crawls side by side
/// fetched          +Fetching    page ─► stop rules ─► staged batches and the record as it will be
/// takeTransaction  +Committing  all that is staged ─► one transaction
/// settle           +Committing  committed: ledger, offsets · aborted: staged again, no new request
/// ```
package struct WorkerState: Sendable {
    let sources: [String: Source]
    let limits: WorkerLimits
    /// An item larger than this does not fit into a record.
    let maxItemBytes: Int
    var generator: SplitMix64

    var partitions: [Int32: OwnedPartition] = [:]
    var walks: [CrawlKey: Walk] = [:]
    /// Crawls that could fetch, by source.
    var lines: [String: SourceLine] = [:]
    /// The sources take turns: whose turn is next.
    var sourceTurn = 0
    let sourceNames: [String]
    var wakes = WakeQueue<CrawlKey>()
    /// Crawls with something staged, in the order in which it came.
    var staged = Line<CrawlKey>()
    var stagedKeys: Set<CrawlKey> = []
    /// Bytes of pages held ahead of what is committed.
    var heldBytes = 0

    var fetching = 0
    var serial: UInt64 = 0
    /// Fetches whose result nobody waits for any more.
    var abandoned: [FetchTicket] = []
    var transactionUnderWay: Transaction?
    var stepsUnderWay: [CrawlKey] = []
    /// After an abort, nothing is committed before this moment.
    var retryCommitAt: Timestamp?
    var abortsInARow = 0
    var lastCommitAt = Timestamp(milliseconds: 0)
    package private(set) var events: [WorkerEvent] = []

    package init(sources: [Source], limits: WorkerLimits, maxItemBytes: Int, seed: UInt64) {
        self.sources = Dictionary(sources.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.limits = limits
        self.maxItemBytes = maxItemBytes
        sourceNames = self.sources.keys.sorted()
        generator = SplitMix64(seed: seed)
        for source in sources { lines[source.name] = SourceLine(capacity: source.maxInFlight) }
    }

    /// Crawls of one source that could fetch, and how many do.
    struct SourceLine: Sendable {
        let capacity: Int
        var inFlight = 0
        var keys = Line<CrawlKey>()
    }

    mutating func tell(_ event: WorkerEvent) { events.append(event) }

    package mutating func takeEvents() -> [WorkerEvent] {
        defer { events.removeAll(keepingCapacity: true) }
        return events
    }

    /// Fetches whose result nobody waits for any more, since the last call.
    package mutating func takeAbandoned() -> [FetchTicket] {
        defer { abandoned.removeAll(keepingCapacity: true) }
        return abandoned
    }

    /// No further jobs should be delivered for now.
    package var isFull: Bool {
        walks.count >= limits.maxCrawlsHeld
            || partitions.values.contains {
                $0.deadLetters.count >= 10_000 || $0.deadLetterBytes >= limits.stagedBytes / 4
            }
    }

    /// The next moment at which something is to be done although nothing comes; `nil` if there is none.
    package func nextWake(after now: Timestamp) -> Timestamp? {
        var wake = wakes.earliest
        if transactionUnderWay == nil {
            if let retryCommitAt, retryCommitAt > now { wake = min(wake ?? retryCommitAt, retryCommitAt) }
            if partitions.values.contains(where: \.hasProgress) {
                let due = max(lastCommitAt + limits.commitInterval, now)
                wake = min(wake ?? due, due)
            }
        }
        return wake
    }

    // MARK: Walks

    func isCurrent(_ owned: PartitionEpoch) -> Bool { partitions[owned.partition]?.owned == owned }

    /// The crawl has something to commit.
    mutating func markStaged(_ key: CrawlKey) {
        if stagedKeys.insert(key).inserted { staged.append(key) }
    }

    /// Puts the crawl where it belongs now: into the line if it could fetch, and on the list of those to wake.
    mutating func place(_ key: CrawlKey, inFront: Bool = false, now: Timestamp) {
        guard var walk = walks[key], partitions[key.partition]?.isDraining == false else { return }
        if !walk.isInLine, walk.mayFetch(limits, now: now) {
            walk.isInLine = true
            if inFront {
                lines[walk.source.name]?.keys.putInFront(key)
            } else {
                lines[walk.source.name]?.keys.append(key)
            }
        }
        if let wake = walk.nextWake(limits, now: now), walk.wakeAt.map({ wake < $0 }) ?? true {
            walk.wakeAt = wake
            wakes.insert(key, at: wake)
        }
        walks[key] = walk
    }

    /// Ends the run; the fetch under way is of no use any more.
    mutating func end(_ key: CrawlKey, _ end: CrawlRecord.End, now: Timestamp) {
        guard var walk = walks[key] else { return }
        walk.record.finish(end, at: now)
        walk.stageRecord()
        if let ticket = walk.ticket { abandoned.append(ticket) }
        walk.ticket = nil
        walks[key] = walk
        markStaged(key)
    }

    mutating func remove(_ key: CrawlKey) {
        guard let walk = walks.removeValue(forKey: key) else { return }
        heldBytes -= walk.heldBytes
        stagedKeys.remove(key)
        if let ticket = walk.ticket { abandoned.append(ticket) }
    }
}
