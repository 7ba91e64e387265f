import Crawl
import CrawlKafka
import Foundation
import JSONText
import Kafka
import Testing

/// Every kind of message, byte for byte. A change here changes what is in people's topics.
struct WireGoldenTests {
    private static let encoder = WireEncoder(topics: Topics(), maxRecordBytes: 1_000_000)

    private static func transaction(_ change: (inout Transaction) -> Void) -> [ProducerRecord] {
        var transaction = Transaction()
        change(&transaction)
        return encoder.records(for: transaction)
    }

    private static func step(_ batches: [ResultBatch], _ record: CrawlRecord, _ next: Job?) -> [ProducerRecord] {
        transaction { $0.steps = [Step(partition: 3, batches: batches, record: record, next: next)] }
    }

    private static func deadLetter(_ kind: DeadLetter.Kind, _ reason: String, _ content: DeadLetter.Content)
        -> [ProducerRecord]
    {
        let position = JobPosition(offset: 42, timestamp: WireExamples.noon)
        let letter = DeadLetter(
            kind: kind, reason: reason, content: content, partition: 3, position: position, attempts: 8)
        return transaction { $0.deadLetters = [letter] }
    }

    private static func records(of name: String) -> [ProducerRecord] {
        let page = WireExamples.items(
            in: #"{"items":[{"id":1, "id":2} , 1.0,"ü"]}"#, [#"{"id":1, "id":2}"#, "1.0", "\"ü\""])
        switch name {
        case "trigger": return [encoder.record(for: WireExamples.start)]
        case "step": return step([WireExamples.batch(page)], WireExamples.running, WireExamples.next)
        case "ended": return step([], WireExamples.ended, nil)
        case "items": return step([WireExamples.batch(page, output: .item(key: "/id"))], WireExamples.ended, nil)
        case "parts":
            let items = Items((0..<3).map { "\"\($0)" + String(repeating: "x", count: 60) + "\"" })
            let small = WireEncoder(topics: Topics(prefix: "p."), maxRecordBytes: 760)
            var transaction = Transaction()
            transaction.steps = [
                Step(
                    partition: 0, batches: [WireExamples.batch(items, total: nil)], record: WireExamples.ended,
                    next: nil)
            ]
            return small.records(for: transaction).filter { $0.topic == "p.pages" }
        case "dead-received":
            let header = ReceivedRecord.Header(name: Array("mine".utf8), value: nil)
            let received = ReceivedRecord(key: nil, value: Array(#"{"sorce":1}"#.utf8), headers: [header])
            return deadLetter(
                .malformedJob, "\"sorce\": unknown field; did you mean \"source\"?", .received(received))
        case "dead-job":
            return deadLetter(.crawlFailed, "503 from https://api.example.com/v1", .job(WireExamples.next))
        case "dead-item":
            let item = DeadLetter.Content.item(crawl: "shop-42", head: Array("[1,2]".utf8), size: 3_000_000)
            return deadLetter(.itemTooLarge, "an item has 3000000 bytes", item)
        case "forgotten":
            return transaction { $0.forgotten = [ForgottenCrawl(partition: 3, crawl: "shop-42")] }
        default: return []
        }
    }

    private static let names = [
        "trigger", "step", "ended", "items", "parts", "dead-received", "dead-job", "dead-item", "forgotten",
    ]

    @Test(arguments: names)
    func `a message is written byte for byte as it always was`(name: String) throws {
        let url = try #require(Bundle.module.url(forResource: "Golden/\(name)", withExtension: "json"))
        let golden = try String(contentsOf: url, encoding: .utf8)
        #expect(Self.text(of: Self.records(of: name)) == golden)
    }

    @Test func `golden jobs and crawl records are read back the same`() throws {
        let trigger = WireDecoder.job(WireExamples.readBack(Self.records(of: "trigger")[0]), owned: Self.owned)
        #expect(trigger.content == .job(WireExamples.start))
        let step = Self.records(of: "step")
        #expect(step.map(\.topic) == ["pagehound.pages", "pagehound.crawls", "pagehound.jobs"])
        #expect(step.map(\.partition) == [nil, 3, 3])
        #expect(try WireDecoder.crawlRecord(WireExamples.readBack(step[1])) == .record(WireExamples.running))
        #expect(WireDecoder.job(WireExamples.readBack(step[2]), owned: Self.owned).content == .job(WireExamples.next))
        let ended = Self.records(of: "ended")
        #expect(try WireDecoder.crawlRecord(WireExamples.readBack(ended[0])) == .record(WireExamples.ended))
        let replayed = WireExamples.readBack(Self.records(of: "dead-job")[0])
        #expect(WireDecoder.job(replayed, owned: Self.owned).content == .job(WireExamples.next))
        let forgotten = WireExamples.readBack(Self.records(of: "forgotten")[0])
        #expect(try WireDecoder.crawlRecord(forgotten) == .forgotten(crawl: "shop-42"))
    }

    private static let owned = PartitionEpoch(partition: 3, epoch: 1)

    /// A JSON list with a line for each part of a record; the value is in there as it is, because it is JSON too.
    private static func text(of records: [ProducerRecord]) -> String {
        let lines = records.map { record in
            var json = JSONWriter()
            json.beginObject()
            json.key("topic")
            json.string(record.topic)
            json.key("partition")
            if let partition = record.partition { json.int(Int64(partition)) } else { json.null() }
            json.key("key")
            if let key = record.key { json.string(String(decoding: key, as: UTF8.self)) } else { json.null() }
            let parts = record.headers.map { header in
                var json = JSONWriter()
                json.beginArray()
                json.string(String(decoding: header.name, as: UTF8.self))
                if let value = header.value { json.string(String(decoding: value, as: UTF8.self)) } else { json.null() }
                json.endArray()
                return "  " + String(decoding: json.bytes, as: UTF8.self)
            }
            let headers = parts.isEmpty ? "[]" : "[\n\(parts.joined(separator: ",\n"))\n ]"
            let value = record.value.map { String(decoding: $0, as: UTF8.self) } ?? "null"
            return "\(String(decoding: json.bytes, as: UTF8.self)),\n \"headers\":\(headers),\n \"value\":\n\(value)\n}"
        }
        return "[\(lines.joined(separator: ",\n"))]\n"
    }
}
