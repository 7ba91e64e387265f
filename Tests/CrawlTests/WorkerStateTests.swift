import Testing

@testable import Crawl

/// A worker with one partition, driven by hand: jobs in, fetches and transactions out.
private final class Desk {
    var state: WorkerState
    var now = Timestamp(milliseconds: 1_000_000)
    private var offset: Int64 = -1
    let owned = PartitionEpoch(partition: 0, epoch: 1)

    init(
        _ pagination: Pagination = Pagination(.pageNumber(first: 1)), limits: WorkerLimits = WorkerLimits(),
        retry: RetryPolicy = RetryPolicy(), maxItemBytes: Int = 1_000, requestsPerSecond: Double? = nil,
        partitionCount: Int = 1, ledger: [CrawlRecord] = []
    ) {
        let source = Source("s", pagination: pagination, retry: retry, requestsPerSecond: requestsPerSecond) {
            params throws(UnusableParams) in
            if let name = params.keys.first(where: { $0 != "q" }) { throw UnusableParams("params.\(name): not known") }
            return NoSource()
        }
        state = WorkerState(
            sources: [source], limits: limits, maxItemBytes: maxItemBytes, partitionCount: partitionCount, seed: 1)
        state.assign(AssignedPartition(owned: owned, ledger: ledger), now: now)
    }

    /// Delivers a job at the next offset; the offset.
    @discardableResult
    func deliver(_ job: Job, time: Int64? = nil) -> Int64 {
        offset += 1
        let position = JobPosition(offset: offset, timestamp: Timestamp(milliseconds: time ?? offset))
        state.deliver(
            DeliveredJob(owned: owned, position: position, content: .job(job), received: ReceivedRecord()), now: now)
        return offset
    }

    @discardableResult
    func start(_ crawl: String = "c", limits: Limits = Limits()) -> Int64 {
        deliver(Job(crawl: crawl, source: "s", limits: limits))
    }

    func fetches() -> [FetchOrder] { state.nextFetches(now: now) }

    /// Answers orders with a full page each.
    func answer(_ orders: [FetchOrder], items: Int = 1, _ signals: Signals = Signals()) {
        for order in orders {
            let texts = (0..<items).map { "\"\(order.request.crawl) \(order.request.page) \($0)\"" }
            state.fetched(order, .success(Page(items: Items(texts), signals: signals)), now: now)
        }
    }

    func fail(_ orders: [FetchOrder], _ error: SourceError) {
        for order in orders { state.fetched(order, .failure(error), now: now) }
    }

    /// Fetches and answers pages until nothing more may be fetched; how many.
    @discardableResult
    func run(items: Int = 1, _ signals: Signals = Signals()) -> Int {
        var pages = 0
        while true {
            let orders = fetches()
            if orders.isEmpty { return pages }
            pages += orders.count
            answer(orders, items: items, signals)
        }
    }

    /// Commits what is staged, and delivers the jobs that go on.
    @discardableResult
    func commit(deliverNext: Bool = true) -> Transaction? {
        guard let transaction = state.takeTransaction(now: now) else { return nil }
        state.settle(.committed, now: now)
        if deliverNext { for step in transaction.steps { step.next.map { _ = deliver($0) } } }
        return transaction
    }

    private struct NoSource: PageSource {
        func fetch(_ request: PageRequest) async throws(SourceError) -> Page { throw SourceError(.rejected, "unused") }
    }
}

extension Transaction {
    fileprivate var pages: [Int64] { steps.flatMap { $0.batches.map(\.number) } }
}

@Suite struct `Worker decisions` {
    @Test func `a step holds all pages that are ready, one record and one job that goes on`() {
        let desk = Desk()
        desk.start()
        for _ in 1...3 { desk.answer(desk.fetches()) }
        let step = desk.state.takeTransaction(now: desk.now)?.steps.first
        #expect(step?.batches.map(\.number) == [1, 2, 3])
        #expect(step?.record.step == 1 && step?.record.pages == 3 && step?.record.cursor == .page(4))
        #expect(step?.next?.action == .next(Continuation(run: 1, step: 1, cursor: .page(4), pages: 3, items: 3)))
    }

