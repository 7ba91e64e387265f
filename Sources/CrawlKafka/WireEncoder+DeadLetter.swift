import Crawl
import JSONText
import Kafka

extension WireEncoder {
    /// What was set aside, with headers that say why. A received record keeps its key, its value (null stays null) and
    /// its headers.
    ///
    /// The added headers can make it larger than a record may be. Then the value is cut, and if that is not enough the
    /// received headers are left out, then the key; `-trimmed` says what is missing, `-value-bytes` how long the value
    /// was.
    func record(for letter: DeadLetter) -> ProducerRecord {
        var record = ProducerRecord(topic: topics.dead, value: nil)
        var added = Self.headers(of: letter, topic: topics.jobs)
        switch letter.content {
        case .received(let received):
            record.key = received.key
            record.value = received.value
            record.headers = received.headers.map { RecordHeader(name: $0.name, value: $0.value) }
        case .job(let job):
            let source = self.record(for: job)
            record.key = source.key
            record.value = source.value
            record.headers = source.headers
        case .item(let crawl, let head, let size):
            record.key = Array(crawl.utf8)
            record.value = head
            added.append(Self.header("size", String(size)))
        }
        return trimmed(record, adding: added)
    }

    private static func header(_ name: String, _ value: String) -> RecordHeader {
        RecordHeader(WireHeaders.error + name, value)
    }

    private static func headers(of letter: DeadLetter, topic: String) -> [RecordHeader] {
        [
            header("kind", letter.kind.rawValue),
            header("reason", String(letter.reason.prefix(1_024))),
            header("topic", topic),
            header("partition", String(letter.partition)),
            header("offset", String(letter.position.offset)),
            header("timestamp", String(letter.position.timestamp.milliseconds)),
            header("attempts", String(letter.attempts)),
        ]
    }

    private func trimmed(_ received: ProducerRecord, adding added: [RecordHeader]) -> ProducerRecord {
        var record = received
        record.headers += added
        if Self.size(record) <= maxRecordBytes { return record }
        for missing in ["value", "value, headers", "value, headers, key"] {
            record.headers = missing == "value" ? received.headers + added : added
            if missing.hasSuffix("key") { record.key = nil }
            record.headers.append(Self.header("trimmed", missing))
            record.headers.append(Self.header("value-bytes", String(received.value?.count ?? 0)))
            record.value = received.value
            cutValue(&record)
            if Self.size(record) <= maxRecordBytes { break }
        }
        return record
    }

    private func cutValue(_ record: inout ProducerRecord) {
        guard let value = record.value else { return }
        let excess = max(0, Self.size(record) - maxRecordBytes)
        record.value = Array(value.prefix(max(0, value.count - excess)))
    }
}
