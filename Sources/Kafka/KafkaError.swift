import CRdKafka

/// Why a call to Kafka failed, with what can be done about it.
public struct KafkaError: Error, Sendable, Hashable, CustomStringConvertible {
    public var code: Code
    /// The name that librdkafka and the Kafka protocol give the code: `_TIMED_OUT`, `ILLEGAL_GENERATION`.
    public var name: String
    /// What happened, in words.
    public var reason: String
    public var disposition: Disposition

    /// What can be done about it.
    public enum Disposition: String, Sendable, CaseIterable {
        /// The same call may be made again.
        case retriable
        /// The open transaction must be aborted; the client goes on.
        case abortable
        /// The client instance is of no use any more; a new one may go on.
        case fatal
        /// Another client took this one's place (transactional id, or group instance id), or the coordinator gave it up.
        case fenced
        /// The same call would fail again.
        case permanent
    }

    /// An error code of the Kafka protocol (positive), or of librdkafka itself (negative).
    public struct Code: RawRepresentable, Sendable, Hashable {
        public var rawValue: Int32
        public init(rawValue: Int32) { self.rawValue = rawValue }
    }

    /// An error of this module. The disposition is what the code alone tells, unless it is given.
    public init(_ code: Code, _ reason: String, disposition: Disposition? = nil) {
        self.code = code
        self.name = code.name
        self.reason = reason
        self.disposition = disposition ?? code.disposition
    }

    public var description: String { "\(name): \(reason)" }

    /// True if an ACL is in the way, or the client could not show who it is: it goes on only when a person changes that.
    public var isUnauthorized: Bool { Code.unauthorized.contains(code) }

    /// True if the broker or this client refused a record because it is too large.
    public var isRecordTooLarge: Bool { code == .messageTooLarge || code == .recordListTooLarge }
}

extension KafkaError.Code {
    // librdkafka's own.
    public static let fail = Self(RD_KAFKA_RESP_ERR__FAIL)
    public static let badMessage = Self(RD_KAFKA_RESP_ERR__BAD_MSG)
    public static let transport = Self(RD_KAFKA_RESP_ERR__TRANSPORT)
    public static let destroyed = Self(RD_KAFKA_RESP_ERR__DESTROY)
    public static let partitionEOF = Self(RD_KAFKA_RESP_ERR__PARTITION_EOF)
    public static let localUnknownPartition = Self(RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION)
    public static let localUnknownTopic = Self(RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC)
    public static let allBrokersDown = Self(RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN)
    public static let invalidArgument = Self(RD_KAFKA_RESP_ERR__INVALID_ARG)
    public static let timedOut = Self(RD_KAFKA_RESP_ERR__TIMED_OUT)
    public static let queueFull = Self(RD_KAFKA_RESP_ERR__QUEUE_FULL)
    public static let messageTimedOut = Self(RD_KAFKA_RESP_ERR__MSG_TIMED_OUT)
    public static let state = Self(RD_KAFKA_RESP_ERR__STATE)
    public static let fatal = Self(RD_KAFKA_RESP_ERR__FATAL)
    public static let maxPollExceeded = Self(RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED)
    public static let localFenced = Self(RD_KAFKA_RESP_ERR__FENCED)
    public static let assignmentLost = Self(RD_KAFKA_RESP_ERR__ASSIGNMENT_LOST)
    public static let autoOffsetReset = Self(RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET)
    public static let conflict = Self(RD_KAFKA_RESP_ERR__CONFLICT)
    public static let purgeQueue = Self(RD_KAFKA_RESP_ERR__PURGE_QUEUE)
    public static let purgeInflight = Self(RD_KAFKA_RESP_ERR__PURGE_INFLIGHT)

