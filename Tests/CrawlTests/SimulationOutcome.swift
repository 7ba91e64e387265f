import CrawlTesting

@testable import Crawl

/// What the runs of one crawl must come to, one after the other.
struct ExpectedOutcome {
    private let crawl: SimulationPlan.PlannedCrawl
    /// Where the next run begins, where a run takes one page only.
    private var position = 0
    /// Nobody said anything about the last run: it ends by itself.
    var isLast = false

    init(_ crawl: SimulationPlan.PlannedCrawl) { self.crawl = crawl }

    /// What is wrong with a run that ended with this record and these pages.
    mutating func problems(_ end: CrawlRecord, _ batches: [ResultBatch]) -> [String] {
        let expected = crawl.follow ? crawl.upstream.outcome(limit: crawl.limits.maxPages) : onePage()
        if !crawl.follow { position = end.end?.reason == .onePage ? position + 1 : 0 }
        let given = batches.map(\.page.items.texts)
        let isCutShort = isAllowedToBeCutShort(end)
        var problems: [String] = []
        if batches.map(\.number) != Array(1..<Int64(batches.count + 1)) {
            problems.append("has the pages \(batches.map(\.number))")
        }
        let items = given.joined().count
        if end.pages != Int64(given.count) || end.items != Int64(items) {
            problems.append("says \(end.pages) pages, \(end.items) items; there are \(given.count), \(items)")
        }
        if !isCutShort, end.end?.verdict != expected.verdict || end.end?.reason != expected.reason {
            problems.append("ended \(end.end.map { "\($0)" } ?? "?"), not \(expected.verdict) \(expected.reason)")
        }
        let wanted = isCutShort ? Array(expected.pages.prefix(given.count)) : expected.pages
        if given != wanted { problems.append("published \(given), not \(wanted)") }
        return problems
    }

    private func onePage() -> (pages: [[String]], verdict: Verdict, reason: EndReason) {
        let pages = crawl.upstream.pages
        guard position < pages.count else { return ([], crawl.upstream.verdict, crawl.upstream.reason) }
        guard position < pages.count - 1 else {
            return ([pages[position]], crawl.upstream.verdict, crawl.upstream.reason)
        }
        return ([pages[position]], .truncated, .onePage)
    }

    /// By people, by its deadline, or by a trouble that passes and was not waited for.
    private func isAllowedToBeCutShort(_ end: CrawlRecord) -> Bool {
        switch end.end?.verdict {
        case .expired: crawl.limits.deadline.map { $0 <= end.updatedAt } ?? false
        case .cancelled: !isLast
        case .failed: !isLast && crawl.upstream.mends
        case .complete, .truncated, nil: false
        }
    }
}
