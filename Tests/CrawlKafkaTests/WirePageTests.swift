import Crawl
import CrawlKafka
import JSONText
import Kafka
import Testing

struct WirePageTests {
    private func records(_ batch: ResultBatch, maxRecordBytes: Int = 1_000_000) -> [ProducerRecord] {
        var transaction = Transaction()
        transaction.steps = [Step(partition: 0, batches: [batch], record: WireExamples.ended, next: nil)]
        return WireEncoder(topics: Topics(), maxRecordBytes: maxRecordBytes).records(for: transaction)
            .filter { $0.topic == "pagehound.pages" }
    }

    private func field(_ pointer: String, of record: ProducerRecord) throws -> String? {
        let value = record.value ?? []
        let found = try JSONExtractor(items: nil, signals: [JSONPointer(pointer)]).extract(from: value)
        return found.signals[0]?.text(in: value)
    }

    private func items(of record: ProducerRecord) throws -> [String] {
        let value = record.value ?? []
        guard case .found(let ranges) = try JSONExtractor(items: JSONPointer("/items")).extract(from: value).items
        else { throw WireError("no items") }
        return ranges.map { String(decoding: value[$0], as: UTF8.self) }
    }

    private func header(_ name: String, of record: ProducerRecord) -> String? {
        record.headers.first { $0.name == Array(name.utf8) }?.value.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func `items are the upstream's own bytes, with what is between them`() throws {
        let list = ["18446744073709551616", "1.0", "{ \"a\":1,\"a\":2 }", "\"\\ud800\"", "null"]
        let body = "{\"n\":[" + list.joined(separator: " ,\n ") + "]}"
        let record = records(WireExamples.batch(WireExamples.items(in: body, list)))[0]
        #expect(
            String(decoding: record.value ?? [], as: UTF8.self).contains("[" + list.joined(separator: " ,\n ") + "]"))
        #expect(try items(of: record) == list)
        #expect(try field("/count", of: record) == "5")
    }

    @Test(arguments: [
        ("[1,2,3]", [1..<2, 5..<6]), ("[1 2]", [1..<2, 3..<4]), ("12", [0..<1, 1..<2]), ("[1,,2]", [1..<2, 4..<5]),
        ("[2,1]", [3..<4, 1..<2]), ("[1,2]", [1..<2, 1..<2]),
        ("1" + String(repeating: " ", count: 99) + ",2", [0..<1, 101..<102]),
    ])
    func `only a comma and white space between items is copied`(body: String, ranges: [Range<Int>]) throws {
        let page = Items(bytes: Array(body.utf8), ranges: ranges)
        let expected = ranges.map { String(decoding: page.bytes[$0], as: UTF8.self) }
        let record = records(WireExamples.batch(page))[0]
        #expect(try items(of: record) == expected)
        #expect(try field("/count", of: record) == "\(ranges.count)")
    }

    @Test func `a page without items is one record that says so`() throws {
        let record = records(WireExamples.batch(Items([]), total: nil))
        #expect(record.count == 1)
        #expect(try items(of: record[0]) == [])
        #expect(try field("/count", of: record[0]) == "0")
        #expect(try field("/total", of: record[0]) == "null")
        #expect(try field("/parts", of: record[0]) == "1")
    }

    @Test(arguments: 0..<20)
    func `a page is split into parts that fit, in order, with nothing lost`(seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed))
        let limit = Int.random(in: 2_000...20_000, using: &random)
        let largest = WireEncoder.maxItemBytes(maxRecordBytes: limit)
        let list = (0..<Int.random(in: 1...200, using: &random)).map { index in
            let bytes = Int.random(in: 8...(Bool.random(using: &random) ? 60 : largest), using: &random)
            let number = String(index)
            return "\"" + number + String(repeating: "x", count: bytes - 2 - number.utf8.count) + "\""
        }
        let separator = [",", " , ", ",\n"].randomElement(using: &random)!
        let page = WireExamples.items(in: "[" + list.joined(separator: separator) + "]", list)
        let parts = records(WireExamples.batch(page), maxRecordBytes: limit)
        #expect(try parts.flatMap { try items(of: $0) } == list)
        for (index, part) in parts.enumerated() {
            let headers = part.headers.reduce(0) { $0 + $1.name.count + ($1.value?.count ?? 0) }
            #expect((part.value?.count ?? 0) + (part.key?.count ?? 0) + headers + 61 <= limit)
            #expect(try field("/part", of: part) == "\(index + 1)")
            #expect(try field("/parts", of: part) == "\(parts.count)")
            #expect(header("part", of: part) == "\(index + 1)")
        }
    }

    @Test func `the largest item fits whatever the envelope says`() throws {
        let limit = 200_000
        let item = "\"" + String(repeating: "x", count: WireEncoder.maxItemBytes(maxRecordBytes: limit) - 2) + "\""
        var batch = WireExamples.batch(Items([item, item]))
        batch.crawl = String(repeating: "\"", count: WireDecoder.maxCrawlBytes)
        batch.cursor = .token(RawJSON("\"" + String(repeating: "t", count: 500_000) + "\""))
        batch.page.url = "https://x/" + String(repeating: "\u{1}ü", count: 100_000)
        let parts = records(batch, maxRecordBytes: limit)
        #expect(parts.count == 2)
        for part in parts {
            let headers = part.headers.reduce(0) { $0 + $1.name.count + ($1.value?.count ?? 0) }
            #expect((part.value?.count ?? 0) + (part.key?.count ?? 0) + headers + 61 <= limit)
            #expect(try field("/cursor", of: part) == "{\"left_out_bytes\":500012}")
        }
    }

    @Test(arguments: [
        (#"{"id":"k-1"}"#, "k-1"), (#"{"id":"\u00fc"}"#, "ü"), (#"{"id":7.0}"#, "7.0"), (#"{"id":true}"#, "true"),
        (#"{"id":null}"#, "shop-42"), (#"{"id":{"a":1}}"#, "shop-42"), (#"{}"#, "shop-42"), ("3", "shop-42"),
        (#"{"id":"\ud800"}"#, "shop-42"), (#"{"id":""}"#, ""),
        (#"{"id":"\#(String(repeating: "x", count: 70_000))"}"#, "shop-42"),
    ])
    func `an item goes under its own key if it has one`(item: String, key: String) {
        let record = records(WireExamples.batch(Items([item]), output: .item(key: "/id")))[0]
        #expect(record.key == Array(key.utf8))
        #expect(record.value == Array(item.utf8))
    }

    @Test func `items one by one carry the envelope in headers`() {
        let page = WireExamples.items(in: "[{\"a\":1}, 2 ]", ["{\"a\":1}", "2"])
        let list = records(WireExamples.batch(page, output: .item(key: nil)))
        #expect(list.map(\.key) == Array(repeating: Array("shop-42".utf8), count: 2))
        #expect(list.map(\.value) == [Array("{\"a\":1}".utf8), Array("2".utf8)])
        #expect(list.map { header("item", of: $0) } == ["1", "2"])
        #expect(header("crawl", of: list[1]) == "shop-42")
        #expect(header("cursor", of: list[1]) == "{\"page\":17}")
        #expect(header("traceparent", of: list[1]) == WireExamples.traceparent)
        #expect(records(WireExamples.batch(Items([]), output: .item(key: nil))).isEmpty)
    }
}
