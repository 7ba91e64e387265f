/// A named upstream: how it pages, how patient to be with it, and how to open it for one crawl.
public struct Source: Sendable {
    public var name: String
    public var pagination: Pagination
    public var retry: RetryPolicy
    public var output: Output
    /// At most so many requests of one worker to this source at once.
    public var maxInFlight: Int
    /// At most so many requests a second of the whole deployment: a worker has the share of the jobs partitions that it
    /// owns. `nil` for no limit.
    public var requestsPerSecond: Double?
    /// Opens the source for one crawl with the job's params. Throws `UnusableParams` if one is missing or unknown.
    public var open: @Sendable (_ params: [String: String]) throws(UnusableParams) -> any PageSource

    public init(
        _ name: String, pagination: Pagination, retry: RetryPolicy = RetryPolicy(), output: Output = .page,
        maxInFlight: Int = 64, requestsPerSecond: Double? = nil,
        open: @escaping @Sendable (_ params: [String: String]) throws(UnusableParams) -> any PageSource
    ) {
        self.name = name
        self.pagination = pagination
        self.retry = retry
        self.output = output
        self.maxInFlight = maxInFlight
        self.requestsPerSecond = requestsPerSecond
        self.open = open
    }
}

/// A job names params that its source cannot be opened with.
public struct UnusableParams: Error, Sendable, Hashable {
    /// Names the param and the nearest valid name.
    public var reason: String

    public init(_ reason: String) { self.reason = reason }
}

/// How the results of a source are written.
public enum Output: Sendable, Hashable {
    /// One record a page: an envelope with all its items.
    case page
    /// One record an item: value = item bytes, key = what `key` (a JSON Pointer, RFC 6901) finds in the item, or
    /// the crawl id without one; the envelope is in the headers.
    case item(key: String?)
}

/// How a source pages: what the stop rules need to know of it.
public struct Pagination: Sendable, Hashable {
    public enum Strategy: Sendable, Hashable {
        /// Pages are addressed by number, counted from `first`.
        case pageNumber(first: Int64)
        /// Pages are addressed by how many items come before them, counted from `first`.
        case offset(first: Int64)
        /// The upstream hands out a token for the next page.
        case cursor
        /// The upstream hands out the address of the next page.
        case link
        /// There is one page.
        case singlePage
    }

    public var strategy: Strategy
    /// How many items the upstream is asked for on a page, if it is asked at all.
    public var pageSize: Int?
    /// End a cursor or link crawl when the total is reached. Page-number and offset crawls always do.
    public var stopOnTotal: Bool
    /// A page with fewer items than asked for is the last one. Only for upstreams that always fill their pages.
    public var stopAfterShortPage: Bool
    /// Statuses that mean "past the end" after page 1.
    public var stopOnStatus: Set<Int>
    /// How many pages in a row may be empty while the upstream still names a next one.
    public var maxEmptyPages: Int
    /// How many pages in a row may be missing for good before the crawl fails.
    public var maxHoles: Int

    public init(
        _ strategy: Strategy, pageSize: Int? = nil, stopOnTotal: Bool = false,
        stopAfterShortPage: Bool = false, stopOnStatus: Set<Int> = [], maxEmptyPages: Int = 16, maxHoles: Int = 3
    ) {
        self.strategy = strategy
        self.pageSize = pageSize
        self.stopOnTotal = stopOnTotal
        self.stopAfterShortPage = stopAfterShortPage
        self.stopOnStatus = stopOnStatus
        self.maxEmptyPages = maxEmptyPages
        self.maxHoles = maxHoles
    }
}

/// How often and how long to try a page again.
public struct RetryPolicy: Sendable, Hashable {
    /// Attempts at one page before it failed for good, when the upstream is unavailable or malformed. Defaults to 8.
    public var attempts: Int
    /// The first back-off is drawn from 0 up to this. Defaults to 500 ms.
    public var baseDelay: Duration
    /// No back-off is longer. Defaults to 5 minutes.
    public var maxDelay: Duration
    /// No wait that an upstream asks for is longer. Defaults to 24 hours.
    public var maxWait: Duration
    /// Waits at one page that a throttling upstream may ask for before the page failed for good. Defaults to 100.
    public var throttleBudget: Int

    public init(
        attempts: Int = 8, baseDelay: Duration = .milliseconds(500), maxDelay: Duration = .seconds(300),
        maxWait: Duration = .seconds(86_400), throttleBudget: Int = 100
    ) {
        self.attempts = attempts
        self.baseDelay = baseDelay
        self.maxDelay = maxDelay
        self.maxWait = maxWait
        self.throttleBudget = throttleBudget
    }
}
