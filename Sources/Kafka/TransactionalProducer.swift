/// Commits records and consumed offsets together, or neither.
///
/// Transactions run one after the other on one thread: begin, produce, await every delivery report, check the group
/// metadata, send the offsets, commit. A producer instance that is of no use any more, or that would be a risk, is
/// replaced inside; who calls learns only what became of the transaction.
public final class TransactionalProducer: Sendable {
    private let driver: TransactionDriver
    private let thread: CallThread

    /// Makes the producer known to the coordinator. A transaction that the same id left open is aborted by that.
    /// Throws if the configuration is refused, or no coordinator answers within `limit`.
    public static func start(
        _ configuration: TransactionConfiguration, within limit: Duration = .seconds(60)
    ) async throws(KafkaError) -> TransactionalProducer {
        let driver = try TransactionDriver(configuration)
        let thread = CallThread("kafka-txn")
        _ = try await thread.call { Result { () throws(KafkaError) in try driver.prepare(until: .now + limit) } }
        return TransactionalProducer(driver, thread)
    }

    private init(_ driver: TransactionDriver, _ thread: CallThread) {
        self.driver = driver
        self.thread = thread
    }

    deinit {
        let driver = driver
        thread.enqueue { driver.discard() }
    }

    /// The id that the coordinator knows this producer by.
    public var transactionalId: String { driver.transactionalId }

    /// How often the producer instance was replaced.
    public var recycleCount: Int { driver.recycleCount }

    /// One transaction: all records and offsets, or none.
    ///
    /// Offsets are refused (aborted) if one of their partitions is not owned in its epoch any more. Throws if this producer
    /// cannot go on: fenced by another with the same id, or an outcome that could not be found out in time. Then the
    /// process should end, and whoever comes next goes on from what is committed.
    public func commit(
        _ records: [ProducerRecord], offsets: [ConsumedOffset] = [], from consumer: Consumer? = nil
    ) async throws(KafkaError) -> TransactionResult {
        precondition(offsets.isEmpty || consumer != nil, "offsets belong to a consumer")
        let (driver, thread) = (driver, thread)
        let request = TransactionRequest(records: records, offsets: offsets, consumer: consumer)
        return try await thread.call {
            let result = Result { () throws(KafkaError) in try driver.run(request) }
            // A replacement is made ready while the caller prepares its next transaction.
            thread.enqueue { driver.prepareForNext() }
            return result
        }
    }

    /// Ends without a word, as a killed process does: what is open stays open. For tests.
    func crash() {
        let driver = driver
        driver.crash()
        thread.enqueue { driver.discard() }
        thread.stop()
    }

    /// Aborts what is open and frees everything.
    public func close(within limit: Duration = .seconds(10)) async -> CloseOutcome {
        let driver = driver
        thread.enqueue { driver.discard() }
        thread.stop()
        let closed: Void? = try? await onThread("kafka-close", within: limit) {
            .success(driver.waitUntilDiscarded(.now + limit))
        }
        return closed == nil ? .abandoned : .closed
    }
}

/// What became of a transaction.
public enum TransactionResult: Sendable, Hashable {
    case committed
    /// Nothing became visible. `record` is the index of the record that caused it, if one did (for example because it
    /// is too large).
    case aborted(KafkaError, record: Int?)
}

struct TransactionRequest: Sendable {
    var records: [ProducerRecord]
    var offsets: [ConsumedOffset]
    var consumer: Consumer?
}

extension TransactionConfiguration {
    func settings(_ transactionalId: String) throws(KafkaError) -> ClientSettings {
        guard (.seconds(1) ... .seconds(900)).contains(transactionTimeout) else {
            throw KafkaError(
                .invalidArgument,
                "the transaction time-out (\(transactionTimeout)) must be from 1 s to 900 s, as brokers allow")
        }
        var settings = try producer.settings()
        settings.set("transactional.id", transactionalId)
        settings.set("transaction.timeout.ms", transactionTimeout)
        settings.set("socket.timeout.ms", min(transactionTimeout, .seconds(10)))
        return settings
    }
}

extension TransactionalIdentity {
    /// The id; a new random one at each call for `unique`.
    func makeId() -> String {
        switch self {
        case .slot(let id): id
        case .unique(let prefix): prefix + String(UInt64.random(in: .min ... .max), radix: 36)
        }
    }

    var isSlot: Bool { if case .slot = self { true } else { false } }
}
