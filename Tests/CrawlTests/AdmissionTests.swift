import Testing

@testable import Crawl

private func at(_ offset: Int64, time: Int64? = nil) -> JobPosition {
    JobPosition(offset: offset, timestamp: Timestamp(milliseconds: time ?? offset))
}
private let now = Timestamp(milliseconds: 100)

private func committed(run: Int64, step: Int64, job: Int64, end: CrawlRecord.End? = nil) -> CrawlRecord {
    var record = CrawlRecord(crawl: "c", run: run, source: "s", startedAt: now, newestJob: at(job))
    record.step = step
    if let end { record.finish(end, at: now) }
    return record
}

private func next(run: Int64, step: Int64) -> Job {
    Job(
        crawl: "c", action: .next(Continuation(run: run, step: step, cursor: .page(9), pages: 8, items: 80)),
        source: "s")
}

@Suite struct `Admit rules` {
    @Test func `the first start begins run 1, a start after the end the next run`() {
        let start = Job(crawl: "c", source: "s")
        guard case .begin(let first) = Admission.of(start, at: at(3), known: .committed(nil), now: now) else {
            Issue.record("not begun")
            return
        }
        #expect(first.run == 1 && first.newestJob == at(3))
        let ended = committed(run: 1, step: 4, job: 3, end: .init(.complete, .emptyPage))
        guard case .begin(let second) = Admission.of(start, at: at(7), known: .committed(ended), now: now) else {
            Issue.record("not begun")
            return
        }
        #expect(second.run == 2 && second.cursor == nil && second.step == 0)
    }

    @Test(arguments: [Job.Action.start, .cancel, .pause, .resume, .restart])
    func `a re-delivered word of a user is stale, also after the end`(action: Job.Action) {
        let job = Job(crawl: "c", action: action, source: "s")
        let running = committed(run: 2, step: 4, job: 7)
        let ended = committed(run: 2, step: 4, job: 7, end: .init(.complete, .emptyPage))
        for known in [running, ended] {
            #expect(Admission.of(job, at: at(7), known: .committed(known), now: now) == .stale)
            #expect(Admission.of(job, at: at(3), known: .committed(known), now: now) == .stale)
        }
    }

    @Test func `a start in a recreated topic has a low offset but a later time, and is heard`() {
        let ended = committed(run: 1, step: 4, job: 700, end: .init(.complete, .emptyPage))
        guard
            case .begin = Admission.of(
                Job(crawl: "c", source: "s"), at: at(0, time: 9_000), known: .committed(ended), now: now)
        else {
            Issue.record("not begun")
            return
        }
    }

    @Test func `a next job runs only if its run and step are the ledger's`() {
        let known = committed(run: 2, step: 4, job: 7)
        #expect(Admission.of(next(run: 2, step: 4), at: at(9), known: .committed(known), now: now) == .goOn(known))
        #expect(Admission.of(next(run: 2, step: 3), at: at(9), known: .committed(known), now: now) == .stale)
        #expect(Admission.of(next(run: 1, step: 9), at: at(9), known: .committed(known), now: now) == .stale)
    }

    @Test func `a crawl in memory takes the job of a step whose commit is being acknowledged`() {
        let held = committed(run: 2, step: 4, job: 7)
        #expect(Admission.of(next(run: 2, step: 5), at: at(9), known: .inMemory(held), now: now) == .goOn(held))
        #expect(Admission.of(next(run: 2, step: 3), at: at(9), known: .inMemory(held), now: now) == .stale)
    }

    @Test(arguments: [Job.Action.start, .cancel, .restart])
    func `what comes between the end of a run and its commit is looked at then`(action: Job.Action) {
        let held = committed(run: 2, step: 4, job: 7, end: .init(.complete, .emptyPage))
        let job = Job(crawl: "c", action: action, source: "s")
        #expect(Admission.of(job, at: at(9), known: .inMemory(held), now: now) == .follow)
    }

    @Test func `a next job of a crawl that the ledger lost carries enough to go on`() {
        guard case .goOn(let record) = Admission.of(next(run: 2, step: 4), at: at(9), known: .committed(nil), now: now)
        else {
            Issue.record("not accepted")
            return
        }
        #expect(
            record.run == 2 && record.step == 4 && record.cursor == .page(9) && record.pages == 8 && record.items == 80)
    }

    @Test(arguments: [Job.Action.cancel, .pause, .resume])
    func `steering a crawl that nobody knows is answered`(action: Job.Action) {
        guard
            case .refused(let refusal) = Admission.of(
                Job(crawl: "c", action: action), at: at(1), known: .committed(nil), now: now)
        else {
            Issue.record("not refused")
            return
        }
        #expect(refusal.kind == .unknownCrawl && refusal.reason.contains("\"c\""))
    }

    @Test func `a restart without a source repeats the crawl as it was asked for`() {
        var ended = committed(run: 1, step: 4, job: 3, end: .init(.complete, .emptyPage))
        ended.params = ["category": "7"]
        guard
            case .begin(let record) = Admission.of(
                Job(crawl: "c", action: .restart), at: at(9), known: .committed(ended), now: now)
        else {
            Issue.record("not begun")
            return
        }
        #expect(record.source == "s" && record.params == ["category": "7"] && record.run == 2)
    }

    @Test func `a start after a run of one page goes on from where it stopped`() {
        var ended = committed(run: 1, step: 1, job: 3, end: .init(.truncated, .onePage))
        ended.cursor = .page(2)
        guard
            case .begin(let record) = Admission.of(
                Job(crawl: "c", source: "s"), at: at(9), known: .committed(ended), now: now)
        else {
            Issue.record("not begun")
            return
        }
        #expect(record.cursor == .page(2) && record.run == 2)
    }
}
