/// Writes records outside of transactions, each once (idempotent), and says where they are.
public final class Producer: Sendable {
    public init(_ configuration: ProducerConfiguration) throws(KafkaError) { fatalError() }

    /// Writes the records and waits until all are stored on all in-sync replicas. Throws the first error.
    public func send(_ records: [ProducerRecord], within limit: Duration = .seconds(30)) async throws(KafkaError)
        -> [RecordPosition]
    { fatalError() }

    public func close(within limit: Duration = .seconds(10)) async -> CloseOutcome { fatalError() }
}
