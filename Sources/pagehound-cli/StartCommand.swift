import Crawl
import CrawlKafka
import Kafka
import Pagehound

/// `pagehound start`: sends the message that begins a crawl, and follows it to its verdict if asked to.
enum StartCommand {
    static let usage = Usage(
        command: "start",
        summary: "Begins a crawl.",
        positionals: [.init(name: "SOURCE", meaning: "The name of a source that the workers have.")],
        options: [
            .config,
            Usage.Option(
                name: "--crawl", value: "ID",
                meaning: "The crawl's name and Kafka key. Defaults to the source and a random suffix."),
            Usage.Option(
                name: "--param", value: "NAME=VALUE", mayRepeat: true, meaning: "A value for {{NAME}} in the source."),
            Usage.Option(name: "--max-pages", value: "N", meaning: "Ends the crawl as truncated after N pages."),
            Usage.Option(name: "--wait", meaning: "Follows the crawl; exits 0 only if its verdict is complete."),
        ],
        examples: [
            "pagehound start products --crawl products-monday --wait",
            "pagehound start products --param category=tea --max-pages 10",
        ])

    static func run(_ arguments: Arguments) async throws -> ExitCode {
        let configuration = try WorkerConfiguration(arguments)
        let source = arguments.positionals[0]
        let job = Job(
            crawl: arguments["--crawl"] ?? "\(source)-\(randomName())", source: source,
            params: try arguments.pairs("--param"),
            limits: Limits(maxPages: try arguments.integer("--max-pages").map(Int64.init)))
        let record = try await start(job, configuration, isFollowed: arguments.contains("--wait"))
        guard let record else { return .success }
        Terminal.say(StatusLines.verdict(of: record))
        return record.end?.verdict == .complete ? .success : .notComplete
    }

    /// Sends the job; returns the record that the crawl ended with if it is followed.
    static func start(
        _ job: Job, _ configuration: WorkerConfiguration, isFollowed: Bool
    ) async throws -> CrawlRecord? {
        let topics = configuration.topics
        let before = isFollowed ? try await CrawlFollower.ends(of: topics, configuration.client) : [:]
        let producer = try Producer(ProducerConfiguration(configuration.client, topics: [topics.jobs]))
        let encoder = WireEncoder(topics: topics, maxRecordBytes: WireDecoder.maxUserJobBytes)
        let position = try await producer.send([encoder.record(for: job)])[0]
        _ = await producer.close()
        Terminal.say("crawl \(job.crawl): started")
        guard isFollowed else { return nil }

        var follower = try CrawlFollower(configuration.client, topics: topics, from: before)
        let record = try await follower.follow(job.crawl, startedBy: position) { record in
            Terminal.log("crawl \(job.crawl): \(record.pages) pages, \(record.items) items")
        }
        await follower.close()
        return record
    }

    private static func randomName() -> String {
        String(UInt32.random(in: 0 ... .max), radix: 36)
    }
}
