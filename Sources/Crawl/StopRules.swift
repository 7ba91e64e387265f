/// What follows a page.
public struct PageDecision: Sendable, Hashable {
    /// False if the page is empty, repeats one that was published, or cannot be trusted: a crawl that failed at a page
    /// is resumed by fetching that page again.
    public var publish: Bool
    /// The page to fetch next, also where a limit keeps it from being fetched; `nil` if there is none.
    public var next: PageCursor?
    /// How the run ends with this page; `nil` if it goes on.
    public var end: CrawlRecord.End?
}

/// The rules that end a crawl. The first that applies decides:
///
/// | rule | when | how the run ends |
/// |---|---|---|
/// | `contradiction` | has_more is true without a cursor, a signal cannot be read | failed, `inconsistent_signal` |
/// | `hasMoreFalse` | has_more is false, also when a cursor is there | complete, `has_more_false` |
/// | `loop` | the next request equals an earlier one of the run | failed, `cursor_loop`; with an empty page complete, `no_new_items` |
/// | `repeatedPage` | the same items as on the page before, by number or offset | complete, `clamped_end`; by offset failed, `cursor_loop` |
/// | `totalReached` | the promised total is reached; in a cursor crawl only if asked for | complete, `total_reached` |
/// | `emptyPage` | no items; a server that names a next page is believed for a while | complete, `empty_page`; then truncated, `limit_hit` |
/// | `noNextPage` | no next cursor: absent, null or "" | complete, `no_next_cursor` |
/// | `shortPage` | fewer items than asked for, only if asked for | complete, `short_page` |
/// | `limit` | max_pages or max_items reached, and more was possible | truncated, `limit_hit` |
///
/// Errors of the upstream come before all of them, in `FailureRules`. Pure: the same page of the same record decides the
/// same.
public struct StopRules: Sendable {
    let pagination: Pagination
    /// The crawl before this page.
    let record: CrawlRecord
    let page: Page

    /// - Parameters:
    ///   - page: what came for `record.cursor`.
    ///   - record: the crawl before this page.
    public static func judge(_ page: Page, of record: CrawlRecord, by pagination: Pagination) -> PageDecision {
        StopRules(pagination: pagination, record: record, page: page).decision()
    }

    private func decision() -> PageDecision {
        let next = nextCursor()
        let isWorthIt = !page.items.isEmpty
        guard let end = ending(next: next) else { return PageDecision(publish: isWorthIt, next: next, end: nil) }
        if end.verdict == .failed { return PageDecision(publish: false, next: record.cursor, end: end) }
        return PageDecision(publish: isWorthIt && end.reason != .clampedEnd, next: next, end: end)
    }

    private func ending(next: PageCursor?) -> CrawlRecord.End? {
        if let end = contradiction() ?? hasMoreFalse() ?? loop() ?? repeatedPage() { return end }
        if let end = totalReached() ?? emptyPage() ?? noNextPage() ?? shortPage() ?? limit() { return end }
        if next != nil { return nil }
        return .init(.failed, .inconsistentSignal, error: "the source names no next page, and no rule ended the crawl")
    }

    /// True where the upstream, not a counter, says what comes next.
    private var followsUpstream: Bool { pagination.strategy == .cursor || pagination.strategy == .link }

    /// Items received in the run with this page.
    private var itemsReceived: Int64 { record.items + record.oversizedItems + Int64(page.items.count) }

    /// The page that would follow. Offset moves by the items received, not by those asked for (khive #894).
    private func nextCursor() -> PageCursor? {
        switch (pagination.strategy, record.cursor) {
        case (.pageNumber, .page(let number)): .page(number + 1)
        case (.pageNumber(let first), _): .page(first + 1)
        case (.offset, .offset(let offset)): .offset(offset + Int64(page.items.count))
        case (.offset(let first), _): .offset(first + Int64(page.items.count))
        case (.cursor, _), (.link, _): page.signals.next
        case (.singlePage, _): nil
        }
    }

    // MARK: Rules

    private func contradiction() -> CrawlRecord.End? {
        if let unreadable = page.signals.unreadable { return .init(.failed, .inconsistentSignal, error: unreadable) }
        guard page.signals.hasMore == true else { return nil }
        if followsUpstream, page.signals.next == nil {
            return .init(.failed, .inconsistentSignal, error: "has_more is true, but there is no next cursor")
        }
        if case .offset = pagination.strategy, page.items.isEmpty {
            return .init(.failed, .inconsistentSignal, error: "has_more is true, but the page is empty")
        }
        return nil
    }

