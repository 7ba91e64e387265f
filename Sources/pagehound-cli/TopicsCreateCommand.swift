import CrawlKafka
import Kafka
import Pagehound

/// `pagehound topics create`: makes the four topics as the worker needs them.
enum TopicsCreateCommand {
    static let usage = Usage(
        command: "topics create",
        summary: "Creates the topics that are not there yet.",
        options: [
            .config,
            Usage.Option(
                name: "--partitions", value: "N",
                meaning: "Partitions of each topic: at most so many workers share the work. Defaults to 12."),
            Usage.Option(
                name: "--replication", value: "N",
                meaning: "Copies of each partition. Defaults to the broker's setting."),
        ],
        examples: ["pagehound topics create --partitions 24 --replication 3"])

    static func run(_ arguments: Arguments) async throws -> ExitCode {
        let configuration = try WorkerConfiguration(arguments)
        let partitions = try arguments.integer("--partitions") ?? 12
        let replication = try arguments.integer("--replication")
        let layout = TopicLayout(
            topics: configuration.topics, partitions: partitions, replicationFactor: replication)
        let admin = try Admin(configuration.client)
        let outcome = try await layout.create(with: admin)
        var code = ExitCode.success
        for topic in layout.topics.all {
            switch outcome[topic] {
            case .created: Terminal.say("\(topic): created, \(partitions) partitions")
            case .exists: Terminal.say("\(topic): is there already, left as it is")
            case .failed(let error):
                Terminal.log("pagehound: \(topic): \(error)")
                code = .failure
            case nil: break
            }
        }
        await admin.close()
        return code
    }
}
