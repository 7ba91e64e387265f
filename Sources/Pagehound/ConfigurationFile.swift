import Crawl
import FoundationEssentials
import Kafka
import YAML

/// A file that cannot be used. Each line of the description names file, line, column, and what would be valid.
public struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    public var description: String

    public init(_ description: String) { self.description = description }
}

extension WorkerConfiguration {
    /// Reads a file like `config/worker.yaml`, strictly: an unknown key is an error that names the nearest valid one,
    /// and all problems are reported at once. Values may hold `${NAME}` of the environment.
    public init(contentsOf path: String) throws(ConfigurationError) {
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw ConfigurationError("\(path): no such file, or not readable")
        }
        try self.init(yaml: Array(bytes), file: path, environment: ProcessInfo.processInfo.environment)
    }

    /// - Parameters:
    ///   - file: the name for messages.
    ///   - environment: where `${NAME}` is looked up.
    init(yaml: [UInt8], file: String, environment: [String: String]) throws(ConfigurationError) {
        self.init()
        let problems = YAMLProblems(file: file, nearest: nearestName(to:among:))
        if let document = problems.parse(yaml)?.fillingIn(environment, problems) {
            read(YAMLMapping(document, problems: problems))
        }
        do {
            try problems.check()
        } catch {
            throw ConfigurationError("\(error)")
        }
    }

    private mutating func read(_ file: YAMLMapping) {
        if let kafka = file.mapping("kafka") { self.kafka.read(kafka) }
        if let topics = file.mapping("topics") {
            topics.string("prefix").map { topicPrefix = $0 }
            topics.finish()
        }
        file.string("group").map { group = $0 }
        file.string("slot").map { slot = $0 }
        file.string("sources").map { sourcesFolder = $0 }
        limits.read(file)
        if let shutdown = file.mapping("shutdown") {
            shutdown.duration("grace").map { shutdownGrace = $0 }
            shutdown.finish()
        }
        file.finish()
    }
}

extension KafkaSettings {
    fileprivate mutating func read(_ file: YAMLMapping) {
        file.string("bootstrap_servers").map { bootstrapServers = $0 }
        file.duration("session_timeout").map { sessionTimeout = $0 }
        file.duration("transaction_timeout").map { transactionTimeout = $0 }
        file.bytes("max_message_bytes").map { maxMessageBytes = $0 }
        if let properties = file.mapping("properties") { read(properties: properties) }
        if transactionTimeout >= sessionTimeout {
            file.report(
                "transaction_timeout", "must be shorter than session_timeout, or a dead worker's successor waits for it"
            )
        }
        file.finish()
    }
}

extension KafkaSettings {
    /// What librdkafka does not know, and what exactly-once rests on, is said with its line.
    private mutating func read(properties file: YAMLMapping) {
        for (name, value) in file.texts() {
            let alone = ClientConfiguration(bootstrapServers: bootstrapServers, properties: [name: value])
            for problem in alone.problems() { file.problems.report(problem, at: file.place(of: name)) }
            properties[name] = value
        }
    }
}

extension WorkerLimits {
    fileprivate mutating func read(_ file: YAMLMapping) {
        if let runAhead = file.mapping("run_ahead") {
            runAhead.int("max_pages", in: 0...1_000_000).map { runAheadPages = $0 }
            runAhead.bytes("max_bytes").map { runAheadBytes = $0 }
            runAhead.finish()
        }
        if let commit = file.mapping("commit") {
            commit.duration("interval").map { commitInterval = $0 }
            commit.bytes("max_bytes").map { transactionBytes = $0 }
            commit.finish()
        }
        file.int("max_crawls_in_flight", in: 1...100_000).map { maxCrawlsInFlight = $0 }
        file.int("max_crawls_held", in: 1...100_000_000).map { maxCrawlsHeld = $0 }
        file.bytes("max_bytes_held").map { stagedBytes = $0 }
        file.int("yield_after", in: 1...1_000_000).map { yieldAfter = $0 }
        file.duration("park_after").map { parkAfter = $0 }
        file.duration("report_waits_over").map { reportWaitsOver = $0 }
        if let ledger = file.mapping("ledger") {
            ledger.duration("retention").map { ledgerRetention = $0 }
            ledger.finish()
        }
    }
}

extension YAMLNode {
    /// The document with `${NAME}` replaced by the environment's values, `${NAME:-text}` with a default, and
    /// `${file:/path}` by what the file holds.
    fileprivate func fillingIn(_ environment: [String: String], _ problems: YAMLProblems) -> YAMLNode {
        mapScalars { scalar, place in
            var text = ""
            var rest = Substring(scalar.text)
            while let open = rest.firstRange(of: "${") {
                text += rest[..<open.lowerBound]
                rest = rest[open.upperBound...]
                guard let close = rest.firstIndex(of: "}") else {
                    problems.report("\"${\" without \"}\"", at: place)
                    return scalar
                }
                let name = rest[..<close]
                rest = rest[rest.index(after: close)...]
                guard let value = Self.value(of: name, in: environment) else {
                    problems.report("${\(name)} has no value", at: place)
                    return scalar
                }
                text += value
            }
            return YAMLScalar(text + rest, style: scalar.style)
        }
    }

    private static func value(of reference: Substring, in environment: [String: String]) -> String? {
        if reference.hasPrefix("file:") {
            let bytes = FileManager.default.contents(atPath: String(reference.dropFirst(5)))
            return bytes.map { String(decoding: $0.last == UInt8(ascii: "\n") ? $0.dropLast() : $0, as: UTF8.self) }
        }
        guard let mark = reference.firstRange(of: ":-") else { return environment[String(reference)] }
        let value = environment[String(reference[..<mark.lowerBound])]
        return value.flatMap { $0.isEmpty ? nil : $0 } ?? String(reference[mark.upperBound...])
    }
}
