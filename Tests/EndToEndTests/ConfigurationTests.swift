import Crawl
import Foundation
import Testing

@testable import Pagehound

@Suite struct `The worker's configuration` {
    @Test func `the file in config says the defaults, with every key`() throws {
        let path = repository.appending(path: "config/worker.yaml").path()
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(try read(text) == WorkerConfiguration())
        for key in ["session_timeout", "properties", "prefix", "group", "slot", "sources", "max_pages", "interval"] {
            #expect(text.contains("\(key):"))
        }
    }

    @Test func `every key arrives`() throws {
        let read = try read(
            """
            kafka:
              bootstrap_servers: a:1,b:2
              session_timeout: 30s
              transaction_timeout: 5s
              max_message_bytes: 1MiB
              properties: {security.protocol: SSL}
            topics: {prefix: x.}
            group: g
            slot: "0"
            sources: /etc/sources
            run_ahead: {max_pages: 1, max_bytes: 2KiB}
            commit: {interval: 3ms, max_bytes: 4KiB}
            max_crawls_in_flight: 5
            yield_after: 6
            max_crawls_held: 7
            max_bytes_held: 8KiB
            park_after: 9s
            report_waits_over: 10s
            ledger: {retention: 11d}
            shutdown: {grace: 12s}
            """)
        var wanted = WorkerConfiguration(
            kafka: KafkaSettings(
                bootstrapServers: "a:1,b:2", sessionTimeout: .seconds(30), transactionTimeout: .seconds(5),
                maxMessageBytes: 1 << 20, properties: ["security.protocol": "SSL"]),
            topicPrefix: "x.", group: "g", slot: "0", sourcesFolder: "/etc/sources")
        wanted.limits = WorkerLimits(
            runAheadPages: 1, runAheadBytes: 2_048, stagedBytes: 8_192, transactionBytes: 4_096, maxCrawlsInFlight: 5,
            yieldAfter: 6, commitInterval: .milliseconds(3), parkAfter: .seconds(9), reportWaitsOver: .seconds(10),
            ledgerRetention: .seconds(11 * 86_400), maxCrawlsHeld: 7)
        wanted.shutdownGrace = .seconds(12)
        #expect(read == wanted)
    }

    @Test func `all problems are said at once, each with its line and the nearest name`() {
        let error = problem(
            """
            kafka: {bootstrap_server: a:1, properties: {acks: 1}}
            topics: {prefix: x.}
            grup: g
            yield_after: 0
            shutdown: {grace: soon}
            """)
        #expect(
            error.contains(#"worker.yaml:1:9: unknown key "kafka.bootstrap_server"; did you mean "bootstrap_servers"?"#)
        )
        #expect(error.contains(#"worker.yaml:3:1: unknown key "grup"; did you mean "group"?"#))
        #expect(error.contains("worker.yaml:1:45: acks cannot be set: "), "\(error)")
        #expect(error.contains("worker.yaml:4:"))
        #expect(error.contains("worker.yaml:5:"))
    }

    @Test func `a transaction may not outlive a session`() {
        #expect(problem("kafka: {session_timeout: 5s}").contains("must be shorter than session_timeout"))
    }

    @Test func `values come from the environment and from files`() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "pagehound-secret-\(UUID())")
        try Data("s3cret\n".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let read = try read(
            """
            kafka:
              bootstrap_servers: ${BROKER}:9092
              properties: {sasl.password: "${file:\(file.path())}", client.rack: "${RACK:-none}"}
            """, environment: ["BROKER": "kafka-1"])
        #expect(read.kafka.bootstrapServers == "kafka-1:9092")
        #expect(read.kafka.properties == ["sasl.password": "s3cret", "client.rack": "none"])
    }

    @Test(arguments: ["group: ${NOWHERE}", "group: ${NOWHERE", "group: ${file:/no/such/file}"])
    func `a value that is not there is an error`(text: String) {
        #expect(problem(text).hasPrefix("worker.yaml:1:8: "))
    }

    private func read(_ text: String, environment: [String: String] = [:]) throws -> WorkerConfiguration {
        try WorkerConfiguration(yaml: Array(text.utf8), file: "worker.yaml", environment: environment)
    }

    private func problem(_ text: String) -> String {
        do {
            return "nothing wrong: \(try read(text))"
        } catch {
            return "\(error)"
        }
    }
}

/// The root of this package.
let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
