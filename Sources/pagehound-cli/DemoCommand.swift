import Crawl
import CrawlKafka
import Kafka
import Pagehound

/// `pagehound demo`: everything in one process: a catalogue to crawl, a broker, a worker.
enum DemoCommand {
    static let usage = Usage(
        command: "demo",
        summary: "Crawls a built-in catalogue of \(Catalogue.items) items on a broker inside the process.",
        examples: ["pagehound demo"])

    static func run(_ arguments: Arguments) async throws -> ExitCode {
        let catalogue = try Catalogue()
        Terminal.log("The upstream: http://127.0.0.1:\(catalogue.port)/products. The source file:\n")
        Terminal.log(catalogue.sourceFile.split(separator: "\n").map { "    " + $0 }.joined(separator: "\n") + "\n")

        var configuration = WorkerConfiguration()
        let broker = try EmbeddedBroker(topics: configuration.topics)
        configuration.kafka = broker.settings
        let record = try await crawl(with: configuration, catalogue)
        withExtendedLifetime(broker) {}
        Terminal.say(StatusLines.verdict(of: record))
        return record.end?.verdict == .complete ? .success : .notComplete
    }

    /// A worker, and beside it a user who starts a crawl and follows it. The worker has stopped when this returns.
    private static func crawl(
        with configuration: WorkerConfiguration, _ catalogue: Catalogue
    ) async throws -> CrawlRecord {
        try await withThrowingTaskGroup(of: CrawlRecord?.self) { group in
            group.addTask {
                try await Pagehound.run(configuration, sources: [try catalogue.source()]) { _ in }
                return nil
            }
            group.addTask {
                try await StartCommand.start(
                    Job(crawl: "demo", source: "catalogue"), configuration, isFollowed: true)
            }
            guard let record = try await group.next() ?? nil else {
                throw CommandFailure("stopped before the crawl had ended")
            }
            try await showFirstItems(of: configuration, count: 3)
            group.cancelAll()
            try await group.waitForAll()
            return record
        }
    }

    /// What a reader of the topic `pages` gets.
    private static func showFirstItems(of configuration: WorkerConfiguration, count: Int) async throws {
        let reader = try PartitionReader(configuration.client)
        let collected = Collected()
        for partition in 0..<Int32(EmbeddedBroker.partitions) {
            let place = TopicPartition(topic: configuration.topics.pages, partition: partition)
            try await reader.read(place) { collected.append($0) }
        }
        await reader.close()
        guard let first = collected.records.first, let value = first.value else { return }
        let text = String(decoding: value, as: UTF8.self)
        Terminal.say("\(first.topic) has \(collected.records.count) records; the first items:")
        for item in items(of: text).prefix(count) { Terminal.say("    \(item)") }
    }

    /// The catalogue's items hold no object inside, so a brace ends each.
    private static func items(of batch: String) -> [Substring] {
        guard let list = batch.firstRange(of: #""items":["#) else { return [] }
        return batch[list.upperBound...].split(separator: "},").map { $0 + "}" }.map { $0[...] }
    }
}
