/// Reads whole partitions without a group: everything that was committed before the call, and nothing that was aborted.
public final class PartitionReader: Sendable {
    public init(_ configuration: ClientConfiguration) throws(KafkaError) { fatalError() }

    /// Hands every committed record from `offset` (default: the first there is) up to the high watermark of this moment to
    /// `deliver`, in order, on one thread. Waits for transactions that are open below it, because what they leave may be
    /// followed by committed records already (KAFKA-10167); `progress` tells about that.
    public func read(
        _ partition: TopicPartition, from offset: Int64? = nil, within limit: Duration = .seconds(120),
        progress: @escaping @Sendable (ReadProgress) -> Void = { _ in },
        deliver: @escaping @Sendable ([ConsumedRecord]) -> Void
    ) async throws(KafkaError) { fatalError() }

    public func close() async { fatalError() }
}

/// How far reading a partition is.
public struct ReadProgress: Sendable, Hashable {
    /// The next offset to read.
    public var position: Int64
    /// Where reading will end.
    public var end: Int64
    /// A transaction is open below the end: reading waits for it to end.
    public var waitsForOpenTransaction: Bool
}
