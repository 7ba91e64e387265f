import Kafka

/// Which job a dead letter is about, and why it was set aside, as its headers say.
public struct DeadLetterOrigin: Sendable, Hashable {
    public var kind: String?
    public var reason: String?
    public var topic: String?
    public var partition: Int32?
    public var offset: Int64?

    /// Reads the headers that a worker added. They come last: what was received may have had the same names.
    public init(_ headers: [RecordHeader]) {
        func value(_ name: String) -> String? {
            let name = Array((WireHeaders.error + name).utf8)
            return headers.last { $0.name == name }?.value.map { String(decoding: $0, as: UTF8.self) }
        }
        kind = value("kind")
        reason = value("reason")
        topic = value("topic")
        partition = value("partition").flatMap { Int32($0) }
        offset = value("offset").flatMap { Int64($0) }
    }
}