    @Test func `an aborted step commits again without a new request`() {
        let desk = Desk()
        desk.start()
        desk.answer(desk.fetches())
        let first = desk.state.takeTransaction(now: desk.now)
        let ahead = desk.fetches()
        desk.answer(ahead)
        desk.state.settle(.aborted(reason: "test"), now: desk.now)
        #expect(desk.state.takeTransaction(now: desk.now) == nil, "an abort is followed by a pause")
        desk.now = desk.now + .seconds(2)
        let second = desk.state.takeTransaction(now: desk.now)
        #expect(first?.pages == [1] && second?.pages == [1, 2])
        #expect(second?.steps.first?.record.step == 1)
        #expect(second?.offsets == [PartitionOffset(owned: desk.owned, next: 1)])
    }

    @Test func `a crawl runs ahead of what is committed, up to a limit`() {
        let desk = Desk(limits: WorkerLimits(runAheadPages: 5))
        desk.start()
        #expect(desk.run() == 5)
        desk.commit()
        #expect(desk.run() == 5)
    }

    @Test func `run-ahead 0 is the plain chain: one job, one page`() {
        let desk = Desk(limits: WorkerLimits(runAheadPages: 0))
        desk.start()
        #expect(desk.run() == 1)
        let first = desk.commit(deliverNext: false)
        #expect(desk.run() == 0, "the job that goes on has not come")
        desk.deliver(first!.steps[0].next!)
        #expect(desk.run() == 1)
    }

    @Test func `a job that comes back to its crawl is done with the step that follows`() {
        let desk = Desk()
        let start = desk.start()
        desk.answer(desk.fetches())
        #expect(desk.commit()?.offsets.first?.next == start + 1)
        desk.answer(desk.fetches())
        #expect(desk.commit(deliverNext: false)?.offsets.first?.next == start + 2)
    }

    @Test func `a job that comes back while its transaction is still under way is not lost`() {
        let desk = Desk()
        desk.start()
        desk.answer(desk.fetches())
        let first = desk.state.takeTransaction(now: desk.now)!
        desk.deliver(first.steps[0].next!)
        desk.state.settle(.committed, now: desk.now)
        desk.answer(desk.fetches())
        #expect(desk.commit(deliverNext: false)?.offsets.first?.next == 2)
    }

    @Test func `a second start is done with the crawl's next step, which remembers it`() {
        let desk = Desk()
        desk.start()
        let second = desk.start()
        desk.answer(desk.fetches())
        let transaction = desk.commit()
        #expect(transaction?.steps.count == 1)
        #expect(transaction?.steps.first?.record.newestJob.offset == second)
        #expect(transaction?.offsets.first?.next == second + 1)
    }

    @Test func `a start that comes between the end and its commit begins the next run after it`() {
        let desk = Desk(Pagination(.singlePage))
        desk.start()
        desk.answer(desk.fetches())
        desk.start()
        #expect(desk.fetches().isEmpty)
        #expect(desk.commit()?.steps.first?.record.end?.verdict == .complete)
        desk.answer(desk.fetches())
        #expect(desk.commit()?.steps.first?.record.run == 2)
    }

    @Test func `stale jobs move the offset without a record, after the commit interval`() {
        let desk = Desk(ledger: [])
        desk.start()
        desk.answer(desk.fetches())
        let stale = desk.commit()!.steps[0].next!
        desk.answer(desk.fetches())
        desk.commit()
        desk.deliver(stale)
        #expect(desk.state.takeTransaction(now: desk.now)?.offsets.isEmpty != false)
        desk.now = desk.now + .milliseconds(60)
        let transaction = desk.state.takeTransaction(now: desk.now)
        #expect(transaction?.steps.isEmpty != false)
    }

    @Test func `after cancel, no result of the run appears and the fetch under way is given up`() {
        let desk = Desk()
        desk.start()
        let order = desk.fetches()
        desk.deliver(Job(crawl: "c", action: .cancel))
        #expect(desk.state.takeAbandoned() == order.map(\.ticket))
        desk.answer(order)
        let step = desk.commit()?.steps.first
        #expect(step?.record.end?.verdict == .cancelled && step?.batches.isEmpty == true && step?.next == nil)
        #expect(desk.fetches().isEmpty)
        #expect(desk.commit() == nil)
    }

    @Test func `a cancelled wait ends at once`() {
        let desk = Desk()
        desk.start()
        desk.fail(desk.fetches(), SourceError(.throttled, "429", retryAfter: .seconds(600)))
        desk.deliver(Job(crawl: "c", action: .cancel))
        #expect(desk.commit()?.steps.first?.record.end?.verdict == .cancelled)
    }

