import Crawl
import CrawlKafka
import Kafka
import Pagehound

/// `pagehound start`: sends the message that begins a crawl, and follows it to its verdict if asked to.
enum StartCommand: Command {
    static let usage = Usage(
        command: "start",
        summary: "Begins a crawl.",
        positionals: [.init(name: "SOURCE", meaning: "The name of a source that the workers have.")],
        options: [
            .config,
            Usage.Option(
                name: "--crawl", value: "ID",
                meaning: "The crawl's name and Kafka key. Defaults to one made of where the message was written."),
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
        let topics = Topics(prefix: configuration.topicPrefix)
        let trigger = Trigger(
            source: arguments.positionals[0], crawl: arguments["--crawl"], params: try arguments.pairs("--param"),
            maxPages: try arguments.integer("--max-pages").map(Int64.init))
        let admin = try Admin(configuration.client)
        let before = try await CrawlFollower.ends(of: topics, admin: admin)
        await admin.close()

        let producer = try Producer(ProducerConfiguration(configuration.client, topics: [topics.jobs]))
        let position = try await producer.send([trigger.record(to: topics.jobs)])[0]
        _ = await producer.close()
        let crawl = trigger.crawl ?? "\(position.partition)-\(position.offset)"
        Terminal.say("crawl \(crawl): started")
        guard arguments.contains("--wait") else { return .success }

        let follower = try CrawlFollower(configuration.client, topics: topics, from: before)
        let record = try await follower.follow(crawl, startedBy: position) { record in
            Terminal.log("crawl \(crawl): \(record.pages) pages, \(record.items) items")
        }
        Terminal.say(StatusLines.verdict(of: record))
        return record.end?.verdict == .complete ? .success : .notComplete
    }
}

/// The message that begins a crawl.
struct Trigger {
    var source: String
    var crawl: String?
    var params: [String: String] = [:]
    var maxPages: Int64?

    /// Without a crawl id the record has no key, and the worker names the crawl after the record's place.
    func record(to topic: String) -> ProducerRecord {
        let job = Job(
            crawl: crawl ?? "", source: source, params: params, limits: Limits(maxPages: maxPages))
        return ProducerRecord(topic: topic, key: crawl.map { Array($0.utf8) }, value: JobCoding.encode(job))
    }
}
