import CRdKafka

/// Looks whether one record became visible to committed readers.
struct OutcomeReader {
    let configuration: ClientConfiguration

    init(_ configuration: ClientConfiguration) { self.configuration = configuration }

    /// True if the record at the position was committed, false if it was aborted. Waits while that is open.
    func isCommitted(_ position: RecordPosition, until deadline: ContinuousClock.Instant) throws(KafkaError) -> Bool {
        let handle = try ClientHandle(
            RD_KAFKA_CONSUMER, ClientSettings.groupless(configuration, isolation: .readCommitted))
        defer { handle.destroy() }
        return try handle.use { client throws(KafkaError) in try isCommitted(position, client, deadline) }
    }

    private func isCommitted(
        _ position: RecordPosition, _ client: OpaquePointer, _ deadline: ContinuousClock.Instant
    ) throws(KafkaError) -> Bool {
        let partition = TopicPartition(topic: position.topic, partition: position.partition)
        let stream = try PartitionStream(client, partition, from: position.offset)
        defer { stream.stop() }
        while !deadline.isPast {
            switch try stream.next(waiting: .milliseconds(200)) {
            case .record(let offset, _): return offset == position.offset
            case .end(let offset) where offset > position.offset: return false
            case .end, .nothing: continue
            }
        }
        throw KafkaError(.timedOut, "\(partition) is not readable up to offset \(position.offset) yet")
    }
}
