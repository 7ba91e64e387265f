/// Commits records and consumed offsets together, or neither.
public final class TransactionalProducer: Sendable {
    /// Makes the producer known to the coordinator. A transaction that the same id left open is aborted by that.
    public static func start(_ configuration: TransactionConfiguration) async throws(KafkaError)
        -> TransactionalProducer
    {
        fatalError()
    }

    public var transactionalId: String { fatalError() }

    /// One transaction: all records and offsets, or none.
    ///
    /// Throws if this producer cannot go on: fenced by another with the same id, or an outcome that could not be found out.
    public func commit(
        _ records: [ProducerRecord], offsets: [ConsumedOffset], from consumer: Consumer?
    ) async throws(KafkaError) -> TransactionResult { fatalError() }

    /// Aborts what is open and frees everything.
    public func close(within limit: Duration = .seconds(10)) async -> CloseOutcome { fatalError() }
}

/// What became of a transaction.
public enum TransactionResult: Sendable, Hashable {
    case committed
    /// Nothing became visible. `record` is the index of the record that caused it, if one did.
    case aborted(KafkaError, record: Int?)
}