    // The protocol's.
    public static let offsetOutOfRange = Self(RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE)
    public static let unknownTopicOrPartition = Self(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
    public static let leaderNotAvailable = Self(RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE)
    public static let notLeaderForPartition = Self(RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION)
    public static let requestTimedOut = Self(RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT)
    public static let messageTooLarge = Self(RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE)
    public static let recordListTooLarge = Self(RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE)
    public static let invalidMessage = Self(RD_KAFKA_RESP_ERR_INVALID_MSG)
    public static let coordinatorLoading = Self(RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS)
    public static let coordinatorNotAvailable = Self(RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE)
    public static let notCoordinator = Self(RD_KAFKA_RESP_ERR_NOT_COORDINATOR)
    public static let topicException = Self(RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION)
    public static let notEnoughReplicas = Self(RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS)
    public static let illegalGeneration = Self(RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION)
    public static let unknownMember = Self(RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID)
    public static let rebalanceInProgress = Self(RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS)
    public static let topicAuthorizationFailed = Self(RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED)
    public static let groupAuthorizationFailed = Self(RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED)
    public static let topicAlreadyExists = Self(RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS)
    public static let outOfOrderSequence = Self(RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER)
    public static let invalidProducerEpoch = Self(RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH)
    public static let invalidTransactionState = Self(RD_KAFKA_RESP_ERR_INVALID_TXN_STATE)
    public static let invalidProducerIdMapping = Self(RD_KAFKA_RESP_ERR_INVALID_PRODUCER_ID_MAPPING)
    public static let concurrentTransactions = Self(RD_KAFKA_RESP_ERR_CONCURRENT_TRANSACTIONS)
    public static let unknownProducerId = Self(RD_KAFKA_RESP_ERR_UNKNOWN_PRODUCER_ID)
    public static let fencedInstance = Self(RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID)
    public static let unstableOffsetCommit = Self(RD_KAFKA_RESP_ERR_UNSTABLE_OFFSET_COMMIT)
    public static let producerFenced = Self(RD_KAFKA_RESP_ERR_PRODUCER_FENCED)

    /// What librdkafka calls the code.
    public var name: String { String(cString: rd_kafka_err2name(native)) }

    /// What the code alone tells; an error that librdkafka classified itself knows better.
    var disposition: KafkaError.Disposition {
        switch self {
        case .localFenced, .producerFenced, .invalidProducerEpoch, .fencedInstance: .fenced
        case .fatal: .fatal
        case .illegalGeneration, .unknownMember, .rebalanceInProgress, .assignmentLost: .abortable
        case _ where Self.passing.contains(self): .retriable
        default: .permanent
        }
    }

    static let unauthorized: Set<Self> = [
        .topicAuthorizationFailed, .groupAuthorizationFailed, Self(RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED),
        Self(RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED), Self(RD_KAFKA_RESP_ERR__AUTHENTICATION),
        Self(RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED),
    ]

    /// Conditions that pass by themselves.
    private static let passing: Set<Self> = [
        .transport, .allBrokersDown, .timedOut, .messageTimedOut, .queueFull, .leaderNotAvailable,
        .notLeaderForPartition, .requestTimedOut, .coordinatorLoading, .coordinatorNotAvailable, .notCoordinator,
        .notEnoughReplicas, .concurrentTransactions, .unstableOffsetCommit, Self(RD_KAFKA_RESP_ERR__RESOLVE),
        Self(RD_KAFKA_RESP_ERR__WAIT_COORD), Self(RD_KAFKA_RESP_ERR__SSL), Self(RD_KAFKA_RESP_ERR__RETRY),
        Self(RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE), Self(RD_KAFKA_RESP_ERR__WAIT_CACHE),
        Self(RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION), Self(RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND),
        Self(RD_KAFKA_RESP_ERR_NOT_CONTROLLER), Self(RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR),
    ]

    init(_ native: rd_kafka_resp_err_t) { self.init(rawValue: native.rawValue) }

    var native: rd_kafka_resp_err_t { rd_kafka_resp_err_t(rawValue) }
}

extension KafkaError {
    init(_ native: rd_kafka_resp_err_t, _ reason: String? = nil) {
        self.init(Code(native), reason ?? String(cString: rd_kafka_err2str(native)))
    }

    /// Takes an error object and frees it.
    ///
    /// librdkafka says of PRODUCER_FENCED in answer to an offsets request that the transaction can be aborted
    /// (requires_abort), and aborting even "succeeds"; but the producer is fenced all the same. The code wins.
    init(consuming native: OpaquePointer) {
        defer { rd_kafka_error_destroy(native) }
        self.init(borrowing: native)
    }

    /// Reads an error object that belongs to someone else.
    init(borrowing native: OpaquePointer) {
        self.init(Code(rd_kafka_error_code(native)), String(cString: rd_kafka_error_string(native)))
        if disposition == .fenced { return }
        if rd_kafka_error_is_fatal(native) != 0 {
            disposition = .fatal
        } else if rd_kafka_error_txn_requires_abort(native) != 0 {
            disposition = .abortable
        } else if rd_kafka_error_is_retriable(native) != 0 {
            disposition = .retriable
        } else if disposition != .fatal {
            disposition = .permanent
        }
    }

    /// The fatal error of a client; `nil` if it has none.
    init?(fatalOf client: OpaquePointer) {
        var message = [CChar](repeating: 0, count: 512)
        let code = rd_kafka_fatal_error(client, &message, message.count)
        if code == RD_KAFKA_RESP_ERR_NO_ERROR { return nil }
        self.init(code, text(message))
        if disposition != .fenced { disposition = .fatal }
    }
}
