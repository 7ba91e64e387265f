import Crawl
import CrawlTesting

/// A scripted upstream together with what a crawl of it must come to, said without the stop rules.
struct SimulationUpstream {
    var script: Script
    /// The pages that must be published, if nothing but the upstream ends the crawl.
    var pages: [[String]]
    var verdict: Verdict
    var reason: EndReason
    /// The last page itself says that it is the last one.
    var lastPageKnowsItsPlace = true
    /// Nothing about it is special: it can also be had page by page.
    var isPlain = false
    /// Its trouble passes: a crawl that failed completes when its dead letter is sent again.
    var mends = false

    init(_ script: Script, _ verdict: Verdict, _ reason: EndReason) {
        self.script = script
        self.pages = script.pages.filter { !$0.isEmpty }
        self.verdict = verdict
        self.reason = reason
    }

    /// What must be published and said when at most `limit` pages are wanted.
    func outcome(limit: Int64?) -> (pages: [[String]], verdict: Verdict, reason: EndReason) {
        guard let limit, limit < pages.count || limit == pages.count && !lastPageKnowsItsPlace else {
            return (pages, verdict, reason)
        }
        return (Array(pages.prefix(Int(limit))), .truncated, .limitHit)
    }

    static func random(using generator: inout SplitMix64) -> SimulationUpstream {
        let count = Int.random(in: 1...5, using: &generator)
        let items = Int.random(in: 1...2, using: &generator)
        let make = makers[Int.random(in: 0..<makers.count, using: &generator)]
        var upstream = make(count, items)
        upstream.addTroubles(using: &generator)
        return upstream
    }

    /// Attempts that fail and are made again; they change nothing in the outcome.
    private mutating func addTroubles(using generator: inout SplitMix64) {
        let troubles: [Script.Fault] = [
            .error(.unavailable, times: 1), .error(.unavailable, times: 3), .error(.malformed, times: 2),
            .error(.throttled, times: 1, retryAfter: .seconds(2)),
            .error(.notReady, times: 2, retryAfter: .seconds(90)),
        ]
        for page in 1...script.pages.count + 1 where Int.random(in: 0..<6, using: &generator) == 0 {
            let trouble = troubles[Int.random(in: 0..<troubles.count, using: &generator)]
            script.faults[page, default: []].insert(trouble, at: 0)
        }
    }

    private static let makers: [@Sendable (Int, Int) -> SimulationUpstream] = [
        { plain(Script(.cursor, pages: $0, itemsPerPage: $1), .noNextCursor) },
        { plain(Script(.link, pages: $0, itemsPerPage: $1), .noNextCursor) },
        { plain(Script(.singlePage, pages: 1, itemsPerPage: $0 + $1), .singlePage) },
        numbered, numberedWithTotal, clamped, byOffset, withHasMore, looping, withEmptyPage, withHole, broken,
        mendable, refusingAtOnce,
    ]

    private static func plain(_ script: Script, _ reason: EndReason) -> SimulationUpstream {
        var upstream = SimulationUpstream(script, .complete, reason)
        upstream.isPlain = true
        return upstream
    }

    private static let numbered = { @Sendable (count: Int, items: Int) in
        var upstream = SimulationUpstream(
            Script(.pageNumber(first: 1), pages: count, itemsPerPage: items), .complete, .emptyPage)
        upstream.lastPageKnowsItsPlace = false
        return upstream
    }

    private static let numberedWithTotal = { @Sendable (count: Int, items: Int) in
        var script = Script(.pageNumber(first: 0), pages: count, itemsPerPage: items)
        script.total = .items(Int64(count * items))
        return plain(script, .totalReached)
    }

    private static let clamped = { @Sendable (count: Int, items: Int) in
        var script = Script(.pageNumber(first: 1), pages: count, itemsPerPage: items)
        script.pastTheEnd = .lastPageAgain
        var upstream = SimulationUpstream(script, .complete, .clampedEnd)
        upstream.lastPageKnowsItsPlace = false
        return upstream
    }

    private static let byOffset = { @Sendable (count: Int, items: Int) in
        var upstream = SimulationUpstream(
            Script(.offset(first: 0), pages: count, itemsPerPage: items), .complete, .emptyPage)
        upstream.lastPageKnowsItsPlace = false
        return upstream
    }

    private static let withHasMore = { @Sendable (count: Int, items: Int) in
        var script = Script(.cursor, pages: count, itemsPerPage: items)
        script.saysHasMore = true
        return plain(script, .hasMoreFalse)
    }

    /// The page that names an earlier one cannot be trusted; it is not published.
    private static let looping = { @Sendable (count: Int, items: Int) in
        var script = Script(.cursor, pages: count + 1, itemsPerPage: items)
        script.jumps = [count + 1: count + 1]
        var upstream = SimulationUpstream(script, .failed, .cursorLoop)
        upstream.pages.removeLast()
        upstream.lastPageKnowsItsPlace = false
        return upstream
    }

    private static let withEmptyPage = { @Sendable (count: Int, items: Int) in
        var script = Script(.cursor, pages: count + 1, itemsPerPage: items)
        script.pages[count / 2] = []
        return SimulationUpstream(script, .complete, .noNextCursor)
    }

    /// A page that never comes is a hole, because the walk can go on behind it.
    private static let withHole = { @Sendable (count: Int, items: Int) in
        var script = Script(.pageNumber(first: 1), pages: count + 2, itemsPerPage: items)
        script.faults[2] = [.error(.rejected, times: .max, status: 404)]
        var upstream = SimulationUpstream(script, .truncated, .holes)
        upstream.pages.remove(at: 1)
        upstream.lastPageKnowsItsPlace = false
        return upstream
    }

    /// A cursor is a chain: a page that never comes is the end.
    private static let broken = { @Sendable (count: Int, items: Int) in
        var script = Script(.cursor, pages: count + 1, itemsPerPage: items)
        script.faults[count + 1] = [.error(.rejected, times: .max, status: 410)]
        var upstream = SimulationUpstream(script, .failed, .rejected)
        upstream.pages.removeLast()
        upstream.lastPageKnowsItsPlace = false
        return upstream
    }

    private static let mendable = { @Sendable (count: Int, items: Int) in
        var script = Script(.cursor, pages: count + 1, itemsPerPage: items)
        script.faults[count + 1] = [.error(.rejected, times: 1, status: 403)]
        var upstream = SimulationUpstream(script, .complete, .noNextCursor)
        upstream.mends = true
        return upstream
    }

    private static let refusingAtOnce = { @Sendable (count: Int, items: Int) in
        var script = Script(.cursor, pages: count, itemsPerPage: items)
        script.faults[1] = [.error(.unauthorized, times: .max, status: 401)]
        var upstream = SimulationUpstream(script, .failed, .unauthorized)
        upstream.pages = []
        return upstream
    }
}
