import Crawl

/// What a scripted upstream has, and how it answers. Pages are counted from 1.
public struct Script: Sendable {
    /// What comes for a page number or an offset behind the last page.
    public enum PastTheEnd: Sendable, Hashable {
        case emptyPage
        /// The last page again, as an upstream does that clamps the page number.
        case lastPageAgain
        /// The first page again, as an upstream does that ignores what it cannot read.
        case firstPageAgain
        case error(SourceError)
    }

    /// An answer that is no page.
    public struct Fault: Sendable, Hashable {
        public var error: SourceError
        /// The page is answered after so many failures; `.max` is never.
        public var times: Int

        public init(_ error: SourceError, times: Int = 1) {
            self.error = error
            self.times = times
        }

        /// An error that says only its class.
        public static func error(
            _ kind: SourceError.Class, times: Int = 1, status: Int? = nil, retryAfter: Duration? = nil
        ) -> Fault {
            Fault(SourceError(kind, "scripted: \(kind)", status: status, retryAfter: retryAfter), times: times)
        }
    }

    public var pagination: Pagination
    /// The items of each page as JSON text.
    public var pages: [[String]]
    /// Said on every page, true or not.
    public var total: Signals.Total?
    /// Says on every page whether another follows.
    public var saysHasMore = false
    /// Pages that name another page than the one behind them as the next; that makes loops.
    public var jumps: [Int: Int] = [:]
    /// Signals that a page gives instead of its own.
    public var signals: [Int: Signals] = [:]
    /// What comes before a page is answered, in order.
    public var faults: [Int: [Fault]] = [:]
    public var pastTheEnd = PastTheEnd.emptyPage
    /// The params that the source knows; others make a job unusable. `nil` takes any.
    public var params: Set<String>?

    public init(_ pagination: Pagination, pages: [[String]]) {
        self.pagination = pagination
        self.pages = pages
    }

    /// Pages of the same size, with items that all differ.
    public init(_ strategy: Pagination.Strategy, pages count: Int, itemsPerPage: Int) {
        let pages = (0..<count).map { page in
            (0..<itemsPerPage).map { "{\"page\":\(page + 1),\"id\":\(page * itemsPerPage + $0)}" }
        }
        self.init(Pagination(strategy, pageSize: itemsPerPage), pages: pages)
    }
}

// MARK: Addresses

extension Script {
    /// What stands for a page in this script. The first page has an address, too.
    public func address(of page: Int) -> PageCursor {
        switch pagination.strategy {
        case .pageNumber(let first): .page(first + Int64(page - 1))
        case .offset(let first): .offset(first + itemsBefore(page))
        case .cursor: .token(RawJSON("\"after-\(page - 1)\""))
        case .link, .singlePage: .url("https://upstream.invalid/pages/\(page)")
        }
    }

    private func itemsBefore(_ page: Int) -> Int64 {
        let whole = pages.prefix(page - 1).reduce(0) { $0 + $1.count }
        // Behind the end, offsets go on by the page size.
        return Int64(whole + max(0, page - 1 - pages.count) * (pagination.pageSize ?? 1))
    }

    /// The page that a cursor addresses; `nil` if it addresses none. It may be behind the last.
    func page(at cursor: PageCursor?) -> Int? {
        switch (pagination.strategy, cursor) {
        case (_, nil): return 1
        case (.pageNumber(let first), .page(let number)): return number >= first ? Int(number - first) + 1 : nil
        case (.offset(let first), .offset(let offset)):
            let all = pages.reduce(0) { $0 + $1.count }
            if offset - first >= all { return pages.count + 1 }
            return (1...max(1, pages.count)).first { first + itemsBefore($0) == offset && !pages[$0 - 1].isEmpty }
        default: return (1...max(1, pages.count)).first { address(of: $0) == cursor }
        }
    }

    /// What the page is, without faults.
    func content(of page: Int) -> Result<Page, SourceError> {
        if page <= pages.count {
            return .success(given(pages[page - 1], as: page))
        }
        switch pages.isEmpty ? .emptyPage : pastTheEnd {
        case .emptyPage: return .success(given([], as: page))
        case .lastPageAgain: return content(of: pages.count)
        case .firstPageAgain: return content(of: 1)
        case .error(let error): return .failure(error)
        }
    }

    private func given(_ items: [String], as page: Int) -> Page {
        let url = if case .url(let url) = address(of: page) { url } else { "" }
        return Page(items: Items(items), signals: signals[page] ?? ownSignals(of: page), url: url)
    }

    private func ownSignals(of page: Int) -> Signals {
        Signals(total: total, hasMore: saysHasMore ? page < pages.count : nil, next: next(after: page))
    }

    private func next(after page: Int) -> PageCursor? {
        switch pagination.strategy {
        case .pageNumber, .offset, .singlePage: return nil
        case .cursor, .link:
            if let jump = jumps[page] { return address(of: jump) }
            return page < pages.count ? address(of: page + 1) : nil
        }
    }
}
