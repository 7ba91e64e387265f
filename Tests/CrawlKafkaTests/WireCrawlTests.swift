import Crawl
import CrawlKafka
import Kafka
import Testing

struct WireCrawlTests {
    private let encoder = WireEncoder(topics: Topics(), maxRecordBytes: 1_000_000)

    private func record(of crawl: CrawlRecord, _ encoder: WireEncoder) -> ProducerRecord {
        var transaction = Transaction()
        transaction.steps = [Step(partition: 5, batches: [], record: crawl, next: nil)]
        return encoder.records(for: transaction)[0]
    }

    @Test func `random crawl records are read back as they were written`() throws {
        var random = SplitMix64(seed: 12)
        for _ in 0..<3_000 {
            let crawl = WireExamples.crawl(&random)
            let record = record(of: crawl, encoder)
            #expect(record.partition == 5)
            #expect(try WireDecoder.crawlRecord(WireExamples.readBack(record)) == .record(crawl))
        }
    }

    @Test func `fields of a newer version are passed over, missing ones are as in a new record`() throws {
        let value = #"""
            {"crawl":"c","run":1,"step":0,"source":"s","status":"running","started_at":"2026-03-01T12:00:00Z",
            "updated_at":"2026-03-01T12:00:00Z","newest_job":{"offset":1,"timestamp":2,"x":3},"new":{"a":1},"limits":{"n":1}}
            """#
        let noon = Timestamp(milliseconds: 1_772_366_400_000)
        let expected = CrawlRecord(
            crawl: "c", run: 1, source: "s", startedAt: noon,
            newestJob: JobPosition(offset: 1, timestamp: Timestamp(milliseconds: 2)))
        #expect(try WireDecoder.crawlRecord(WireExamples.record(key: "c", value: value)) == .record(expected))
    }

    @Test(
        arguments: [
            (nil, "{}", "the key: missing"), ("c", "{}", "crawl: missing"), ("c", "[]", "the value: must be an object"),
            ("c", "{\"crawl\":\"c\"", "the value: the text ends"), ("", nil, "the key: a crawl id must not be empty"),
        ] as [(String?, String?, String)])
    func `what no worker wrote is refused with the reason`(key: String?, value: String?, reason: String) {
        let error = #expect(throws: WireError.self) {
            try WireDecoder.crawlRecord(WireExamples.record(key: key, value: value))
        }
        #expect(error?.reason.hasPrefix(reason) == true, "\(error?.reason ?? "")")
    }

    @Test func `a crawl record under another key is refused`() throws {
        var record = WireExamples.readBack(record(of: WireExamples.running, encoder))
        record.key = Array("other".utf8)
        #expect(throws: WireError.self) { try WireDecoder.crawlRecord(record) }
    }

    @Test func `a reason that only a newer version knows still ends the crawl`() throws {
        let text = String(decoding: record(of: WireExamples.ended, encoder).value ?? [], as: UTF8.self)
        let changed = text.replacing("\"reason\":\"holes\"", with: "\"reason\":\"odd\"")
        guard
            case .record(let crawl) = try WireDecoder.crawlRecord(WireExamples.record(key: "shop-42", value: changed))
        else {
            Issue.record("no crawl record")
            return
        }
        #expect(crawl.isEnded && crawl.end?.reason == .unknown && crawl.end?.verdict == .truncated)
    }

    @Test(arguments: ["status", "verdict"])
    func `a word that is not known is refused and told`(field: String) throws {
        let text = String(decoding: record(of: WireExamples.ended, encoder).value ?? [], as: UTF8.self)
        let known = ["status": "ended", "verdict": "truncated"][field] ?? ""
        let changed = text.replacing("\"\(field)\":\"\(known)\"", with: "\"\(field)\":\"odd\"")
        let error = #expect(throws: WireError.self) {
            try WireDecoder.crawlRecord(WireExamples.record(key: "shop-42", value: changed))
        }
        #expect(error?.reason.hasPrefix("\(field): must be one of") == true)
    }

    @Test func `a crawl with more holes than fit keeps the newest and says how many are left out`() throws {
        var crawl = WireExamples.ended
        crawl.holes = (0..<2_000).map { .page($0) }
        let small = WireEncoder(topics: Topics(), maxRecordBytes: 10_000)
        let record = record(of: crawl, small)
        #expect(record.value.map { $0.count < 10_000 } == true)
        guard case .record(let decoded) = try WireDecoder.crawlRecord(WireExamples.readBack(record)) else { return }
        #expect(decoded.holes == Array(crawl.holes.suffix(decoded.holes.count)))
        #expect(decoded.holes.count >= 250)
        let text = String(decoding: record.value ?? [], as: UTF8.self)
        #expect(text.contains("\"holes_left_out\":\(2_000 - decoded.holes.count),"))
    }
}
