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
        var layout = TopicLayout(topics: configuration.topics)
        layout.partitions = try arguments.integer("--partitions") ?? layout.partitions
        layout.replicationFactor = try arguments.integer("--replication")
        layout.jobRetention = configuration.limits.ledgerRetention
        layout.maxMessageBytes = configuration.kafka.maxMessageBytes ?? layout.maxMessageBytes
        let admin = try Admin(configuration.client)
        let outcome = try await layout.create(with: admin)
        var code = ExitCode.success
        for topic in layout.topics.all {
            switch outcome[topic] {
            case .created: Terminal.say("\(topic): created, \(layout.partitions) partitions")
            case .exists: Terminal.say("\(topic): is there already, left as it is")
            case .failed(let error):
                Terminal.log("pagehound: \(topic): \(error)")
                code = .failure
            case nil: break
            }
        }
        if code == .success { try await waitUntilKnown(layout.topics, admin) }
        await admin.close()
        return code
    }

    /// A broker answers before all of them know: whoever runs the next command should find the topics.
    private static func waitUntilKnown(_ topics: Topics, _ admin: Admin) async throws {
        for _ in 0..<100 {
            let counts = try await admin.partitionCounts(topics.all)
            if topics.all.allSatisfy({ counts[$0] != nil }) { return }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw CommandFailure("the topics were created, but the brokers do not know of them yet")
    }
}