    @Test func `a paused crawl rests without a job, and resume goes on where it stood`() {
        let desk = Desk()
        desk.start()
        desk.answer(desk.fetches())
        desk.commit()
        desk.deliver(Job(crawl: "c", action: .pause))
        let paused = desk.commit()?.steps.first
        #expect(paused?.record.status == .paused && paused?.next == nil)
        #expect(desk.fetches().isEmpty)
        desk.deliver(Job(crawl: "c", action: .resume))
        let resumed = desk.fetches()
        #expect(resumed.map(\.request.page) == [2])
        #expect(desk.commit()?.steps.first?.next != nil)
    }

    @Test func `restart cancels the run and begins the next`() {
        let desk = Desk()
        desk.start()
        desk.answer(desk.fetches())
        desk.commit()
        let restart = desk.deliver(Job(crawl: "c", action: .restart))
        let cancelled = desk.commit(deliverNext: false)
        #expect(cancelled?.steps.first?.record.end?.verdict == .cancelled)
        #expect((cancelled?.offsets.first?.next ?? 99) <= restart, "a crash here must deliver the restart again")
        desk.answer(desk.fetches())
        let step = desk.commit()?.steps.first
        #expect(step?.record.run == 2 && step?.batches.first?.number == 1)
    }

    @Test func `a short wait stays in memory, a long one is told by the record`() {
        let desk = Desk()
        desk.start()
        desk.fail(desk.fetches(), SourceError(.unavailable, "503"))
        #expect(desk.state.takeTransaction(now: desk.now) == nil)
        desk.now = desk.now + .seconds(1)
        desk.fail(desk.fetches(), SourceError(.throttled, "429", retryAfter: .seconds(30)))
        let step = desk.commit()?.steps.first
        #expect(step?.record.status == .waiting && step?.record.notBefore == desk.now + .seconds(30))
        #expect(desk.fetches().isEmpty)
        desk.now = desk.now + .seconds(31)
        #expect(desk.fetches().count == 1)
    }

    @Test func `a job that is held for long is re-issued, so that it does not hold the offset back`() {
        let desk = Desk()
        desk.start()
        desk.fail(desk.fetches(), SourceError(.throttled, "429", retryAfter: .seconds(3_600)))
        let first = desk.commit()
        #expect(first?.steps.first?.record.step == 1)
        for step: Int64 in 2...5 {
            desk.now = desk.now + .seconds(61)
            #expect(desk.state.nextWake(after: desk.now).map { $0 <= desk.now } == true)
            #expect(desk.fetches().isEmpty)
            let transaction = desk.commit()
            #expect(transaction?.steps.first?.record.step == step)
            #expect(transaction?.offsets.first?.next == step)
        }
    }

    @Test func `a deadline ends a wait as expired`() {
        let desk = Desk()
        desk.start(limits: Limits(deadline: desk.now + .seconds(10)))
        desk.fail(desk.fetches(), SourceError(.throttled, "429", retryAfter: .seconds(3_600)))
        desk.commit()
        desk.now = desk.now + .seconds(11)
        #expect(desk.fetches().isEmpty)
        #expect(desk.commit()?.steps.first?.record.end == .init(.expired, .deadline))
    }

    @Test func `an item too large for a record is set aside, and the verdict counts it`() {
        let desk = Desk(Pagination(.singlePage), maxItemBytes: 10)
        desk.start()
        let page = Page(items: Items(["1", "\"" + String(repeating: "x", count: 50) + "\"", "3"]))
        desk.state.fetched(desk.fetches()[0], .success(page), now: desk.now)
        let transaction = desk.commit()
        #expect(transaction?.steps.first?.batches.first?.page.items.count == 2)
        #expect(transaction?.deadLetters.first?.kind == .itemTooLarge)
        #expect(transaction?.steps.first?.record.end?.verdict == .truncated)
        #expect(transaction?.steps.first?.record.oversizedItems == 1)
    }

    @Test func `a failed crawl leaves the job that goes on from the failed page, and sending it twice is harmless`() {
        let desk = Desk(Pagination(.cursor), retry: RetryPolicy(attempts: 1))
        desk.start()
        desk.answer(desk.fetches(), items: 1, Signals(next: .token(RawJSON("7"))))
        desk.fail(desk.fetches(), SourceError(.unavailable, "503 of page 2"))
        let failed = desk.commit()
        #expect(failed?.steps.first?.record.end?.verdict == .failed)
        guard case .job(let again)? = failed?.deadLetters.first?.content else {
            Issue.record("no job was left")
            return
        }
        desk.deliver(again)
        desk.deliver(again)
        let orders = desk.fetches()
        #expect(orders.map(\.request.cursor) == [.token(RawJSON("7"))])
        desk.answer(orders)
        let done = desk.commit()?.steps.first
        #expect(done?.batches.map(\.number) == [2] && done?.record.end?.verdict == .complete && done?.record.run == 1)
        desk.deliver(again)
        #expect(desk.fetches().isEmpty)
    }

