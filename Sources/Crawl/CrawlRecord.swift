/// What the workers know of a crawl after a step: the truth, the progress feed and the end signal.
///
/// The compacted topic `crawls` keeps the newest record of each crawl; all of them together are the ledger.
public struct CrawlRecord: Sendable, Hashable {
    public enum Status: String, Sendable, CaseIterable { case running, waiting, paused, ended }

    public var crawl: String
    /// The n-th execution of the crawl id, from 1.
    public var run: Int64
    /// Steps committed in the run; the job that goes on carries the same number.
    public var step: Int64
    public var source: String
    public var status: Status
    /// The page to fetch next; `nil` is the first of the source.
    public var cursor: PageCursor?
    /// Pages published in the run.
    public var pages: Int64
    /// Items published in the run.
    public var items: Int64
    /// What the upstream promised last, in items, if it ever did.
    public var totalItems: Int64?
    /// What the upstream promised last, in pages, if it ever did.
    public var totalPages: Int64?
    public var cost: Cost
    /// Attempts that failed, at all pages of the run.
    public var retries: Int64
    public var startedAt: Timestamp
    public var updatedAt: Timestamp
    /// The next request is not sent before this moment.
    public var notBefore: Timestamp?

    public var params: [String: String]
    /// The page cursor that the run began at; `nil` for the first page of the source.
    public var from: PageCursor?
    public var follow: Bool
    public var limits: Limits
    public var traceparent: String?

    public var end: End?
    /// Pages that are missing for good.
    public var holes: [PageCursor]
    /// Items that were too large for a record and went to the dead-letter topic.
    public var oversizedItems: Int64
    /// The upstream gave more or, in a run that ended as complete, fewer items than it promised.
    public var totalMismatch: Bool

    /// The newest job that this crawl took: a `start` at or before it, in offset and in time, was handled already.
    public var newestJob: JobPosition
    public var guards: Guards

    /// A run that begins.
    public init(
        crawl: String, run: Int64, source: String, startedAt: Timestamp, newestJob: JobPosition,
        from: PageCursor? = nil
    ) {
        self.crawl = crawl
        self.run = run
        self.step = 0
        self.source = source
        self.status = .running
        self.cursor = from
        self.pages = 0
        self.items = 0
        self.cost = Cost()
        self.retries = 0
        self.startedAt = startedAt
        self.updatedAt = startedAt
        self.params = [:]
        self.from = from
        self.follow = true
        self.limits = Limits()
        self.holes = []
        self.oversizedItems = 0
        self.totalMismatch = false
        self.newestJob = newestJob
        self.guards = Guards()
    }

    /// How and why the run ended.
    public struct End: Sendable, Hashable {
        public var verdict: Verdict
        public var reason: EndReason
        /// What went wrong, as a person would want to read it; `nil` for a good end.
        public var error: String?

        public init(_ verdict: Verdict, _ reason: EndReason, error: String? = nil) {
            self.verdict = verdict
            self.reason = reason
            self.error = error
        }
    }

    public var isEnded: Bool { status == .ended }
}

/// Where a job stands in its jobs partition.
public struct JobPosition: Sendable, Hashable {
    public var offset: Int64
    /// The record's timestamp: a recreated topic counts offsets from 0 again, but time goes on.
    public var timestamp: Timestamp

    public init(offset: Int64, timestamp: Timestamp) {
        self.offset = offset
        self.timestamp = timestamp
    }
}

/// What the stop rules remember from page to page.
public struct Guards: Sendable, Hashable {
    /// Hashes of the requests of this run, to see a loop.
    public var trail: RequestTrail
    /// Hash of the items of the page before; `nil` before the first page and after an empty one.
    public var previousItems: UInt64?
    /// Empty pages in a row.
    public var emptyPages: Int
    /// Pages in a row that are missing for good.
    public var holesInARow: Int
    /// Attempts at the page that is next.
    public var attempts: Int
    /// Waits that a throttling upstream asked for at the page that is next.
    public var throttles: Int

    public init(
        trail: RequestTrail = RequestTrail(), previousItems: UInt64? = nil, emptyPages: Int = 0,
        holesInARow: Int = 0, attempts: Int = 0, throttles: Int = 0
    ) {
        self.trail = trail
        self.previousItems = previousItems
        self.emptyPages = emptyPages
        self.holesInARow = holesInARow
        self.attempts = attempts
        self.throttles = throttles
    }
}
