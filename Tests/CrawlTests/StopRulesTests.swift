import Testing

@testable import Crawl

/// One crawl against the stop rules, page by page, without a worker.
final class RuleWalk {
    var record: CrawlRecord
    let pagination: Pagination
    var published: [Int64] = []

    init(_ pagination: Pagination, limits: Limits = Limits(), from: PageCursor? = nil, follow: Bool = true) {
        self.pagination = pagination
        record = CrawlRecord(
            crawl: "c", run: 1, source: "s", startedAt: .init(milliseconds: 0),
            newestJob: .init(offset: 0, timestamp: .init(milliseconds: 0)), from: from)
        record.limits = limits
        record.follow = follow
    }

    /// Feeds one page; how the run ended, if it did.
    @discardableResult
    func feed(_ items: [String], _ signals: Signals = Signals(), url: String = "") -> CrawlRecord.End? {
        let page = Page(items: Items(items), signals: signals, url: url)
        let decision = StopRules.judge(page, of: record, by: pagination)
        record.take(page, oversized: 0, decision, at: .init(milliseconds: 1))
        if decision.publish { published.append(Int64(items.count)) }
        return record.end
    }
}

private func token(_ text: String) -> PageCursor { .token(RawJSON("\"\(text)\"")) }
private let full = (1...10).map { "{\"id\":\($0)}" }
private func items(_ range: ClosedRange<Int>) -> [String] { range.map { "{\"id\":\($0)}" } }

@Suite struct `Stop rules` {
    @Test func `a page-number crawl ends on an empty page`() {
        let walk = RuleWalk(Pagination(.pageNumber(first: 1)))
        #expect(walk.feed(items(1...3)) == nil)
        #expect(walk.record.cursor == .page(2))
        #expect(walk.feed(items(4...6)) == nil)
        #expect(walk.feed([]) == .init(.complete, .emptyPage))
    }

    @Test func `a cursor crawl goes on through an empty page while there is a cursor`() {
        let walk = RuleWalk(Pagination(.cursor))
        #expect(walk.feed(items(1...2), Signals(next: token("a"))) == nil)
        #expect(walk.feed([], Signals(next: token("b"))) == nil)
        #expect(walk.feed(items(3...4)) == .init(.complete, .noNextCursor))
    }

