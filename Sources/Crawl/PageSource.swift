/// Fetches pages of one crawl from an upstream.
///
/// A source reports what it saw: the items and the signals. Whether the crawl goes on, waits, fails or is complete
/// is decided by the stop rules, not by the source. To implement one:
/// - answer the page that `request.cursor` names; `nil` is the first page of the source;
/// - make one attempt and throw a `SourceError` if it fails: retries, back-off and waiting are the worker's;
/// - stop early when the task is cancelled (throw any `SourceError`; its result is no longer looked at);
/// - keep no state that a page depends on: the same request may be sent again after a crash, by another process.
public protocol PageSource: Sendable {
    /// Fetches one page. Throws only `SourceError`; never retries by itself.
    func fetch(_ request: PageRequest) async throws(SourceError) -> Page
}

/// What to fetch.
public struct PageRequest: Sendable, Hashable {
    /// The crawl that asks; for log lines and messages.
    public var crawl: String
    /// The number that the page has in this run if it is published, from 1; empty pages are not.
    public var page: Int64
    /// Where the page is; `nil` for the first page of the source.
    public var cursor: PageCursor?
    /// How many items the source asks the upstream for, if it says so.
    public var pageSize: Int?
    /// W3C Trace Context of the job that began the crawl, to be sent on.
    public var traceparent: String?

    public init(
        crawl: String, page: Int64, cursor: PageCursor?, pageSize: Int? = nil, traceparent: String? = nil
    ) {
        self.crawl = crawl
        self.page = page
        self.cursor = cursor
        self.pageSize = pageSize
        self.traceparent = traceparent
    }
}

/// One page as the upstream gave it.
public struct Page: Sendable {
    /// The items, byte for byte.
    public var items: Items
    /// What the upstream said about the rest.
    public var signals: Signals
    /// The status of the response; 200 where there is no such thing.
    public var status: Int
    /// The URL that answered, after redirects, without secrets; "" where there is none.
    public var url: String
    /// When the response was complete.
    public var fetchedAt: Timestamp
    /// What it cost.
    public var cost: Cost

    public init(
        items: Items, signals: Signals = Signals(), status: Int = 200, url: String = "",
        fetchedAt: Timestamp = Timestamp(milliseconds: 0), cost: Cost = Cost(requests: 1, bytes: 0)
    ) {
        self.items = items
        self.signals = signals
        self.status = status
        self.url = url
        self.fetchedAt = fetchedAt
        self.cost = cost
    }
}

/// The items of a page: slices of the bytes they came in.
public struct Items: Sendable {
    /// The bytes that the ranges point into, for example a response body.
    public let bytes: [UInt8]
    /// Where each item is, in the order of the upstream. Each slice is one well-formed JSON value in UTF-8.
    public let ranges: [Range<Int>]

    public init(bytes: [UInt8], ranges: [Range<Int>]) {
        self.bytes = bytes
        self.ranges = ranges
    }

    /// Items given one by one as JSON text.
    public init(_ items: [String]) {
        var bytes: [UInt8] = []
        var ranges: [Range<Int>] = []
        for item in items {
            let start = bytes.count
            bytes.append(contentsOf: item.utf8)
            ranges.append(start..<bytes.count)
        }
        self.init(bytes: bytes, ranges: ranges)
    }

    public var count: Int { ranges.count }
    public var isEmpty: Bool { ranges.isEmpty }
    public subscript(index: Int) -> ArraySlice<UInt8> { bytes[ranges[index]] }
}

/// What an upstream said about the pages that follow. A signal that the source does not look for stays `nil`.
public struct Signals: Sendable, Hashable {
    public var total: Total?
    public var hasMore: Bool?
    /// Where the next page is; `nil` if the upstream names none (absent, null, or "").
    public var next: PageCursor?
    /// A signal that is there but cannot be what it should be, in words: "total is "about 120", not a number".
    public var unreadable: String?

    public init(
        total: Total? = nil, hasMore: Bool? = nil, next: PageCursor? = nil, unreadable: String? = nil
    ) {
        self.total = total
        self.hasMore = hasMore
        self.next = next
        self.unreadable = unreadable
    }

    /// How much the upstream promises.
    public enum Total: Sendable, Hashable {
        case items(Int64)
        case pages(Int64)
    }
}

/// What fetching cost.
public struct Cost: Sendable, Hashable {
    /// Requests sent, redirects included.
    public var requests: Int64
    /// Bytes of response bodies as received on the wire, before decompression.
    public var bytes: Int64

    public init(requests: Int64 = 0, bytes: Int64 = 0) {
        self.requests = requests
        self.bytes = bytes
    }

    public static func + (left: Cost, right: Cost) -> Cost {
        Cost(requests: left.requests + right.requests, bytes: left.bytes + right.bytes)
    }
}
