import BrokerSupport
import Foundation
import Testing

/// One crawl on a real broker with run-ahead, and as a plain chain of one job message a page. Figures, not assertions:
/// `deploy/bench-run-ahead` prints them.
@Suite(
    .serialized, .broker(.readCommitted),
    .enabled(if: ProcessInfo.processInfo.environment["PAGEHOUND_BENCH"] != nil, "deploy/bench-run-ahead runs it"))
struct `Run-ahead` {
    @Test(.timeLimit(.minutes(10)))
    func `is measured against the plain chain`() async throws {
        let chain = try await pagesPerSecond(runAhead: 0, pages: 1_000)
        let ahead = try await pagesPerSecond(runAhead: 128, pages: 10_000)
        print("    plain chain: \(Int(chain)) pages/s; run-ahead: \(Int(ahead)) pages/s; \(Int(ahead / chain)) times")
    }

    /// Pages a second between the first and the last commit of a crawl, counted by the records' own times.
    private func pagesPerSecond(runAhead: Int, pages: Int64) async throws -> Double {
        let upstream = try PagedUpstream(pages: pages, itemsPerPage: 10)
        let broker = try await TestBroker.shared().bootstrapServers
        let deployment = try await Deployment(on: broker, sources: ["pages": upstream.sourceFile], runAhead: runAhead)
        let worker = try deployment.startWorker()
        // The first crawl warms the broker up.
        for crawl in ["warm", "measured"] {
            try await deployment.start("pages", crawls: [crawl])
            #expect(try await deployment.waitForEnds(of: [crawl], within: .seconds(200)), "\(worker.lastLine)")
        }
        let times = try await Committed.records(of: deployment.pages, deployment.client)
            .filter { $0.key == Array("measured".utf8) }.map(\.timestamp)
        #expect(times.count == Int(pages))
        #expect(await worker.stop() == .code(0))
        deployment.remove()
        return Double(times.count) / (Double(times.max()! - times.min()!) / 1_000)
    }
}
