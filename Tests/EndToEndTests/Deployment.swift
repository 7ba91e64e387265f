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
        prefix = "e2e-\(UUID().uuidString.prefix(8))."
        folder = FileManager.default.temporaryDirectory.appending(path: "pagehound-\(prefix)")
        let configFolder = folder.appending(path: "config/sources")
        try FileManager.default.createDirectory(at: configFolder, withIntermediateDirectories: true)
        for (name, text) in sources {
            try Data(text.utf8).write(to: configFolder.appending(path: "\(name).yaml"))
        }
        try Data(configuration(runAhead: runAhead).utf8).write(to: folder.appending(path: "config/worker.yaml"))
        let made = try await run("topics", "create", "--partitions", "\(partitions)")
        try #require(made.status == .exited(0), "\(made.errors)")
    }

    private func configuration(runAhead: Int) -> String {
        """
        kafka:
          bootstrap_servers: \(bootstrapServers)
          session_timeout: \(sessionTimeout.components.seconds)s
          transaction_timeout: 3s
        topics: {prefix: \(prefix)}
        group: \(group)
        run_ahead: {max_pages: \(runAhead)}
        shutdown: {grace: \(shutdownGrace.components.seconds)s}

        """
    }

    /// Starts a worker process. What it says goes to `worker-NAME.log` in the folder.
    func startWorker(_ name: String, slot: String? = nil) throws -> ChildProcess {
        let log = logFile(ofWorker: name)
        if !FileManager.default.fileExists(atPath: log.path()) { try Data().write(to: log) }
        let errors = try FileHandle(forWritingTo: log)
        try errors.seekToEnd()
        defer { try? errors.close() }
        let arguments = ["worker"] + (slot.map { ["--slot", $0] } ?? [])
        return try ChildProcess(pagehound, arguments, in: folder, errors: errors)
    }

    /// The last line that a worker said.
    func lastLine(ofWorker name: String) -> String {
        let text = (try? String(contentsOf: logFile(ofWorker: name), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").last.map(String.init) ?? "(nothing)"
    }

    private func logFile(ofWorker name: String) -> URL { folder.appending(path: "worker-\(name).log") }

    /// Runs a command of `pagehound` to its end.
    func run(_ words: String...) async throws -> ChildProcess.Result {
        try await ChildProcess.run(pagehound, words, in: folder)
    }

    /// Sends triggers, as users do.
    func start(_ source: String, crawls: [String]) async throws {
        let producer = try Producer(ProducerConfiguration(client, topics: [jobs]))
        let records = crawls.map { crawl in
            ProducerRecord(
                topic: jobs, key: Array(crawl.utf8),
                value: Array(#"{"source":"\#(source)","params":{"crawl":"\#(crawl)"}}"#.utf8))
        }
        _ = try await producer.send(records)
        _ = await producer.close()
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }
}

/// The command that is tested; it is built beside the tests.
let pagehound = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    .appending(path: "pagehound")
