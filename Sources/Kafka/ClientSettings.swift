import CRdKafka

/// The properties of one client: this module's defaults, then the user's, then what the guarantee rests on.
struct ClientSettings {
    let report: @Sendable (ClientReport) -> Void
    private var properties: [(key: String, value: String)]
    private var rest: [(key: String, value: String)] = []
    /// Properties of later releases: set if this release takes them.
    private let optional = [("enable.metrics.push", "false"), ("fetch.queue.backoff.ms", "20")]

    /// Throws if a property of the configuration is refused or unknown.
    init(_ client: ClientConfiguration, defaults: [String: String] = [:]) throws(KafkaError) {
        if let problem = client.problems().first { throw KafkaError(.invalidArgument, problem) }
        report = client.report
        let common = [
            "reconnect.backoff.ms": "50", "reconnect.backoff.max.ms": "1000", "socket.nagle.disable": "true",
            "socket.timeout.ms": "10000",
        ]
        properties = common.merging(defaults) { $1 }.merging(client.properties) { $1 }.map { ($0.key, $0.value) }
        set("bootstrap.servers", client.bootstrapServers)
        set("client.id", client.clientId)
    }

    mutating func set(_ key: String, _ value: String) { rest.append((key, value)) }
    mutating func set(_ key: String, _ value: Duration) { set(key, String(value.timeoutMilliseconds)) }

    /// A configuration object of librdkafka; it belongs to the caller.
    func makeNative() throws(KafkaError) -> OpaquePointer {
        let native = rd_kafka_conf_new()!
        var message = [CChar](repeating: 0, count: 512)
        for (key, value) in properties + rest
        where rd_kafka_conf_set(native, key, value, &message, message.count) != RD_KAFKA_CONF_OK {
            rd_kafka_conf_destroy(native)
            throw KafkaError(.invalidArgument, text(message))
        }
        for (key, value) in optional { _ = rd_kafka_conf_set(native, key, value, nil, 0) }
        return native
    }
}