    @Test func `jobs that cannot be run are set aside with a reason`() {
        let desk = Desk()
        desk.deliver(Job(crawl: "a", source: "t"))
        desk.deliver(Job(crawl: "b", source: "s", params: ["colour": "red"]))
        desk.deliver(Job(crawl: "c", action: .cancel))
        let transaction = desk.commit()
        #expect(transaction?.deadLetters.map(\.kind) == [.unknownSource, .unusableParams, .unknownCrawl])
        #expect(transaction?.deadLetters.first?.reason.contains("\"t\" is not known") == true)
        #expect(transaction?.offsets.first?.next == 3)
    }

    @Test func `a crawl of many pages does not keep a crawl of one page waiting`() {
        let desk = Desk(limits: WorkerLimits(maxCrawlsInFlight: 1, yieldAfter: 4))
        desk.start("long")
        desk.answer(desk.fetches())
        desk.start("short")
        var pages = 0
        while true {
            let orders = desk.fetches()
            if orders.first?.request.crawl == "short" { break }
            desk.answer(orders)
            pages += 1
            desk.commit()
        }
        #expect(pages <= 4)
    }

    @Test func `a partition that is given up takes nothing new, and is drained when its work is committed`() {
        let desk = Desk()
        desk.start()
        desk.answer(desk.fetches())
        let order = desk.fetches()
        desk.state.drain([desk.owned])
        #expect(!desk.state.isDrained([desk.owned]))
        desk.answer(order)
        #expect(desk.fetches().isEmpty)
        #expect(desk.commit(deliverNext: false)?.pages == [1])
        #expect(desk.state.isDrained([desk.owned]))
        desk.state.drop([desk.owned])
        #expect(desk.state.walks.isEmpty && desk.state.heldBytes == 0)
    }

    @Test func `work of a partition that was lost while its transaction was under way is forgotten`() {
        let desk = Desk()
        desk.start()
        desk.answer(desk.fetches())
        _ = desk.state.takeTransaction(now: desk.now)
        desk.state.drop([desk.owned])
        desk.state.assign(AssignedPartition(owned: PartitionEpoch(partition: 0, epoch: 2), ledger: []), now: desk.now)
        desk.state.settle(.aborted(reason: "not ours"), now: desk.now)
        desk.now = desk.now + .seconds(5)
        #expect(desk.state.takeTransaction(now: desk.now) == nil)
        #expect(desk.state.heldBytes == 0)
    }

    @Test func `ended crawls are forgotten after the retention`() {
        let desk = Desk(Pagination(.singlePage))
        desk.start()
        desk.run()
        desk.commit()
        desk.now = desk.now + .seconds(8 * 86_400)
        desk.state.sweep(now: desk.now)
        let transaction = desk.commit()
        #expect(transaction?.forgotten == [ForgottenCrawl(partition: 0, crawl: "c")])
        #expect(desk.state.partitions[0]?.ledger.isEmpty == true)
    }

    @Test func `in the plain chain, more crawls than are held at once all get on`() {
        let desk = Desk(limits: WorkerLimits(runAheadPages: 0, maxCrawlsHeld: 1))
        desk.start("a")
        desk.run()
        let first = desk.commit(deliverNext: false)
        #expect(!desk.state.isFull, "a crawl whose job is on its way is not held")
        desk.start("b")
        desk.run()
        let second = desk.commit(deliverNext: false)
        desk.deliver(first!.steps[0].next!)
        #expect(desk.run() == 1)
        desk.commit(deliverNext: false)
        desk.deliver(second!.steps[0].next!)
        #expect(desk.run() == 1)
    }

    @Test func `dead letters are committed a limited number at a time, each with an offset past its job`() {
        let desk = Desk()
        for number in 0..<2_500 { desk.deliver(Job(crawl: "c\(number)", source: "unknown source")) }
        var counts: [Int] = []
        while let transaction = desk.commit() {
            counts.append(transaction.deadLetters.count)
            #expect(transaction.offsets.first?.next == Int64(counts.reduce(0, +)))
        }
        #expect(counts == [1_000, 1_000, 500])
    }

