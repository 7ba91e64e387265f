import BrokerSupport
import Crawl
import Foundation
import Kafka
import Testing

/// Workers, and then brokers, that are killed and frozen while crawls run; read back by a `read_committed` reader.
///
/// `PAGEHOUND_FAULTS` and `PAGEHOUND_BROKER_FAULTS` say after how many faults of workers the last crawls begin,
/// `PAGEHOUND_SEED` repeats a schedule. `deploy/kill-test` sets them for longer runs.
@Suite(.serialized, .broker(.staleGenerationRefused, .waitsForOpenTransactions, .timesOutTransactions))
struct `Kill tests` {
    @Test(.timeLimit(.minutes(60)))
    func `each page comes once and in order, whatever is killed`() async throws {
        let faults = number("PAGEHOUND_FAULTS") ?? 100
        let broker = try await TestBroker.shared()
        try await KillRun(on: broker.bootstrapServers, seed: seed, faults: faults).run()
    }

    @Test(.broker(.canKillNodes), .timeLimit(.minutes(60)))
    func `each page comes once and in order, also when brokers are killed and frozen`() async throws {
        let cluster = try await TestBroker.start(nodes: 3)
        let faults = number("PAGEHOUND_BROKER_FAULTS") ?? 40
        let run = try await KillRun(on: cluster.bootstrapServers, seed: seed, faults: faults, brokersFail: true)
        let brokerFaults = BrokerFaults(cluster, seed: seed)
        await brokerFaults.start()
        try await run.run { print("    brokers: \(try await brokerFaults.end())") }
        await cluster.stop()
    }

    private let seed = UInt64(number("PAGEHOUND_SEED") ?? Int(UInt32.random(in: 0 ... .max)))
}

private func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap { Int($0) } }

/// One run of a kill test: crawls in rounds, faults all the while, then the reckoning.
struct KillRun {
    static let pagesPerCrawl: Int64 = 200
    static let crawlsPerRound = 24
    static let itemsPerPage = 3

    let seed: UInt64
    let faults: Int
    /// Brokers fail too: then a worker may not get to stop in order.
    let brokersFail: Bool
    let upstream: PagedUpstream
    let deployment: Deployment
    let crew: WorkerCrew

    init(on bootstrapServers: String, seed: UInt64, faults: Int, brokersFail: Bool = false) async throws {
        self.seed = seed
        self.faults = faults
        self.brokersFail = brokersFail
        upstream = try PagedUpstream(
            pages: Self.pagesPerCrawl, itemsPerPage: Self.itemsPerPage, latency: .milliseconds(5))
        deployment = try await Deployment(
            on: bootstrapServers, sources: ["pages": upstream.sourceFile], sessionTimeout: .seconds(4))
        crew = WorkerCrew(deployment, workers: 3, brokersFail: brokersFail)
    }

    /// - Parameter settle: ends what else is disturbed, before what was committed is read.
    func run(settle: () async throws -> Void = {}) async throws {
        print("    seed \(seed), at least \(faults) faults; PAGEHOUND_SEED=\(seed) repeats the schedule")
        let began = ContinuousClock.now
        try await crew.startAll()
        let crawls = try await crawlUnderFaults()
        try await settle()
        let tally = await crew.tally
        print("    \(tally)\n    \(crawls.count) crawls in \(ContinuousClock.now - began)")
        await crew.stopAll()
        for failure in await crew.failures { Issue.record("\(failure)") }
        #expect(tally.total >= faults)

        try await deployment.expectNoOpenTransaction()
        let committed = try await Committed.read(deployment)
        check(committed, crawls)
        try await runAgainFromTheBeginning(committed, crawls)
        if await crew.failures.isEmpty { deployment.remove() }
    }

    /// Rounds of crawls until enough faults were done. Returns the crawls.
    private func crawlUnderFaults() async throws -> [String] {
        let faultLoop = Task {
            var schedule = FaultSchedule(seed: seed, workers: 3, sessionTimeout: deployment.sessionTimeout)
            while !Task.isCancelled {
                let fault = schedule.next()
                try? await Task.sleep(for: fault.pause)
                if !Task.isCancelled { await crew.perform(fault) }
            }
        }
        defer { faultLoop.cancel() }
        var crawls: [String] = []
        repeat {
            let round = crawls.count / Self.crawlsPerRound
            let names = (0..<Self.crawlsPerRound).map { "round-\(round)-crawl-\($0)" }
            crawls += names
            try await deployment.start("pages", crawls: names)
            guard try await deployment.waitForEnds(of: names, within: .seconds(900)) else {
                Issue.record("round \(round) did not end within 15 minutes; logs are in \(deployment.folder.path())")
                break
            }
            print("    round \(round): all ended, after \(await crew.tally.total) faults")
        } while await crew.tally.total < faults
        return crawls
    }

    private func check(_ committed: Committed, _ crawls: [String]) {
        for crawl in crawls {
            let faults = committed.faults(of: crawl, pages: Self.pagesPerCrawl, itemsPerPage: Self.itemsPerPage)
            if !faults.isEmpty { Issue.record("seed \(seed): \(faults.joined(separator: "; "))") }
        }
        #expect(Set(committed.pages.keys) == Set(crawls))
    }

    /// All jobs again, to workers that know what was done: nothing new may come of it.
    private func runAgainFromTheBeginning(_ before: Committed, _ crawls: [String]) async throws {
        let requests = upstream.requestCount
        try await deployment.resetOffsets()
        let workers = try (0..<2).map { _ in try deployment.startWorker() }
        try await deployment.waitUntilAllJobsAreDone(within: .seconds(60))
        for worker in workers { #expect(await worker.stop() == .code(0), "\(worker.lastLine)") }
        let after = try await Committed.read(deployment)
        #expect(after.pages == before.pages)
        #expect(after.ends == before.ends)
        print("    from the beginning again: \(upstream.requestCount - requests) requests, no new page")
    }
}
