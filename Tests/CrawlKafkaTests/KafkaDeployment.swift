import BrokerSupport
import Crawl
import CrawlKafka
import JSONText
import Kafka
import Threads

/// Topics of a test's own on the shared broker, and what everybody can see of them.
struct KafkaDeployment: Sendable {
    let client: ClientConfiguration
    let topics: Topics
    let partitions: Int32

    /// Creates the topics.
    static func make(partitions: Int32 = 3) async throws -> KafkaDeployment {
        let broker = try await TestBroker.shared()
        let client = ClientConfiguration(bootstrapServers: broker.bootstrapServers, clientId: "pagehound-test")
        let prefix = "t\(UInt32.random(in: 0..<UInt32.max))."
        let deployment = KafkaDeployment(client: client, topics: Topics(prefix: prefix), partitions: partitions)
        let admin = try Admin(client)
        var layout = TopicLayout(topics: deployment.topics)
        layout.partitions = Int(partitions)
        for (topic, creation) in try await layout.create(with: admin) where creation != .created {
            throw DeploymentFailure("\(topic): \(creation)")
        }
        await admin.close()
        return deployment
    }

    func configuration(slot: String? = nil) -> KafkaLogConfiguration {
        var configuration = KafkaLogConfiguration(client, topics: topics, group: topics.prefix + "group")
        configuration.slot = slot
        configuration.sessionTimeout = .seconds(6)
        configuration.transactionTimeout = .seconds(4)
        return configuration
    }

    func open() async throws -> KafkaLog { try await KafkaLog(configuration()) }

    /// Produces records as a user does.
    @discardableResult
    func produce(_ records: [ProducerRecord]) async throws -> [RecordPosition] {
        let producer = try Producer(ProducerConfiguration(client))
        let positions = try await producer.send(records)
        _ = await producer.close()
        return positions
    }

    func trigger(_ job: Job) async throws {
        try await produce([WireEncoder(topics: topics, maxRecordBytes: 1 << 20).record(for: job)])
    }

    /// All records of a topic, partition by partition, as a reader with `read_committed` sees them.
    func committed(_ topic: String) async throws -> [ConsumedRecord] {
        let reader = try PartitionReader(client)
        let collected = Collected<ConsumedRecord>()
        for partition in 0..<partitions {
            try await reader.read(TopicPartition(topic: topic, partition: partition)) { collected.add($0) }
        }
        await reader.close()
        return collected.all
    }

    /// The result pages of all crawls, in order for each crawl. Parts of a page come as they are.
    func pages() async throws -> [CommittedPart] { try await committed(topics.pages).map(CommittedPart.init) }
}

/// A result batch, or a part of one, as a reader finds it.
struct CommittedPart: Sendable, Hashable {
    var crawl = ""
    var run: Int64 = 0
    var page: Int64 = 0
    var part: Int64 = 1
    var parts: Int64 = 1
    /// The items as text, byte for byte.
    var items: [String] = []

    init(_ record: ConsumedRecord) throws {
        let bytes = record.value ?? []
        guard case .object(let fields) = try JSONNode.parse(bytes, maxBytes: 64 << 20).content else { return }
        for field in fields {
            switch (field.key, field.value.content) {
            case ("crawl", .string(let text)): crawl = text
            case ("run", .number(let text)): run = Int64(text) ?? -1
            case ("page", .number(let text)): page = Int64(text) ?? -1
            case ("part", .number(let text)): part = Int64(text) ?? -1
            case ("parts", .number(let text)): parts = Int64(text) ?? -1
            case ("items", .array(let nodes)): items = nodes.map { $0.text(in: bytes) }
            default: break
            }
        }
    }
}

/// Gathers what comes from another thread.
final class Collected<Element: Sendable>: Sendable {
    private let elements = Monitor<[Element]>([])

    var all: [Element] { elements.withLock { $0 } }
    func add(_ more: [Element]) { elements.withLock { $0 += more } }
}

struct DeploymentFailure: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}
