import CRdKafka
import Threads

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// librdkafka's mock cluster: brokers inside this process, for tests of calls, error classes and time-outs, and for demos.
///
/// It cannot show exactly-once, in any release: it stores no transactional offsets, shows aborted records, and fences
/// nobody. Its first group join takes 3 s; a session time-out of 3 s or less never joins. Close all clients before it.
public final class MockCluster: Sendable {
    private let handle: ClientHandle
    private let brokers: Int
    /// Brokers listen here, on 127.0.0.1.
    public let bootstrapServers: String
    private let cluster: Cluster
    /// Keeps the ports of brokers that are down.
    private let reserved = Monitor<[Int: PortReservation]>([:])

    private struct Cluster: @unchecked Sendable { let native: OpaquePointer }

    public init(brokers: Int = 1) throws(KafkaError) {
        let configuration = ClientConfiguration(bootstrapServers: "mock", clientId: "mock-cluster")
        handle = try ClientHandle(RD_KAFKA_PRODUCER, ClientSettings(configuration))
        let native = try handle.use { rd_kafka_mock_cluster_new($0, Int32(brokers)) }
        guard let native else { throw KafkaError(.fail, "the mock cluster did not start") }
        cluster = Cluster(native: native)
        bootstrapServers = String(cString: rd_kafka_mock_cluster_bootstraps(native))
        self.brokers = brokers
    }

    deinit { rd_kafka_mock_cluster_destroy(cluster.native) }

    public func createTopic(_ name: String, partitions: Int) throws(KafkaError) {
        try check(rd_kafka_mock_topic_create(cluster.native, name, Int32(partitions), Int32(brokers)))
    }

    /// What a request asks for.
    public enum API: Int16, Sendable, CaseIterable {
        case produce = 0
        case fetch, listOffsets
        case offsetCommit = 8
        case offsetFetch, findCoordinator, joinGroup, heartbeat, leaveGroup, syncGroup
        case initProducerId = 22
        case addPartitionsToTransaction = 24
        case addOffsetsToTransaction, endTransaction
        case transactionOffsetCommit = 28
    }

    /// The next requests of this kind, to whichever broker, are answered with these errors, one each.
    public func push(_ errors: [KafkaError.Code], for api: API) {
        let codes = errors.map(\.native)
        rd_kafka_mock_push_request_errors_array(cluster.native, api.rawValue, codes.count, codes)
    }

    /// The next request of this kind to one broker is answered late, and with the error if one is given.
    public func push(_ error: KafkaError.Code?, after delay: Duration, for api: API, broker: Int) throws(KafkaError) {
        let code = error?.native ?? RD_KAFKA_RESP_ERR_NO_ERROR
        try check(
            crdkafka_mock_push_error(
                cluster.native, existing(broker), api.rawValue, code, delay.timeoutMilliseconds))
    }

    /// All produce requests to the topic fail with this error, until it is `nil`.
    public func setError(_ error: KafkaError.Code?, forTopic topic: String) {
        rd_kafka_mock_topic_set_error(cluster.native, topic, error?.native ?? RD_KAFKA_RESP_ERR_NO_ERROR)
    }

    /// Cuts the broker's connections and refuses new ones.
    public func setDown(broker: Int) throws(KafkaError) {
        try check(rd_kafka_mock_broker_set_down(cluster.native, existing(broker)))
        let port = bootstrapServers.split(separator: ",")[broker - 1].split(separator: ":").last.flatMap { UInt16($0) }
        guard let reservation = port.flatMap(PortReservation.init) else {
            throw KafkaError(.fail, "the port of broker \(broker) was taken as soon as it was down")
        }
        reserved.withLock { $0[broker] = reservation }
    }

    /// The broker listens again, on the same port.
    public func setUp(broker: Int) throws(KafkaError) {
        guard reserved.withLock({ $0[broker] != nil }) else {
            throw KafkaError(.state, "broker \(broker) is not down")
        }
        try check(rd_kafka_mock_broker_set_up(cluster.native, existing(broker)))
        reserved.withLock { $0[broker] = nil }
    }

    public func setRoundTrip(_ time: Duration, broker: Int) throws(KafkaError) {
        try check(rd_kafka_mock_broker_set_rtt(cluster.native, existing(broker), time.timeoutMilliseconds))
    }

    public func setLeader(of partition: TopicPartition, broker: Int) throws(KafkaError) {
        try check(
            rd_kafka_mock_partition_set_leader(
                cluster.native, partition.topic, partition.partition, existing(broker)))
    }

    public enum Coordinated: Sendable, Hashable {
        case group(String)
        case transactionalId(String)
    }

    public func setCoordinator(of what: Coordinated, broker: Int) throws(KafkaError) {
        let (kind, name) =
            switch what {
            case .group(let name): ("group", name)
            case .transactionalId(let name): ("transaction", name)
            }
        try check(rd_kafka_mock_coordinator_set(cluster.native, kind, name, existing(broker)))
    }

    /// librdkafka 2.0.2 aborts the whole process when a coordinator is set that does not exist.
    private func existing(_ broker: Int) throws(KafkaError) -> Int32 {
        guard (1...brokers).contains(broker) else {
            throw KafkaError(.invalidArgument, "there is no broker \(broker); they are 1 to \(brokers)")
        }
        return Int32(broker)
    }

    private func check(_ code: rd_kafka_resp_err_t) throws(KafkaError) {
        if code != RD_KAFKA_RESP_ERR_NO_ERROR { throw KafkaError(code) }
    }
}

/// A port of 127.0.0.1 that is bound and not listened on, so that the kernel gives it to nobody else, while whoever sets
/// SO_REUSEADDR may still listen there. librdkafka aborts the process if a broker comes up and its port is taken.
private final class PortReservation: Sendable {
    private let descriptor: Int32

    init?(_ port: UInt16) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        var on: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = port.bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
        }
        if status != 0 { return nil }
    }

    deinit { close(descriptor) }
}
