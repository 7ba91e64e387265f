/// A message on the jobs topic: what to do with which crawl.
public struct Job: Sendable, Hashable {
    /// The crawl id. Never empty.
    public var crawl: String
    public var action: Action
    /// The source to crawl. Needed by `start` and `next`; other actions find it in the ledger.
    public var source: String?
    /// Values for the `{{name}}` places of the source.
    public var params: [String: String]
    /// A page cursor to begin at instead of the first page.
    public var from: PageCursor?
    /// Go on to the next page by itself. False: this page only; the next start goes on from where it stopped.
    public var follow: Bool
    public var limits: Limits
    /// W3C Trace Context, from the record's headers.
    public var traceparent: String?

    public enum Action: Sendable, Hashable {
        case start, cancel, pause, resume, restart
        /// The worker's own: go on with the crawl from here.
        case next(Continuation)
    }

    public init(
        crawl: String, action: Action = .start, source: String? = nil, params: [String: String] = [:],
        from: PageCursor? = nil, follow: Bool = true, limits: Limits = Limits(), traceparent: String? = nil
    ) {
        self.crawl = crawl
        self.action = action
        self.source = source
        self.params = params
        self.from = from
        self.follow = follow
        self.limits = limits
        self.traceparent = traceparent
    }
}

/// When to end a crawl although more may be there.
public struct Limits: Sendable, Hashable {
    /// At most so many pages in the run; `nil` for no limit.
    public var maxPages: Int64?
    /// End after the page that reaches so many items; `nil` for no limit.
    public var maxItems: Int64?
    /// The run expires at this moment; `nil` for never.
    public var deadline: Timestamp?

    public init(maxPages: Int64? = nil, maxItems: Int64? = nil, deadline: Timestamp? = nil) {
        self.maxPages = maxPages
        self.maxItems = maxItems
        self.deadline = deadline
    }
}

/// Where a crawl stands, in the job that goes on with it: enough to go on even if the ledger is lost.
public struct Continuation: Sendable, Hashable {
    /// The n-th execution of the crawl id, from 1.
    public var run: Int64
    /// The step that this job follows; a job whose (run, step) is not the ledger's is stale.
    public var step: Int64
    /// The page to fetch next; `nil` is the first of the source.
    public var cursor: PageCursor?
    /// Pages published so far in the run.
    public var pages: Int64
    /// Items published so far in the run.
    public var items: Int64

    public init(run: Int64, step: Int64, cursor: PageCursor?, pages: Int64, items: Int64) {
        self.run = run
        self.step = step
        self.cursor = cursor
        self.pages = pages
        self.items = items
    }
}
