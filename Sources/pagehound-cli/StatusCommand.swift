import Crawl
import CrawlKafka
import Kafka
import Pagehound

/// `pagehound status`: what the ledger says of all crawls, or of one.
enum StatusCommand {
    static let usage = Usage(
        command: "status",
        summary: "Shows what the ledger says of the crawls.",
        positionals: [.init(name: "CRAWL", isRequired: false, meaning: "Shows this one in full.")],
        options: [.config],
        examples: ["pagehound status", "pagehound status products-monday"])

    static func run(_ arguments: Arguments) async throws -> ExitCode {
        let configuration = try WorkerConfiguration(arguments)
        let ledger = try await ledger(of: configuration.topics, configuration.client)
        guard let crawl = arguments.positionals.first else {
            Terminal.say(StatusLines.table(Array(ledger.values)))
            return .success
        }
        guard let record = ledger[crawl] else {
            let near = nearestName(to: crawl, among: Array(ledger.keys)).map { "; did you mean \($0)?" } ?? ""
            throw CommandFailure("crawl \(quoted(crawl)) is not in the ledger\(near)")
        }
        Terminal.say(StatusLines.details(of: record))
        return .success
    }

    /// The newest record of each crawl.
    private static func ledger(of topics: Topics, _ client: ClientConfiguration) async throws -> [String: CrawlRecord] {
        let admin = try Admin(client)
        let count = try await admin.partitionCounts([topics.crawls])[topics.crawls]
        await admin.close()
        guard let count else {
            throw CommandFailure("topic \(topics.crawls) does not exist; pagehound topics create makes it")
        }
        let reader = try PartitionReader(client)
        var ledger: [String: CrawlRecord] = [:]
        for partition in 0..<Int32(count) {
            let collected = Collected()
            try await reader.read(TopicPartition(topic: topics.crawls, partition: partition)) { collected.append($0) }
            for record in collected.records {
                switch try WireDecoder.crawlRecord(record) {
                case .record(let crawl): ledger[crawl.crawl] = crawl
                case .forgotten(let crawl): ledger[crawl] = nil
                }
            }
        }
        await reader.close()
        return ledger
    }
}