    @Test func `a worker takes no further jobs while many dead letters wait behind a job that is not done`() {
        let desk = Desk()
        desk.start()
        desk.fail(desk.fetches(), SourceError(.throttled, "429", retryAfter: .seconds(600)))
        desk.commit(deliverNext: false)
        desk.start("held")
        desk.fail(desk.fetches(), SourceError(.unavailable, "503"))
        for number in 0..<10_000 { desk.deliver(Job(crawl: "c\(number)", source: "unknown source")) }
        #expect(desk.state.isFull)
        #expect(desk.state.takeTransaction(now: desk.now) == nil)
        desk.now = desk.now + .seconds(61)
        _ = desk.fetches()
        while desk.commit(deliverNext: false) != nil {}
        #expect(!desk.state.isFull)
    }

    @Test func `a crawl that began again is not forgotten with its run before`() {
        let desk = Desk(Pagination(.singlePage))
        desk.start()
        desk.run()
        desk.commit()
        desk.now = desk.now + .seconds(8 * 86_400)
        desk.start()
        desk.run()
        let second = desk.state.takeTransaction(now: desk.now)
        desk.state.sweep(now: desk.now)
        desk.state.settle(.committed, now: desk.now)
        #expect(second?.steps.first?.record.run == 2)
        #expect(desk.commit()?.forgotten.isEmpty != false)
        #expect(desk.state.partitions[0]?.ledger["c"]?.run == 2)
    }

    @Test func `a cancel that was too late stays too late when it is delivered again, whatever the clocks said`() {
        let desk = Desk(Pagination(.singlePage))
        desk.start()
        desk.run()
        desk.commit()
        let late = desk.deliver(Job(crawl: "c", action: .cancel), time: 5_000)
        desk.deliver(Job(crawl: "c", source: "s"), time: 4_990)
        desk.run()
        let record = desk.commit()?.steps.first?.record
        #expect(record?.run == 2)
        let again = JobPosition(offset: late, timestamp: Timestamp(milliseconds: 5_000))
        #expect(
            Admission.of(Job(crawl: "c", action: .cancel), at: again, known: .committed(record), now: desk.now)
                == .stale)
    }

    @Test func `a restart with another source is heard although the first source is gone`() {
        var paused = CrawlRecord(
            crawl: "c", run: 1, source: "gone", startedAt: Timestamp(milliseconds: 0),
            newestJob: JobPosition(offset: -1, timestamp: Timestamp(milliseconds: -1)))
        paused.status = .paused
        let desk = Desk(ledger: [paused])
        desk.deliver(Job(crawl: "c", action: .restart, source: "s"))
        let failed = desk.commit(deliverNext: false)?.steps.first?.record
        #expect(failed?.end?.reason == .unusableParams)
        #expect(desk.fetches().count == 1)
        #expect(desk.state.walks.values.first?.record.run == 2)
    }

    @Test(arguments: [(1, 10), (2, 5)])
    func `requests keep the pace of the deployment, by the share of the partitions`(partitions: Int, expected: Int) {
        let desk = Desk(requestsPerSecond: 10, partitionCount: partitions)
        for crawl in 0..<3 { desk.start("c\(crawl)") }
        var requests = 0
        let end = desk.now + .seconds(10)
        while desk.now < end {
            let orders = desk.fetches()
            requests += orders.count
            desk.answer(orders)
            desk.commit()
            guard let wake = desk.state.nextWake(after: desk.now) else {
                Issue.record("nothing wakes the worker")
                return
            }
            desk.now = max(desk.now + .milliseconds(1), wake)
        }
        #expect((expected * 10 - 1...expected * 10 + 1).contains(requests))
    }

    @Test func `what an upstream asks of one crawl, all crawls of its source heed`() {
        let desk = Desk()
        desk.start("a")
        desk.start("b")
        let orders = desk.fetches()
        desk.fail([orders[0]], SourceError(.throttled, "429", retryAfter: .seconds(30)))
        desk.answer([orders[1]])
        #expect(desk.fetches().isEmpty)
        #expect(desk.state.nextWake(after: desk.now).map { $0 <= desk.now + .seconds(30) } == true)
        desk.now = desk.now + .seconds(30)
        #expect(desk.fetches().count == 2)
    }

    @Test func `bytes held ahead are given back when they are committed`() {
        let desk = Desk(limits: WorkerLimits(stagedBytes: 100))
        for crawl in 0..<5 { desk.start("c\(crawl)") }
        desk.run(items: 10)
        #expect(desk.state.heldBytes >= 100)
        while desk.commit(deliverNext: false) != nil {}
        #expect(desk.state.heldBytes == 0)
        #expect(!desk.fetches().isEmpty)
    }
}
