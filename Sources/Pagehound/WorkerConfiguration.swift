import Crawl
import FoundationEssentials

/// What a worker needs to know, apart from its sources. `config/worker.yaml` holds the same, with the same words.
public struct WorkerConfiguration: Sendable, Hashable {
    public var kafka: KafkaSettings
    /// Begins the names of the topics `jobs`, `pages`, `crawls` and `dead`. Defaults to `pagehound.`.
    public var topicPrefix: String
    /// The consumer group: all workers of a deployment share it. Defaults to `pagehound`.
    public var group: String
    /// A name that one process of the group has at a time, such as the ordinal of a stateful set. A worker that comes back
    /// with its slot goes on at once where it was killed; two workers with one slot fence each other, and one of them ends. Without
    /// a slot others take over after `sessionTimeout`. Defaults to none.
    public var slot: String?
    /// The folder of the source files, `NAME.yaml` each. Defaults to `config/sources`.
    public var sourcesFolder: String
    /// How much the worker takes on, and how long it waits.
    public var limits: WorkerLimits
    /// How long a worker that was asked to stop may take to commit what is done. Defaults to 25 s, so that an
    /// orchestrator that waits 30 s does not kill it first.
    public var shutdownGrace: Duration

    public init(
        kafka: KafkaSettings = KafkaSettings(), topicPrefix: String = "pagehound.", group: String = "pagehound",
        slot: String? = nil, sourcesFolder: String = "config/sources"
    ) {
        self.kafka = kafka
        self.topicPrefix = topicPrefix
        self.group = group
        self.slot = slot
        self.sourcesFolder = sourcesFolder
        self.limits = WorkerLimits()
        self.shutdownGrace = .seconds(25)
    }
}

/// How to reach Kafka, and when it takes a worker for dead.
public struct KafkaSettings: Sendable, Hashable {
    /// `host:port`, several separated by commas. Defaults to the environment's `KAFKA_BOOTSTRAP_SERVERS`, else to
    /// `127.0.0.1:9092`.
    public var bootstrapServers: String
    /// After this silence others take a worker's crawls over. Defaults to 45 s.
    public var sessionTimeout: Duration
    /// After this the broker aborts what a crashed worker left open; until then readers and the next owner of its crawls wait.
    /// Must be shorter than a session. Defaults to 10 s.
    public var transactionTimeout: Duration
    /// The largest record that the topics take, in bytes. Defaults to asking the broker.
    public var maxMessageBytes: Int?
    /// Any other librdkafka property, such as `security.protocol`. Those that exactly-once rests on are refused.
    public var properties: [String: String]

    public static var usualServers: String {
        ProcessInfo.processInfo.environment["KAFKA_BOOTSTRAP_SERVERS"] ?? "127.0.0.1:9092"
    }

    public init(
        bootstrapServers: String = usualServers, sessionTimeout: Duration = .seconds(45),
        transactionTimeout: Duration = .seconds(10), maxMessageBytes: Int? = nil, properties: [String: String] = [:]
    ) {
        self.bootstrapServers = bootstrapServers
        self.sessionTimeout = sessionTimeout
        self.transactionTimeout = transactionTimeout
        self.maxMessageBytes = maxMessageBytes
        self.properties = properties
    }
}
