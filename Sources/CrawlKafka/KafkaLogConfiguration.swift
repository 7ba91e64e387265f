import Kafka

/// How a worker takes part in a deployment.
public struct KafkaLogConfiguration: Sendable {
    public var client: ClientConfiguration
    public var topics: Topics
    /// The consumer group of the deployment. Defaults to `pagehound`.
    public var group: String
    /// A name for the place of this worker, for example a StatefulSet ordinal: the worker that has it next fences this
    /// one, ends its open transaction and takes its partitions at once. `nil` where workers have no places.
    public var slot: String?
    public var assignor: ConsumerConfiguration.Assignor
    /// A worker that is silent for so long is taken for dead. Defaults to 45 s.
    public var sessionTimeout: Duration
    /// A transaction that is open for so long is aborted by the coordinator. Defaults to 10 s.
    public var transactionTimeout: Duration
    public var compression: ProducerConfiguration.Compression
    /// The largest record of the topics, in bytes; `nil` asks the broker, which takes its time to say that it cannot tell.
    public var maxRecordBytes: Int?
    /// See `TransactionConfiguration.reached`.
    var reached: @Sendable (TransactionStep) throws(KafkaError) -> Void = { _ throws(KafkaError) in }

    public init(_ client: ClientConfiguration, topics: Topics = Topics(), group: String = "pagehound") {
        self.client = client
        self.topics = topics
        self.group = group
        self.slot = nil
        self.assignor = .cooperativeSticky
        self.sessionTimeout = .seconds(45)
        self.transactionTimeout = .seconds(10)
        self.compression = .lz4
        self.maxRecordBytes = nil
    }

    var consumer: ConsumerConfiguration {
        var consumer = ConsumerConfiguration(client, group: group)
        consumer.groupInstanceId = slot
        consumer.assignor = assignor
        consumer.sessionTimeout = sessionTimeout
        consumer.heartbeatInterval = min(consumer.heartbeatInterval, sessionTimeout / 6)
        return consumer
    }

    func producer(_ facts: TopicFacts) -> TransactionConfiguration {
        var producer = ProducerConfiguration(client, topics: topics.all)
        producer.compression = compression
        producer.maxMessageBytes = facts.maxRecordBytes
        let prefix = "\(topics.prefix)\(group)."
        let identity: TransactionalIdentity = slot.map { .slot(prefix + $0) } ?? .unique(prefix: prefix)
        var configuration = TransactionConfiguration(producer, identity: identity)
        configuration.transactionTimeout = transactionTimeout
        configuration.reached = reached
        return configuration
    }
}
