import BrokerSupport
import Foundation
import Kafka
import Testing

/// One deployment of Pagehound for a test: a broker, a prefix of its own, and a folder with configuration and sources.
struct Deployment {
    let bootstrapServers: String
    let prefix: String
    let folder: URL
    let sessionTimeout: Duration
    let shutdownGrace: Duration

    var group: String { "\(prefix)group" }
    var jobs: String { "\(prefix)jobs" }
    var pages: String { "\(prefix)pages" }
    var crawls: String { "\(prefix)crawls" }
    var dead: String { "\(prefix)dead" }
    var topics: [String] { [jobs, pages, crawls, dead] }

    /// What the tests' own clients connect with.
    var client: ClientConfiguration { ClientConfiguration(bootstrapServers: bootstrapServers, clientId: "test") }

    /// Writes the files and creates the topics with the command that users have for it.
    ///
    /// - Parameter sources: name → text of the source file.
    init(
        on bootstrapServers: String, sources: [String: String], partitions: Int = 4,
        sessionTimeout: Duration = .seconds(6), runAhead: Int = 128
    ) async throws {
        self.bootstrapServers = bootstrapServers
        self.sessionTimeout = sessionTimeout
        shutdownGrace = .seconds(10)
        folder = try makeTemporaryDirectory("end-to-end")
        prefix = "\(folder.lastPathComponent)."
        try FileManager.default.createDirectory(
            at: folder.appending(path: "sources"), withIntermediateDirectories: true)
        for (name, text) in sources {
            try Data(text.utf8).write(to: folder.appending(path: "sources/\(name).yaml"))
        }
        try Data(configuration(runAhead: runAhead).utf8).write(to: configurationFile)
        let made = try await run("topics", "create", "--partitions", "\(partitions)")
        try #require(made.exit == .code(0), "\(made.errors)")
    }

    private func configuration(runAhead: Int) -> String {
        """
        kafka:
          bootstrap_servers: \(bootstrapServers)
          session_timeout: \(sessionTimeout.components.seconds)s
          transaction_timeout: 3s
        topics: {prefix: \(prefix)}
        group: \(group)
        sources: \(folder.path())sources
        run_ahead: {max_pages: \(runAhead)}
        shutdown: {grace: \(shutdownGrace.components.seconds)s}

        """
    }

    private var configurationFile: URL { folder.appending(path: "worker.yaml") }

    func startWorker(slot: String? = nil) throws -> ChildProcess {
        try start(["worker"] + (slot.map { ["--slot", $0] } ?? []))
    }

    /// Runs a command of `pagehound` to its end.
    func run(_ words: String...) async throws -> ChildProcess {
        let process = try start(words)
        if await process.waitForExit(within: .seconds(120)) == nil { await process.kill() }
        return process
    }

    func start(_ words: [String]) throws -> ChildProcess {
        try ChildProcess(
            pagehound.path(), words + ["--config", configurationFile.path()],
            environment: ["SWIFT_BACKTRACE": "threads=crashed,registers=none,images=none"], directory: folder)
    }

    /// Sends triggers, as users do.
    ///
    /// - Parameter params: each crawl brings its own name as a param.
    func start(_ source: String, crawls: [String], params: Bool = true) async throws {
        let producer = try Producer(ProducerConfiguration(client, topics: [jobs]))
        let records = crawls.map { crawl in
            let params = params ? #","params":{"crawl":"\#(crawl)"}"# : ""
            let value = #"{"source":"\#(source)"\#(params)}"#
            return ProducerRecord(topic: jobs, key: Array(crawl.utf8), value: Array(value.utf8))
        }
        _ = try await producer.send(records)
        _ = await producer.close()
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }
}

extension ChildProcess {
    /// The last line that it said to standard error.
    var lastLine: String { errors.split(separator: "\n").last.map(String.init) ?? "(nothing)" }

    /// Asks it to stop, and waits for the end.
    func stop(within limit: Duration = .seconds(30)) async -> Exit? {
        send(SIGTERM)
        return await waitForExit(within: limit)
    }
}

/// The command that is tested; it is built beside the tests.
let pagehound = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    .appending(path: "pagehound")