    @Test func `too many empty pages in a row are a limit, not a success`() {
        let walk = RuleWalk(Pagination(.cursor, maxEmptyPages: 3))
        for number in 1...3 { #expect(walk.feed([], Signals(next: token("t\(number)"))) == nil) }
        let end = walk.feed([], Signals(next: token("t4")))
        #expect(end?.verdict == .truncated && end?.reason == .limitHit)
    }

    @Test func `max_pages holds whatever has_more says, and never reads as success`() {
        let walk = RuleWalk(Pagination(.pageNumber(first: 1)), limits: Limits(maxPages: 3))
        for number in 1...2 { #expect(walk.feed(["\(number)"], Signals(hasMore: true)) == nil) }
        let end = walk.feed(["3"], Signals(hasMore: true))
        #expect(end?.verdict == .truncated && end?.reason == .limitHit)
    }

    @Test func `max_pages on the exact boundary is no truncation`() {
        let walk = RuleWalk(Pagination(.cursor), limits: Limits(maxPages: 2))
        walk.feed(items(1...2), Signals(next: token("a")))
        #expect(walk.feed(items(3...4)) == .init(.complete, .noNextCursor))
    }

    @Test func `has_more true without a cursor is a contradiction, and the page is not published`() {
        let walk = RuleWalk(Pagination(.cursor))
        let end = walk.feed(items(1...2), Signals(hasMore: true))
        #expect(end?.verdict == .failed && end?.reason == .inconsistentSignal)
        #expect(walk.published.isEmpty && walk.record.cursor == nil)
    }

    @Test func `has_more false ends, also when a cursor is there`() {
        let walk = RuleWalk(Pagination(.link))
        let end = walk.feed(items(1...2), Signals(hasMore: false, next: .url("http://h/self")), url: "http://h/self")
        #expect(end == .init(.complete, .hasMoreFalse))
    }

    @Test func `an unreadable signal fails with its words`() {
        let walk = RuleWalk(Pagination(.pageNumber(first: 1)))
        let end = walk.feed(["1"], Signals(unreadable: "total is \"about 120\""))
        #expect(end == .init(.failed, .inconsistentSignal, error: "total is \"about 120\""))
    }

    @Test func `the same token with an empty page is the end, with items a loop`() {
        let polling = RuleWalk(Pagination(.cursor))
        polling.feed(items(1...2), Signals(next: token("z")))
        #expect(polling.feed([], Signals(next: token("z"))) == .init(.complete, .noNewItems))

        let looping = RuleWalk(Pagination(.cursor))
        looping.feed(items(1...2), Signals(next: token("z")))
        let end = looping.feed(items(3...4), Signals(next: token("z")))
        #expect(end?.verdict == .failed && end?.reason == .cursorLoop)
    }

    @Test(arguments: [2, 3, 16, 17, 40, 1_000])
    func `a cycle of tokens of any length is found within three times its length`(length: Int) {
        let walk = RuleWalk(Pagination(.cursor))
        var pages = 0
        while walk.record.end == nil, pages < 100_000 {
            pages += 1
            walk.feed(["{\"id\":\(pages)}"], Signals(next: token("t\(pages % length)")))
        }
        #expect(walk.record.end?.reason == .cursorLoop)
        #expect(pages <= max(3 * length, length + 17))
    }

    @Test func `a link that leads back to the first page is found before that page comes again`() {
        let walk = RuleWalk(Pagination(.link))
        walk.feed(items(1...2), Signals(next: .url("http://h/2")), url: "http://h/1")
        let end = walk.feed(items(3...4), Signals(next: .url("http://h/1")), url: "http://h/2")
        #expect(end?.reason == .cursorLoop)
        #expect(walk.published.count == 1)
    }

    @Test func `a page number past the end that gives the last page again is a clamped end`() {
        let walk = RuleWalk(Pagination(.pageNumber(first: 1)))
        walk.feed(items(1...3))
        #expect(walk.feed(items(1...3)) == .init(.complete, .clampedEnd))
        #expect(walk.published == [3] && walk.record.items == 3)
    }

    @Test func `an upstream that ignores the offset is a loop, and the repeated page is not published`() {
        let walk = RuleWalk(Pagination(.offset(first: 0)))
        walk.feed(items(1...3), Signals(hasMore: true))
        let end = walk.feed(items(1...3), Signals(hasMore: true))
        #expect(end?.verdict == .failed && end?.reason == .cursorLoop)
        #expect(walk.published == [3])
    }

    @Test func `equal pages of a cursor crawl are no loop while the token advances`() {
        let walk = RuleWalk(Pagination(.cursor))
        for number in 1...50 { #expect(walk.feed(["{\"type\":\"x\"}"], Signals(next: token("\(number)"))) == nil) }
    }

    @Test func `the offset advances by the items received, not by those asked for`() {
        let walk = RuleWalk(Pagination(.offset(first: 0), pageSize: 1_000))
        walk.feed(full)
        #expect(walk.record.cursor == .offset(10))
    }

    @Test func `a short page in the middle does not end the crawl unless the source says so`() {
        let walk = RuleWalk(Pagination(.pageNumber(first: 1), pageSize: 10))
        walk.feed(full)
        #expect(walk.feed(items(11...19)) == nil)
        let strict = RuleWalk(Pagination(.pageNumber(first: 1), pageSize: 10, stopAfterShortPage: true))
        strict.feed(full)
        #expect(strict.feed(items(11...19)) == .init(.complete, .shortPage))
    }

    @Test func `a total that only the first page tells is remembered, and no extra page is asked for`() {
        let walk = RuleWalk(Pagination(.pageNumber(first: 1)))
        walk.feed(full, Signals(total: .items(20)))
        #expect(walk.feed(items(11...20)) == .init(.complete, .totalReached))
    }

    @Test func `a total that grows lets the crawl go on`() {
        let walk = RuleWalk(Pagination(.offset(first: 0)))
        walk.feed(full, Signals(total: .items(20)))
        #expect(walk.feed(items(11...20), Signals(total: .items(21))) == nil)
        #expect(walk.feed(["21"], Signals(total: .items(21))) == .init(.complete, .totalReached))
    }

    @Test func `a total does not end a cursor crawl unless configured, and is reported when it was wrong`() {
        let walk = RuleWalk(Pagination(.cursor))
        #expect(walk.feed(full, Signals(total: .items(10), next: token("a"))) == nil)
        walk.feed(items(11...20), Signals(total: .items(10)))
        #expect(walk.record.totalMismatch && walk.record.end == .init(.complete, .noNextCursor))
        let strict = RuleWalk(Pagination(.cursor, stopOnTotal: true))
        #expect(strict.feed(full, Signals(total: .items(10), next: token("a"))) == .init(.complete, .totalReached))
    }

    @Test func `a total in pages counts pages`() {
        let walk = RuleWalk(Pagination(.pageNumber(first: 0)))
        walk.feed(["1"], Signals(total: .pages(2)))
        #expect(walk.feed(["2"], Signals(total: .pages(2))) == .init(.complete, .totalReached))
    }

    @Test func `a crawl that begins in the middle counts what lies before`() {
        let walk = RuleWalk(Pagination(.offset(first: 0)), from: .offset(10))
        #expect(walk.feed(items(11...20), Signals(total: .items(20))) == .init(.complete, .totalReached))
    }

    @Test func `pages that were skipped count no more than the server gives a page`() {
        let walk = RuleWalk(Pagination(.pageNumber(first: 1), pageSize: 100), from: .page(9))
        let page = (0..<50).map { "\($0)" }
        #expect(walk.feed(page, Signals(total: .items(800))) == nil)
    }

    @Test func `an empty page that says more follows is believed for a while`() {
        let walk = RuleWalk(Pagination(.pageNumber(first: 1), maxEmptyPages: 2))
        #expect(walk.feed([], Signals(hasMore: true)) == nil)
        #expect(walk.feed([], Signals(hasMore: true)) == nil)
        #expect(walk.feed([], Signals(hasMore: true))?.reason == .limitHit)
    }

    @Test func `one page without follow ends there and knows where to go on`() {
        let walk = RuleWalk(Pagination(.pageNumber(first: 1)), follow: false)
        #expect(walk.feed(full)?.reason == .onePage)
        #expect(walk.record.cursor == .page(2))
    }

    @Test func `zero and false are cursors`() {
        let walk = RuleWalk(Pagination(.cursor))
        #expect(walk.feed(["1"], Signals(next: .token(RawJSON("0")))) == nil)
        #expect(walk.feed(["2"], Signals(next: .token(RawJSON("false")))) == nil)
        #expect(walk.record.cursor == .token(RawJSON("false")))
    }

    @Test func `a single page is complete`() {
        let walk = RuleWalk(Pagination(.singlePage))
        #expect(walk.feed(full) == .init(.complete, .singlePage))
    }

    @Test(arguments: 1...200)
    func `every endless upstream comes to a named end under the default guards`(seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        let strategies: [Pagination.Strategy] = [.pageNumber(first: 1), .offset(first: 0), .cursor, .link]
        let strategy = strategies.randomElement(using: &generator)!
        let walk = RuleWalk(Pagination(strategy), limits: Limits(maxPages: 5_000))
        var pages = 0
        while walk.record.end == nil {
            pages += 1
            guard pages <= 10_000 else {
                Issue.record("no end after \(pages) pages, seed \(seed)")
                return
            }
            let count = Int.random(in: 0...2, using: &generator)
            let next = Int.random(in: 0...5_000, using: &generator)
            let cursor: PageCursor = strategy == .link ? .url("http://h/\(next)") : token("\(next)")
            walk.feed((0..<count).map { _ in "\(next)" }, Signals(next: cursor))
        }
        #expect(walk.record.status == .ended)
    }
}
