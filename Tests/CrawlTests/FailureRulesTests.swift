import Testing

@testable import Crawl

private let noon = Timestamp(milliseconds: 1_000_000)

private func source(_ pagination: Pagination, retry: RetryPolicy = RetryPolicy()) -> Source {
    Source("s", pagination: pagination, retry: retry) { _ in fatalError("never opened") }
}

private func record(pages: Int64, cursor: PageCursor?, guards: Guards = Guards()) -> CrawlRecord {
    var record = CrawlRecord(
        crawl: "c", run: 1, source: "s", startedAt: noon, newestJob: .init(offset: 0, timestamp: noon))
    record.pages = pages
    record.cursor = cursor
    record.guards = guards
    return record
}

private func judge(_ error: SourceError, _ record: CrawlRecord, _ source: Source, seed: UInt64 = 1) -> FailureDecision {
    var generator = SplitMix64(seed: seed)
    return FailureRules.judge(error, of: record, from: source, now: noon, using: &generator)
}

@Suite struct `Failure rules` {
    let numbered = source(Pagination(.pageNumber(first: 1), stopOnStatus: [404], maxHoles: 2))
    let chained = source(Pagination(.cursor))

    @Test(arguments: [SourceError.Class.unavailable, .malformed])
    func `a passing trouble is tried again, with back-off that grows and is capped`(kind: SourceError.Class) {
        let patient = source(
            Pagination(.cursor), retry: RetryPolicy(attempts: 30, baseDelay: .seconds(1), maxDelay: .seconds(8)))
        var longest: [Duration] = []
        for attempt in 0..<6 {
            let waits = (UInt64(1)...200).map { seed -> Duration in
                let before = record(pages: 0, cursor: nil, guards: Guards(attempts: attempt))
                guard case .retry(let at) = judge(SourceError(kind, "x"), before, patient, seed: seed) else {
                    return .zero
                }
                return at - noon
            }
            longest.append(waits.max()!)
            #expect(waits.min()! < .seconds(1))
        }
        #expect(longest[0] <= .seconds(1) && longest[2] > .seconds(3) && longest[5] <= .seconds(8))
    }

    @Test func `a throttled page waits at least as told`() {
        let told = SourceError(.throttled, "429", status: 429, retryAfter: .seconds(30))
        guard case .retry(let at) = judge(told, record(pages: 0, cursor: nil), chained) else {
            Issue.record("no retry")
            return
        }
        #expect(at - noon >= .seconds(30))
    }

    @Test func `a told wait of a year is cut to the longest wait`() {
        let told = SourceError(.throttled, "429", retryAfter: .seconds(31_536_000))
        #expect(judge(told, record(pages: 0, cursor: nil), chained) == .retry(notBefore: noon + .seconds(86_400)))
    }

    @Test func `throttling has a budget of its own`() {
        let spent = record(pages: 0, cursor: nil, guards: Guards(attempts: 7, throttles: 3))
        guard case .retry = judge(SourceError(.throttled, "429"), spent, chained) else {
            Issue.record("attempts were counted against the throttle budget")
            return
        }
    }

    @Test func `a page number that failed for good is a hole behind which the walk goes on`() {
        let before = record(pages: 4, cursor: .page(5), guards: Guards(attempts: 7))
        let decision = judge(SourceError(.unavailable, "503", status: 503), before, numbered)
        #expect(decision == .hole(next: .page(6)))
        var after = before
        after.take(SourceError(.unavailable, "503"), decision, at: noon)
        #expect(after.holes == [.page(5)] && after.cursor == .page(6))
        after.finish(.init(.complete, .emptyPage), at: noon)
        #expect(after.end?.verdict == .truncated && after.end?.reason == .holes)
    }

    @Test func `too many holes in a row fail the crawl`() {
        let before = record(pages: 4, cursor: .page(7), guards: Guards(holesInARow: 2, attempts: 7))
        guard case .end(let end) = judge(SourceError(.unavailable, "503"), before, numbered) else {
            Issue.record("no end")
            return
        }
        #expect(end.verdict == .failed && end.reason == .retriesExhausted)
    }

    @Test func `a cursor page that failed for good fails the crawl`() {
        let before = record(pages: 4, cursor: .token(RawJSON("1")), guards: Guards(attempts: 7))
        #expect(
            judge(SourceError(.unavailable, "503"), before, chained)
                == .end(.init(.failed, .retriesExhausted, error: "503")))
    }

    @Test func `a rejected first page fails the crawl`() {
        let refused = SourceError(.rejected, "400", status: 400)
        #expect(
            judge(refused, record(pages: 0, cursor: nil), numbered) == .end(.init(.failed, .rejected, error: "400")))
    }

    @Test func `an end status ends the crawl, but not on page 1`() {
        let gone = SourceError(.rejected, "404", status: 404)
        #expect(judge(gone, record(pages: 3, cursor: .page(4)), numbered) == .end(.init(.complete, .endStatus)))
        #expect(judge(gone, record(pages: 0, cursor: nil), numbered) == .end(.init(.failed, .rejected, error: "404")))
    }

    @Test func `credentials that are not accepted leave no hole`() {
        let denied = SourceError(.unauthorized, "401", status: 401)
        #expect(
            judge(denied, record(pages: 3, cursor: .page(4)), numbered)
                == .end(.init(.failed, .unauthorized, error: "401")))
    }
}