    private func hasMoreFalse() -> CrawlRecord.End? {
        page.signals.hasMore == false ? .init(.complete, .hasMoreFalse) : nil
    }

    private func loop() -> CrawlRecord.End? {
        guard followsUpstream, let next = page.signals.next else { return nil }
        if next == record.cursor, page.items.isEmpty { return .init(.complete, .noNewItems) }
        let seen = record.guards.trail
        let itself = next == record.cursor || pagination.strategy == .link && next == .url(page.url)
        guard itself || seen.contains(Fingerprint.of(next)) else { return nil }
        let which = itself ? "the page itself" : "a page that this run has fetched before"
        return .init(.failed, .cursorLoop, error: "the next page that the upstream names is \(which): \(next.summary)")
    }

    /// An upstream that ignores the offset gives the same page for ever (dlt-hub/dlt #2816, faucet-stream #78).
    private func repeatedPage() -> CrawlRecord.End? {
        guard let items = Fingerprint.of(page.items), items == record.guards.previousItems else { return nil }
        switch pagination.strategy {
        case .pageNumber: return .init(.complete, .clampedEnd)
        case .offset:
            return .init(.failed, .cursorLoop, error: "the upstream gave the page before again: it ignores the offset")
        case .cursor, .link, .singlePage: return nil
        }
    }

    private func totalReached() -> CrawlRecord.End? {
        if followsUpstream, !pagination.stopOnTotal { return nil }
        let totals = record.totals(after: page)
        if let items = totals.items, itemsBefore + Int64(page.items.count) >= items {
            return .init(.complete, .totalReached)
        }
        if let pages = totals.pages, pagesBefore + 1 >= pages { return .init(.complete, .totalReached) }
        return nil
    }

    /// Items of the source before this page: by address where the address counts items, else as received.
    private var itemsBefore: Int64 {
        switch (pagination.strategy, record.cursor) {
        case (.offset(let first), .offset(let offset)): offset - first
        case (.pageNumber(let first), _):
            // A server that gives less than it is asked for has skipped less, too.
            record.items + record.oversizedItems
                + skippedPages(from: first) * Int64(min(pagination.pageSize ?? 0, page.items.count))
        default: record.items + record.oversizedItems
        }
    }

    private var pagesBefore: Int64 {
        guard case .pageNumber(let first) = pagination.strategy, case .page(let number) = record.cursor else {
            return record.pages
        }
        return number - first
    }

    private func skippedPages(from first: Int64) -> Int64 {
        if case .page(let number) = record.from { max(0, number - first) } else { 0 }
    }

    /// An upstream that says in words that more follows is believed for a while.
    private func emptyPage() -> CrawlRecord.End? {
        guard page.items.isEmpty else { return nil }
        let goesOn = followsUpstream ? page.signals.next != nil : page.signals.hasMore == true
        if !goesOn { return followsUpstream ? nil : .init(.complete, .emptyPage) }
        guard record.guards.emptyPages + 1 > pagination.maxEmptyPages else { return nil }
        let error = "\(record.guards.emptyPages + 1) pages in a row were empty, but the upstream names a next one"
        return .init(.truncated, .limitHit, error: error)
    }

    private func noNextPage() -> CrawlRecord.End? {
        if pagination.strategy == .singlePage { return .init(.complete, .singlePage) }
        return followsUpstream && page.signals.next == nil ? .init(.complete, .noNextCursor) : nil
    }

    private func shortPage() -> CrawlRecord.End? {
        guard pagination.stopAfterShortPage, let size = pagination.pageSize, page.items.count < size else { return nil }
        return .init(.complete, .shortPage)
    }

    /// It comes after the rules that find the end, so that a limit on the exact boundary is no truncation (basecamp-sdk #513).
    private func limit() -> CrawlRecord.End? {
        if let pages = record.limits.maxPages, record.pages + (page.items.isEmpty ? 0 : 1) >= pages {
            return .init(.truncated, .limitHit, error: "max_pages: \(pages)")
        }
        if let items = record.limits.maxItems, itemsReceived >= items {
            return .init(.truncated, .limitHit, error: "max_items: \(items)")
        }
        return record.follow ? nil : .init(.truncated, .onePage)
    }
}

extension PageCursor {
    /// Short enough for a message.
    var summary: String {
        switch self {
        case .page(let number): return "page \(number)"
        case .offset(let offset): return "offset \(offset)"
        case .token(let json): return "token " + String(json.text.prefix(200))
        case .url(let url): return String(url.prefix(200))
        }
    }
}
