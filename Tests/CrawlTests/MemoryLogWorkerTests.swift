import Crawl
import CrawlTesting
import Synchronization
import Testing

/// The worker as it runs, with tasks and a clock, on logs in memory.
@Suite(.timeLimit(.minutes(10)))
struct MemoryLogWorkerTests {
    private let cluster = MemoryCluster(MemoryBroker(partitions: 3))

    @Test(arguments: [0, 1, 128])
    func `a worker crawls a source to its end`(runAhead: Int) async throws {
        let source = ScriptedSource.pages(count: 5, itemsPerPage: 2)
        start("a", in: 0)
        let worker = run(source, MemoryLog(cluster), runAhead: runAhead)
        await cluster.wait { ended("a", in: 0, $0) }
        try await stop(worker)
        #expect(published(in: 0) == (1...5).map { "a \($0)" })
        #expect(source.fetches == 5)
        #expect(cluster.read { $0.ledger(of: 0).first?.end } == .init(.complete, .noNextCursor))
    }

    @Test func `an aborted step commits again without a new request`() async throws {
        let aborts = Mutex(3)
        let log = MemoryLog(cluster) { point in
            let isDue = aborts.withLock { left in
                if point == .sent, left > 0 {
                    left -= 1
                    return true
                }
                return false
            }
            return isDue ? .abort(reason: "bad luck") : nil
        }
        let source = ScriptedSource.pages(count: 4, itemsPerPage: 1)
        start("a", in: 1)
        let worker = run(source, log)
        await cluster.wait { ended("a", in: 1, $0) }
        try await stop(worker)
        #expect(published(in: 1) == (1...4).map { "a \($0)" })
        #expect(source.fetches == 4)
    }

    @Test(arguments: MemoryLog.CommitPoint.allCases)
    func `a worker whose log fails stops, and another finishes its crawl`(point: MemoryLog.CommitPoint) async throws {
        let log = MemoryLog(cluster) { $0 == point ? .fail(LogFailure("the log is gone")) : nil }
        start("a", in: 2)
        let first = run(ScriptedSource.pages(count: 3, itemsPerPage: 1), log)
        await #expect(throws: LogFailure.self) { try await first.value }
        cluster.update { broker in
            for member in broker.membersWithOpenTransactions { broker.timeOutTransactions(of: member) }
        }
        let second = run(ScriptedSource.pages(count: 3, itemsPerPage: 1), MemoryLog(cluster))
        await cluster.wait { ended("a", in: 2, $0) }
        try await stop(second)
        #expect(published(in: 2) == (1...3).map { "a \($0)" })
    }

    @Test func `a worker that is stopped leaves what it did not finish to another`() async throws {
        let gate = Gate()
        let source = ScriptedSource(Script(.cursor, pages: 4, itemsPerPage: 1)) { request in
            if request.page == 3 { await gate.pass() }
        }
        gate.close()
        start("a", in: 0)
        let first = run(source, MemoryLog(cluster))
        await cluster.wait { $0.pages[0].committed().count == 2 }
        first.cancel()
        await cluster.wait { $0.group.isEmpty }
        gate.open()
        try await stop(first)
        let second = run(ScriptedSource.pages(count: 4, itemsPerPage: 1), MemoryLog(cluster))
        await cluster.wait { ended("a", in: 0, $0) }
        try await stop(second)
        #expect(published(in: 0) == (1...4).map { "a \($0)" })
    }

    @Test func `a log that crashes before it runs is no member`() async throws {
        let log = MemoryLog(cluster)
        log.crash()
        await #expect(throws: LogFailure.self) { try await run(.pages(count: 1, itemsPerPage: 1), log).value }
        #expect(cluster.read { $0.group.isEmpty })
    }

    @Test func `crawls go on without a gap or a double while workers crash and come`() async throws {
        let crawls = (0..<12).map { (name: "crawl-\($0)", partition: Int32($0 % 3)) }
        for crawl in crawls { start(crawl.name, in: crawl.partition) }
        let source = ScriptedSource.pages(count: 20, itemsPerPage: 1)
        let survivor = run(source, MemoryLog(cluster), runAhead: 2)
        for _ in 0..<5 {
            let log = MemoryLog(cluster)
            let visitor = run(source, log, runAhead: 2)
            let done = cluster.read { $0.committedSteps }
            await cluster.wait { $0.committedSteps >= done + 10 || isAllDone(crawls, $0) }
            log.crash()
            visitor.cancel()
            _ = await visitor.result
        }
        await cluster.wait { isAllDone(crawls, $0) }
        try await stop(survivor)
        for partition in Int32(0)...2 {
            let expected = crawls.filter { $0.partition == partition }.map { crawl in
                (1...20).map { "\(crawl.name) \($0)" }
            }
            for pages in expected {
                let name = pages[0].prefix { $0 != " " }
                #expect(published(in: partition).filter { $0.hasPrefix(name + " ") } == pages)
            }
        }
    }

    // MARK: What the tests are made of

    private func start(_ crawl: String, in partition: Int32) {
        cluster.update { $0.produce(Job(crawl: crawl, source: "products"), to: partition) }
    }

    private func run(_ source: ScriptedSource, _ log: MemoryLog, runAhead: Int = 128) -> Task<Void, any Error> {
        let limits = WorkerLimits(runAheadPages: runAhead, commitInterval: .milliseconds(1))
        let worker = Worker(sources: [source.source(named: "products")], log: log, limits: limits)
        return Task { try await worker.run() }
    }

    private func stop(_ worker: Task<Void, any Error>) async throws {
        worker.cancel()
        try await worker.value
    }

    private func published(in partition: Int32) -> [String] {
        cluster.read { $0.pages[Int(partition)].committed() }.map { "\($0.value.crawl) \($0.value.number)" }
    }
}

private func ended(_ crawl: String, in partition: Int32, _ broker: borrowing MemoryBroker) -> Bool {
    broker.ledger(of: partition).contains { $0.crawl == crawl && $0.isEnded }
}

private func isAllDone(_ crawls: [(name: String, partition: Int32)], _ broker: borrowing MemoryBroker) -> Bool {
    for crawl in crawls where !ended(crawl.name, in: crawl.partition, broker) { return false }
    return true
}

extension MemoryBroker {
    fileprivate var committedSteps: Int { crawls.reduce(0) { $0 + $1.committed().count } }
}
