import BrokerSupport
import Foundation
import Testing

/// Real servers, crawled whole by worker processes.
@Suite(.serialized) struct `Real upstreams` {
    @Test(
        .enabled(if: UpstreamServer.python != nil, "deploy/test fetches the servers and sets PAGEHOUND_UPSTREAMS"),
        .broker(.readCommitted), .timeLimit(.minutes(5)),
        arguments: ["datasette", "drf"])
    func `are crawled completely, each item once`(server name: String) async throws {
        let broker = try await TestBroker.shared().bootstrapServers
        let server = try await UpstreamServer(name)
        let listings = Listing.all.filter { $0.server == name }
        let files = listings.map { ($0.name, $0.sourceFile(port: server.port)) }
        let deployment = try await Deployment(on: broker, sources: Dictionary(uniqueKeysWithValues: files))
        let workers = try (0..<2).map { _ in try deployment.startWorker() }
        for listing in listings { try await deployment.start(listing.name, crawls: [listing.name], params: false) }
        let ended = try await deployment.waitForEnds(of: listings.map(\.name), within: .seconds(120))
        #expect(ended, "\(workers.map(\.errors).joined())")
        for worker in workers { #expect(await worker.stop() == .code(0), "\(worker.lastLine)") }

        let committed = try await Committed.read(deployment)
        for listing in listings {
            let ids = (committed.pages[listing.name] ?? []).flatMap(\.items).map(\.identity)
            #expect(ids.count == server.expectedItems, "\(listing)")
            #expect(try await hash(ofIds: ids) == server.expectedHash, "\(listing)")
            let end = committed.ends[listing.name]?.first
            #expect(
                end?.verdict == "complete" && end?.reason == listing.reason, "\(listing): \(String(describing: end))")
        }
        await server.stop()
        deployment.remove()
    }

    /// The hash that Debian 12's iso-codes have, counted by other means: `sqlite3 … | LC_ALL=C sort | sha256sum`.
    @Test(.enabled(if: UpstreamServer.python != nil, "deploy/test fetches the servers and sets PAGEHOUND_UPSTREAMS"))
    func `serve the data that they are known for`() async throws {
        let server = try await UpstreamServer("datasette")
        if server.expectedItems == 7_910 {
            #expect(server.expectedHash == "b0767fe890705a3c17748878cccee8d1752c67708f5d90f7407a81fc81012963")
        }
        await server.stop()
    }
}

/// SHA-256 over the distinct ids, sorted by bytes, a line each; `sha256sum` does the counting.
func hash(ofIds ids: [String]) async throws -> String {
    let text = Set(ids).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { $0 + "\n" }.joined()
    let file = try makeTemporaryDirectory("ids").appending(path: "sorted")
    try Data(text.utf8).write(to: file)
    let counting = try ChildProcess("sha256sum", [file.path()])
    _ = await counting.waitForExit(within: .seconds(30))
    return String(counting.output.prefix { $0 != " " })
}
