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
    /// Partitions of the jobs topic, of all workers together.
    let partitionCount: Int
    var generator: SplitMix64

    var partitions: [Int32: PartitionState] = [:]
    var walks: [CrawlKey: Walk] = [:]
    /// Crawls that could fetch, by source.
    var lines: [String: SourceLine] = [:]
    /// The sources take turns: whose turn is next.
    var sourceTurn = 0
    let sourceNames: [String]
    var wakes = WakeQueue<CrawlKey>()
    /// Crawls with something staged, in the order in which it came.
    var staged = TurnQueue<CrawlKey>()
    var stagedKeys: Set<CrawlKey> = []
    /// Bytes of pages held ahead of what is committed.
    var heldBytes = 0

    var fetching = 0
    var serial: UInt64 = 0
    /// Fetches whose result nobody waits for any more.
    var abandoned: [FetchTicket] = []
    var underWay: TransactionUnderWay?
    /// After an abort, nothing is committed before this moment.
    var retryCommitAt: Timestamp?
    var abortsInARow = 0
    var lastCommitAt = Timestamp(milliseconds: 0)
    package private(set) var events: [WorkerEvent] = []

    /// A transaction and the crawls of its steps, in the order of the steps.
    struct TransactionUnderWay: Sendable {
        var transaction: Transaction
        var crawls: [CrawlKey]
    }

    package init(sources: [Source], limits: WorkerLimits, maxItemBytes: Int, partitionCount: Int, seed: UInt64) {
        self.sources = Dictionary(sources.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.limits = limits
        self.maxItemBytes = maxItemBytes
        self.partitionCount = partitionCount
        sourceNames = self.sources.keys.sorted()
        generator = SplitMix64(seed: seed)
        for source in self.sources.values { lines[source.name] = SourceLine(source) }
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
        var moments = [wakes.earliest]
        if fetching < limits.maxCrawlsInFlight { moments += lines.values.map { $0.opens(after: now) } }
        if underWay == nil {
            moments.append(retryCommitAt.flatMap { $0 > now ? $0 : nil })
            if partitions.values.contains(where: \.hasProgress) {
                moments.append(max(lastCommitAt + limits.commitInterval, now))
            }
        }
        return moments.compactMap { $0 }.min()
    }

    func isCurrent(_ owned: PartitionEpoch) -> Bool { partitions[owned.partition]?.owned == owned }

    // MARK: Walks

    /// Changes a crawl, and then puts it where it belongs: on the list of what is staged, into the line of its source if it
    /// could fetch, among those to wake.
    mutating func change(_ key: CrawlKey, inFront: Bool = false, now: Timestamp, _ body: (inout Walk) -> Void) {
        guard var walk = walks[key] else { return }
        let held = walk.heldBytes
        body(&walk)
        heldBytes += walk.heldBytes - held
        abandoned += walk.takeAbandoned()
        if !walk.staged.isEmpty, stagedKeys.insert(key).inserted { staged.append(key) }
        if partitions[key.partition]?.isDraining == false {
            enterLine(&walk, inFront: inFront, now: now)
            if let wake = walk.nextWake(limits, now: now), walk.wakeAt.map({ wake < $0 }) ?? true {
                walk.wakeAt = wake
                wakes.insert(key, at: wake)
            }
        }
        walks[key] = walk
    }

    private mutating func enterLine(_ walk: inout Walk, inFront: Bool, now: Timestamp) {
        guard !walk.isInLine, walk.mayFetch(limits, now: now) else { return }
        walk.isInLine = true
        if inFront {
            lines[walk.record.source]?.crawls.putInFront(walk.key)
        } else {
            lines[walk.record.source]?.crawls.append(walk.key)
        }
    }

    mutating func remove(_ key: CrawlKey) {
        guard var walk = walks.removeValue(forKey: key) else { return }
        heldBytes -= walk.heldBytes
        stagedKeys.remove(key)
        walk.giveUpFetch()
        abandoned += walk.takeAbandoned()
    }
}
