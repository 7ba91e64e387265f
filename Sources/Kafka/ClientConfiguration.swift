/// How to reach a Kafka cluster; the same for every client of a process.
public struct ClientConfiguration: Sendable {
    /// `host:port`, several separated by commas.
    public var bootstrapServers: String
    /// Names this process in the broker's logs and quotas. Under 100 bytes (librdkafka before 2.5 crashes on more).
    public var clientId: String
    /// Any other librdkafka property by its name, for example `security.protocol` or `sasl.password`. What the
    /// exactly-once guarantee rests on is set by this module, and refused here with the reason.
    public var properties: [String: String]
    /// Takes what librdkafka has to say: log lines and errors that it deals with by itself. Called from any thread;
    /// must not block. Defaults to nothing.
    public var report: @Sendable (ClientReport) -> Void

    public init(
        bootstrapServers: String, clientId: String = "kafka-client", properties: [String: String] = [:],
        report: @escaping @Sendable (ClientReport) -> Void = { _ in }
    ) {
        self.bootstrapServers = bootstrapServers
        self.clientId = clientId
        self.properties = properties
        self.report = report
    }
}

/// Something that a client wants a person to know.
public struct ClientReport: Sendable, Hashable {
    /// As syslog counts: 3 is an error, 4 a warning, 6 information, 7 debugging.
    public var level: Int
    /// What part of the client speaks: `FAIL`, `REBALANCE`, `recycle`.
    public var facility: String
    public var message: String

    public init(level: Int, facility: String, message: String) {
        self.level = level
        self.facility = facility
        self.message = message
    }
}

/// How a member of a consumer group reads.
public struct ConsumerConfiguration: Sendable {
    public var client: ClientConfiguration
    public var group: String
    /// A stable name for static membership (KIP-345): a restart within `sessionTimeout` causes no rebalance, and
    /// a second member of the same name fences the first. Defaults to none.
    public var groupInstanceId: String?
    public var assignor: Assignor
    /// Where to begin when the group has no offset, or one that is gone. There is no `latest`: it loses jobs of
    /// partitions that are added later (KAFKA-20539).
    public var offsetReset: OffsetReset
    /// The member is taken for dead after this silence. Defaults to 45 s.
    public var sessionTimeout: Duration
    /// Defaults to 3 s.
    public var heartbeatInterval: Duration
    /// The member is taken for stuck if it does not poll for so long; also how long others wait for it to give
    /// partitions up. Defaults to 5 minutes.
    public var maxPollInterval: Duration
    /// How long the rebalance handler may take to finish what is under way. Defaults to 5 s, at most a tenth of
    /// `maxPollInterval`.
    public var revokeDeadline: Duration
    /// Records handed out at once and not taken yet, before the partitions are held back. Defaults to 1,024.
    public var maxBufferedRecords: Int
    /// The same in bytes of keys and values. Defaults to 8 MiB.
    public var maxBufferedBytes: Int

    public enum Assignor: String, Sendable, CaseIterable {
        case cooperativeSticky = "cooperative-sticky"
        case range
        case roundRobin = "roundrobin"
    }

    public enum OffsetReset: String, Sendable, CaseIterable {
        case earliest
        /// Report an error and stop rather than read again from the beginning.
        case fail = "error"
    }

    public init(_ client: ClientConfiguration, group: String) {
        self.client = client
        self.group = group
        self.groupInstanceId = nil
        self.assignor = .cooperativeSticky
        self.offsetReset = .earliest
        self.sessionTimeout = .seconds(45)
        self.heartbeatInterval = .seconds(3)
        self.maxPollInterval = .seconds(300)
        self.revokeDeadline = .seconds(5)
        self.maxBufferedRecords = 1_024
        self.maxBufferedBytes = 8 << 20
    }
}

/// How a producer writes.
public struct ProducerConfiguration: Sendable {
    public var client: ClientConfiguration
    public var compression: Compression
    /// The largest record that is sent, in bytes; the topics' `max.message.bytes`. Defaults to 1 MiB, as brokers do.
    public var maxMessageBytes: Int
    /// How long a record waits for others to share a request with. Defaults to 0: a transaction waits for its records.
    public var linger: Duration
    /// Topics to get ready for at the start: the first record to a topic waits up to 1 s otherwise (librdkafka #5032).
    public var topics: [String]

    public enum Compression: String, Sendable, CaseIterable {
        case none, gzip, snappy, lz4, zstd
    }

    public init(_ client: ClientConfiguration, topics: [String] = []) {
        self.client = client
        self.compression = .lz4
        self.maxMessageBytes = 1_048_576
        self.linger = .zero
        self.topics = topics
    }
}

/// How a transactional producer writes.
public struct TransactionConfiguration: Sendable {
    public var producer: ProducerConfiguration
    public var identity: TransactionalIdentity
    /// The coordinator aborts a transaction that is open for longer: how long a crashed producer can hold readers
    /// up. Defaults to 10 s, which is much more than a transaction takes here and less than a session.
    public var transactionTimeout: Duration
    /// Is told how far each transaction is, on the transaction thread; it is aborted if this throws. For tests that let
    /// something happen in the middle. Defaults to nothing.
    public var reached: @Sendable (TransactionStep) throws(KafkaError) -> Void

    public init(_ producer: ProducerConfiguration, identity: TransactionalIdentity) {
        self.producer = producer
        self.identity = identity
        self.transactionTimeout = .seconds(10)
        self.reached = { _ throws(KafkaError) in }
    }
}

/// Where a transactional id comes from.
public enum TransactionalIdentity: Sendable, Hashable {
    /// The id as given, for a place that one process has at a time (an ordinal): a restart fences its predecessor and
    /// aborts what that left open. When this producer itself is fenced, another has the place, and it ends.
    case slot(String)
    /// The prefix and a random suffix, for processes without a place. Nobody but the coordinator's time-out ends what a
    /// crashed one left open.
    case unique(prefix: String)
}
