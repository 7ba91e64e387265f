import CRdKafka

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

extension ClientConfiguration {
    /// Everything that is wrong with this configuration, each in one line that names the property.
    public func problems() -> [String] {
        var problems: [String] = []
        if bootstrapServers.isEmpty { problems.append("bootstrap servers are not given") }
        if clientId.utf8.count > 99 { problems.append("the client id is longer than 99 bytes") }
        let scratch = rd_kafka_conf_new()
        defer { rd_kafka_conf_destroy(scratch) }
        for (key, value) in properties.sorted(by: { $0.key < $1.key }) {
            if let reason = refusedProperties[key] {
                problems.append("\(key) cannot be set: \(reason)")
                continue
            }
            var message = [CChar](repeating: 0, count: 512)
            switch rd_kafka_conf_set(scratch, key, value, &message, message.count) {
            case RD_KAFKA_CONF_OK: continue
            case RD_KAFKA_CONF_UNKNOWN:
                let nearest = nearestName(to: key, among: knownProperties)
                problems.append(
                    "\(key) is not a property of librdkafka" + (nearest.map { "; did you mean \($0)?" } ?? ""))
            default: problems.append("\(key): \(text(message))")
            }
        }
        return problems
    }
}

/// What the guarantee rests on, or what has a field of its own, with the reason why it is not passed through.
let refusedProperties: [String: String] = {
    let reasons: [(String, [String])] = [
        (
            "offsets are committed inside transactions only",
            [
                "enable.auto.commit", "auto.commit.enable", "auto.commit.interval.ms", "enable.auto.offset.store",
                "offset.store.method", "offset.store.path", "offset.store.sync.interval.ms",
            ]
        ),
        ("readers must not see aborted records, and a new owner must wait for open offsets", ["isolation.level"]),
        ("it comes from the worker's slot, or is random", ["transactional.id"]),
        (
            "a transaction needs every record stored once, in order, on all in-sync replicas",
            [
                "enable.idempotence", "enable.gapless.guarantee", "acks", "request.required.acks", "max.in.flight",
                "max.in.flight.requests.per.connection", "retries", "message.send.max.retries",
                "delivery.report.only.error", "dr_cb", "dr_msg_cb",
            ]
        ),
        (
            "it follows from the transaction time-out",
            ["message.timeout.ms", "delivery.timeout.ms", "transaction.timeout.ms"]
        ),
        ("`latest` would lose records; there is a setting of its own", ["auto.offset.reset"]),
        (
            "it has a setting of its own",
            [
                "bootstrap.servers", "metadata.broker.list", "client.id", "group.id", "group.instance.id",
                "partition.assignment.strategy", "session.timeout.ms", "heartbeat.interval.ms",
                "max.poll.interval.ms", "message.max.bytes",
            ]
        ),
        (
            "this client relies on it",
            [
                "group.protocol", "group.remote.assignor", "enable.partition.eof", "allow.auto.create.topics",
                "log.queue", "log_level", "log.connection.close", "log_cb", "error_cb", "rebalance_cb", "stats_cb",
                "opaque", "enabled_events",
            ]
        ),
        ("only `MockCluster` makes mock brokers", ["test.mock.num.brokers", "test.mock.broker.rtt"]),
    ]
    return reasons.reduce(into: [:]) { all, group in for key in group.1 { all[key] = group.0 } }
}()

/// The names of all properties that this release of librdkafka knows.
let knownProperties: [String] = {
    guard let table = crdkafka_properties() else { return [] }
    defer { free(table) }
    return String(cString: table).split(separator: "\n").compactMap { line in
        let name = line.prefix { $0 != " " }
        return line.contains("|") && name.contains(where: { $0 == "." || $0 == "_" }) ? String(name) : nil
    }
}()

/// The name that is the fewest edits away, if it is near enough to be what was meant.
func nearestName(to name: String, among names: [String]) -> String? {
    let best = names.map { (name: $0, edits: edits(from: name, to: $0)) }.min { $0.edits < $1.edits }
    guard let best, best.edits <= max(2, name.count / 3) else { return nil }
    return best.name
}

/// The Levenshtein distance.
private func edits(from first: String, to second: String) -> Int {
    let (first, second) = (Array(first.utf8), Array(second.utf8))
    var row = Array(0...second.count)
    for (i, a) in first.enumerated() {
        var diagonal = row[0]
        row[0] = i + 1
        for (j, b) in second.enumerated() {
            let replaced = diagonal + (a == b ? 0 : 1)
            diagonal = row[j + 1]
            row[j + 1] = min(replaced, row[j] + 1, diagonal + 1)
        }
    }
    return row[second.count]
}
