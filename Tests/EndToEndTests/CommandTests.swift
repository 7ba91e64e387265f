import BrokerSupport
import Foundation
import Testing

/// The commands as a person at a terminal meets them.
@Suite struct `The command` {
    @Test(.timeLimit(.minutes(10)))
    func `demo crawls its catalogue to the verdict complete`() async throws {
        let demo = try await run("demo")
        #expect(demo.exit == .code(0), "\(demo.errors)")
        #expect(demo.output.contains("complete (total_reached), 100 pages, 2500 items"), "\(demo.output)")
        #expect(demo.output.contains(#"{"id":1,"name":"Green tea no. 1""#), "\(demo.output)")
    }

    @Test(arguments: [
        ([], "pagehound: no command; see pagehound --help"),
        (["wroker"], #"pagehound: unknown command "wroker"; did you mean worker?"#),
        (["start"], "pagehound: SOURCE is missing"),
        (["start", "x", "--max-page", "3"], #"pagehound: unknown option "--max-page"; did you mean --max-pages?"#),
        (["worker", "--config", "/no/such/file"], "pagehound: /no/such/file: no such file"),
    ])
    func `what cannot be used ends with 2 and one line`(words: [String], line: String) async throws {
        let process = try await run(words)
        #expect(process.exit == .code(2))
        #expect(process.errors.hasPrefix(line), "\(process.errors)")
        #expect(process.errors.split(separator: "\n").count == 1)
        #expect(process.output.isEmpty)
    }

    @Test func `help goes to standard output`() async throws {
        let help = try await run("--help")
        #expect(help.exit == .code(0))
        for command in ["worker", "start", "status", "topics create", "demo"] { #expect(help.output.contains(command)) }
        let start = try await run("start", "--help")
        #expect(start.exit == .code(0) && start.output.contains("--max-pages N"))
    }

    @Test(.timeLimit(.minutes(10)))
    func `a worker that cannot reach Kafka ends with 1 and a clear line`() async throws {
        let folder = try makeTemporaryDirectory("unreachable")
        let file = folder.appending(path: "worker.yaml")
        let sources = try makeTemporaryDirectory("sources").path()
        try Data("kafka: {bootstrap_servers: \"127.0.0.1:1\"}\nsources: \(sources)\n".utf8).write(to: file)
        let worker = try await run("worker", "--config", file.path())
        #expect(worker.exit == .code(1))
        #expect(worker.lastLine.hasPrefix("pagehound: "), "\(worker.errors)")
        #expect(worker.lastLine.contains("127.0.0.1:1"), "\(worker.errors)")
    }

    @Test(.broker(.readCommitted), .timeLimit(.minutes(10)))
    func `start --wait follows a crawl to its verdict, and status shows it`() async throws {
        let upstream = try PagedUpstream(pages: 7, itemsPerPage: 2, latency: .milliseconds(20))
        let deployment = try await Deployment(
            on: try await TestBroker.shared().bootstrapServers, sources: ["pages": upstream.sourceFile])
        let worker = try deployment.startWorker()
        let whole = try await deployment.run("start", "pages", "--crawl", "a", "--param", "crawl=a", "--wait")
        #expect(whole.exit == .code(0), "\(whole.errors)")
        #expect(whole.output.contains("crawl a: complete (total_reached), 7 pages, 14 items"), "\(whole.output)")
        let cut = try await deployment.run("start", "pages", "--param=crawl=b", "--max-pages", "2", "--wait")
        #expect(cut.exit == .code(3), "\(cut.errors)")
        #expect(cut.output.contains("truncated (limit_hit), 2 pages, 4 items"), "\(cut.output)")
        let unknown = try await deployment.run("start", "pagse", "--wait")
        #expect(unknown.exit == .code(1))
        #expect(unknown.errors.contains(#"did you mean "pages"?"#), "\(unknown.errors)")

        let all = try await deployment.run("status")
        #expect(all.exit == .code(0) && all.output.split(separator: "\n").count == 3, "\(all.output)")
        let one = try await deployment.run("status", "a")
        #expect(one.output.contains("complete (total_reached)") && one.output.contains("14 of 14"), "\(one.output)")
        let none = try await deployment.run("status", "aa")
        #expect(none.exit == .code(1) && none.errors.contains("did you mean a?"), "\(none.errors)")
        #expect(await worker.stop() == .code(0), "\(worker.lastLine)")
        deployment.remove()
    }

    @Test(.broker(.readCommitted), .timeLimit(.minutes(10)))
    func `topics are created once, and left as they are`() async throws {
        let deployment = try await Deployment(on: try await TestBroker.shared().bootstrapServers, sources: [:])
        let again = try await deployment.run("topics", "create", "--partitions", "9")
        #expect(again.exit == .code(0))
        #expect(again.output.split(separator: "\n").allSatisfy { $0.hasSuffix("is there already, left as it is") })
        deployment.remove()
    }

    private func run(_ words: String...) async throws -> ChildProcess { try await run(words) }

    private func run(_ words: [String]) async throws -> ChildProcess {
        let process = try ChildProcess(pagehound.path(), words)
        if await process.waitForExit(within: .seconds(100)) == nil { await process.kill() }
        return process
    }
}
