import CrawlKafka
import Kafka
import Pagehound

/// A broker inside the process, for demos and trials. It keeps nothing and proves nothing: no offsets of transactions, no
/// fencing, and aborted records are shown.
final class EmbeddedBroker: Sendable {
    private let cluster: MockCluster
    static let partitions = 4

    /// Starts it with the topics of a deployment.
    init(topics: Topics) throws(KafkaError) {
        cluster = try MockCluster()
        for topic in topics.all { try cluster.createTopic(topic, partitions: Self.partitions) }
    }

    /// How to reach it. It answers a fetch of an empty partition only when the wait is over, and cannot tell its limits.
    var settings: KafkaSettings {
        KafkaSettings(
            bootstrapServers: cluster.bootstrapServers, maxMessageBytes: 1 << 20,
            properties: ["fetch.wait.max.ms": "10"])
    }
}
