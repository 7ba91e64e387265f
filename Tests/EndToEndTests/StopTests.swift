import BrokerSupport
import Foundation
import Kafka
import Testing

/// How workers end, and how others go on for them.
@Suite(.serialized, .broker(.staleGenerationRefused, .waitsForOpenTransactions, .timesOutTransactions))
struct `Workers that end` {
    @Test(.timeLimit(.minutes(10)))
    func `a worker that is asked to stop commits what is done and exits 0 within its grace`() async throws {
        let upstream = try PagedUpstream(pages: 100, itemsPerPage: 2, hangsAt: 4)
        let deployment = try await Deployment(
            on: try await TestBroker.shared().bootstrapServers, sources: ["pages": upstream.sourceFile])
        let worker = try deployment.startWorker()
        try await deployment.start("pages", crawls: ["a"])
        try await deployment.waitForPages(3, of: ["a"])
        let asked = ContinuousClock.now
        #expect(await worker.stop() == .code(0), "\(worker.lastLine)")
        let took = ContinuousClock.now - asked
        #expect(took < deployment.shutdownGrace)
        print("    stopped in \(took) with a request under way")
        try await deployment.expectNoOpenTransaction()
        #expect(try await Committed.read(deployment).pages["a"]?.map(\.page) == [1, 2, 3])
        deployment.remove()
    }

    @Test(.timeLimit(.minutes(10)))
    func `of two workers with one slot one ends with a clear line, and the other goes on`() async throws {
        let upstream = try PagedUpstream(pages: 60, itemsPerPage: 2, latency: .milliseconds(50))
        let deployment = try await Deployment(
            on: try await TestBroker.shared().bootstrapServers, sources: ["pages": upstream.sourceFile])
        let first = try deployment.startWorker(slot: "same")
        try await deployment.start("pages", crawls: ["a"])
        try await deployment.waitForPages(5, of: ["a"])
        let second = try deployment.startWorker(slot: "same")
        _ = await first.wait(within: .seconds(30)) { _ in !first.isRunning || !second.isRunning }
        let (loser, winner) = first.isRunning ? (second, first) : (first, second)
        #expect(loser.exit == .code(1))
        #expect(loser.lastLine.hasPrefix("pagehound: ") && loser.lastLine.contains("\"same\""), "\(loser.errors)")
        print("    the \(loser === first ? "first" : "second") ended: \(loser.lastLine)")
        #expect(try await deployment.waitForEnds(of: ["a"], within: .seconds(60)))
        let committed = try await Committed.read(deployment)
        #expect(committed.faults(of: "a", pages: 60, itemsPerPage: 2) == [])
        #expect(await winner.stop() == .code(0), "\(winner.lastLine)")
        deployment.remove()
    }

    /// A session is long here, so that going on "at once" and going on after it can be told apart.
    @Test(.timeLimit(.minutes(10)), arguments: [true, false])
    func `a killed worker's crawls go on`(withItsSlot: Bool) async throws {
        let upstream = try PagedUpstream(pages: 2_000, itemsPerPage: 1, latency: .milliseconds(20))
        let deployment = try await Deployment(
            on: try await TestBroker.shared().bootstrapServers, sources: ["pages": upstream.sourceFile],
            sessionTimeout: .seconds(12))
        let worker = try deployment.startWorker(slot: withItsSlot ? "slot" : nil)
        let crawls = (0..<16).map { "crawl-\($0)" }
        try await deployment.start("pages", crawls: crawls)
        try await deployment.waitForPages(20, of: crawls)
        let other = withItsSlot ? nil : try deployment.startWorker()
        // Half of the partitions go to the other worker; the rest dies with this one.
        _ = await other?.wait(within: .seconds(30)) { $0.errors.contains("owned") }
        await worker.kill()
        let killed = ContinuousClock.now
        let before = try await Committed.read(deployment).pages
        let successor = withItsSlot ? try deployment.startWorker(slot: "slot") : nil
        try await deployment.waitForProgress(beyond: before)
        let took = ContinuousClock.now - killed
        print(
            "    all crawls went on \(took) after SIGKILL, \(withItsSlot ? "with the same slot" : "at another worker")")
        #expect(took < (withItsSlot ? deployment.sessionTimeout : .seconds(12 + 3 + 10)))
        for process in [other, successor].compactMap(\.self) {
            #expect(await process.stop() == .code(0), "\(process.lastLine)")
        }
        deployment.remove()
    }
}
