/// librdkafka's mock cluster: brokers inside this process, for tests of calls, error classes and time-outs, and for demos.
///
/// It cannot show exactly-once: it stores no transactional offsets, shows aborted records, and fences nobody.
public final class MockCluster: Sendable {
    public init(brokers: Int = 1) throws(KafkaError) { fatalError() }

    public var bootstrapServers: String { fatalError() }
    public func createTopic(_ name: String, partitions: Int) throws(KafkaError) { fatalError() }
}
