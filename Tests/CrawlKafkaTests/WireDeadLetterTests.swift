import Crawl
import CrawlKafka
import Kafka
import Testing

struct WireDeadLetterTests {
    private func record(_ received: ReceivedRecord, maxRecordBytes: Int = 4_000, reason: String = "why")
        -> ProducerRecord
    {
        let letter = DeadLetter(
            kind: .malformedJob, reason: reason, content: .received(received), partition: 3,
            position: JobPosition(offset: 42, timestamp: WireExamples.noon), attempts: 1)
        var transaction = Transaction()
        transaction.deadLetters = [letter]
        return WireEncoder(topics: Topics(), maxRecordBytes: maxRecordBytes).records(for: transaction)[0]
    }

    private func header(_ name: String, of record: ProducerRecord) -> String? {
        record.headers.last { $0.name == Array("pagehound-error-\(name)".utf8) }?.value
            .map { String(decoding: $0, as: UTF8.self) }
    }

    private func size(_ record: ProducerRecord) -> Int {
        record.headers.reduce((record.key?.count ?? 0) + (record.value?.count ?? 0) + 61) {
            $0 + $1.name.count + ($1.value?.count ?? 0)
        }
    }

    private func bytes(_ count: Int) -> [UInt8] { [UInt8](repeating: 0xFE, count: count) }

    @Test func `the bytes and the headers of a record are untouched`() {
        let headers = [
            ReceivedRecord.Header(name: [0xFF, 0x00], value: nil), ReceivedRecord.Header(name: [], value: []),
            ReceivedRecord.Header(name: Array("pagehound-error-kind".utf8), value: [1]),
        ]
        let record = record(ReceivedRecord(key: [0xFF], value: [0x00, 0xFE], headers: headers))
        #expect(record.key == [0xFF])
        #expect(record.value == [0x00, 0xFE])
        #expect(record.partition == nil)
        #expect(record.headers.prefix(3).map(\.name) == headers.map(\.name))
        #expect(record.headers.prefix(3).map(\.value) == headers.map(\.value))
        #expect(header("kind", of: record) == "malformed_job")
        #expect(header("trimmed", of: record) == nil)
    }

    @Test func `null stays null and empty stays empty`() {
        #expect(record(ReceivedRecord(key: nil, value: nil)).value == nil)
        #expect(record(ReceivedRecord(key: nil, value: nil)).key == nil)
        #expect(record(ReceivedRecord(key: [], value: [])).value == [])
        #expect(record(ReceivedRecord(key: [], value: [])).key == [])
    }

    @Test func `a value that no longer fits is cut, and a header says how long it was`() {
        let record = record(ReceivedRecord(key: [1], value: bytes(3_900), headers: []))
        #expect(record.value.map { !$0.isEmpty && $0.count < 3_900 } == true)
        #expect(size(record) <= 4_000)
        #expect(header("trimmed", of: record) == "value")
        #expect(header("value-bytes", of: record) == "3900")
    }

    @Test func `headers, then the key, are left out if they alone do not fit`() {
        let large = ReceivedRecord.Header(name: Array("h".utf8), value: bytes(3_900))
        let withoutHeaders = record(ReceivedRecord(key: [1], value: bytes(100), headers: [large]))
        #expect(withoutHeaders.value == bytes(100))
        #expect(withoutHeaders.key == [1])
        #expect(header("trimmed", of: withoutHeaders) == "value, headers")
        #expect(size(withoutHeaders) <= 4_000)
        let withoutKey = record(ReceivedRecord(key: bytes(3_950), value: nil, headers: [large]))
        #expect(withoutKey.key == nil)
        #expect(withoutKey.value == nil)
        #expect(header("trimmed", of: withoutKey) == "value, headers, key")
        #expect(size(withoutKey) <= 4_000)
    }

    @Test func `a long reason is cut`() {
        let record = record(ReceivedRecord(), reason: String(repeating: "r", count: 5_000))
        #expect(header("reason", of: record)?.count == 1_024)
    }
}
