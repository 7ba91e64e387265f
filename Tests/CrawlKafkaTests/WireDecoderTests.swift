import Crawl
import CrawlKafka
import Kafka
import Testing

struct WireDecoderTests {
    private static let owned = PartitionEpoch(partition: 3, epoch: 9)

    private func content(_ record: ConsumedRecord) -> DeliveredJob.Content {
        WireDecoder.job(record, owned: Self.owned).content
    }

    private func job(_ value: String, key: String? = "c") throws -> Job {
        guard case .job(let job) = content(WireExamples.record(key: key, value: value)) else {
            throw WireError("\(content(WireExamples.record(key: key, value: value)))")
        }
        return job
    }

    private func reason(_ record: ConsumedRecord) -> String? {
        guard case .unusable(.malformedJob, let reason) = content(record) else { return nil }
        return reason
    }

    // MARK: What is accepted

    @Test func `the smallest trigger starts a crawl`() throws {
        #expect(try job(#"{"source":"products"}"#) == Job(crawl: "c", source: "products"))
    }

    @Test func `the crawl id is the key, or the field, or the place of the trigger`() throws {
        #expect(try job(#"{"source":"s","crawl":"c"}"#).crawl == "c")
        #expect(try job(#"{"source":"s","crawl":"f"}"#, key: nil).crawl == "f")
        #expect(try job(#"{"source":"s"}"#, key: nil).crawl == "3-42")
    }

    @Test func `all that a user can say is read`() throws {
        let value = #"""
            \#u{FEFF} {"source":"products","action":"restart","params":{"a":"x","n":1.50,"b":true,"e":""},
            "from":{"token":{"k":[1, 2]}},"follow":false,
            "limits":{"max_pages":3,"max_items":null,"deadline":"2026-03-01T13:00:00+01:00"}}
            """#
        let expected = Job(
            crawl: "c", action: .restart, source: "products", params: ["a": "x", "n": "1.50", "b": "true", "e": ""],
            from: .token(RawJSON(#"{"k":[1, 2]}"#)), follow: false,
            limits: Limits(maxPages: 3, deadline: Timestamp(milliseconds: 1_772_366_400_000)))
        #expect(try job(value) == expected)
    }

    @Test(arguments: ["cancel", "pause", "resume", "restart", "start"])
    func `a word about a crawl needs no source`(action: String) throws {
        #expect(try job(#"{"action":"\#(action)"}"#).source == nil)
    }

    @Test(arguments: [
        (#"{"page":0}"#, PageCursor.page(0)), (#"{"offset":200}"#, .offset(200)),
        (#"{"token":0}"#, .token(RawJSON("0"))),
        (#"{"token":false}"#, .token(RawJSON("false"))), (#"{"token": " x " }"#, .token(RawJSON(#"" x ""#))),
        (#"{"token":null}"#, .token(RawJSON("null"))), (#"{"token":"\ud800"}"#, .token(RawJSON(#""\ud800""#))),
        (#"{"url":"https://x/?a=%2B"}"#, .url("https://x/?a=%2B")),
    ])
    func `each kind of page cursor is read as it was written`(text: String, cursor: PageCursor) throws {
        #expect(try job(#"{"source":"s","from":\#(text)}"#).from == cursor)
    }

    @Test func `null is no cursor`() throws {
        #expect(try job(#"{"source":"s","from":null}"#).from == nil)
    }

    @Test func `the record is kept as it came`() {
        let headers = [RecordHeader(name: [0xFF], value: nil), RecordHeader("a", ""), RecordHeader("a", "2")]
        let delivered = WireDecoder.job(
            WireExamples.record(key: nil, value: "nonsense", headers: headers), owned: Self.owned)
        #expect(delivered.owned == Self.owned)
        #expect(delivered.position == JobPosition(offset: 42, timestamp: WireExamples.noon))
        #expect(delivered.received.key == nil)
        #expect(delivered.received.value == Array("nonsense".utf8))
        #expect(delivered.received.headers.map(\.name) == headers.map(\.name))
        #expect(delivered.received.headers.map(\.value) == headers.map(\.value))
    }

    @Test(arguments: [
        (WireExamples.traceparent, true), ("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more", true),
        ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more", false), ("", false), ("00", false),
        ("00-00000000000000000000000000000000-00f067aa0ba902b7-01", false),
        ("00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", false),
        ("00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01", false),
        ("ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", false),
    ])
    func `a trace context is taken from the headers if it is one`(text: String, isTaken: Bool) {
        let record = WireExamples.record(key: "c", value: "{}", headers: [RecordHeader("traceparent", text)])
        guard case .job(let job) = content(record) else {
            Issue.record("unusable")
            return
        }
        #expect(job.traceparent == (isTaken ? text : nil))
    }

    // MARK: What is not

    @Test(arguments: [
        (#"{"sorce":"x"}"#, #""sorce": unknown field; did you mean "source"?"#),
        (#"{"priority":1}"#, #""priority": unknown field; known are source, crawl, action"#),
        (#"{"\ud800":1}"#, #""\ud800": unknown field"#),
        (#"{"source":1}"#, #"source: must be a string, not 1"#),
        (#"{"source":null}"#, #"source: must be a string, not null"#),
        (#"{"source":""}"#, #"source: must not be empty"#),
        (#"{"source":"\udc00"}"#, #"source: must be a string, not "\udc00""#),
        (#"{"source":"a","source":"b"}"#, #""source": is there twice"#),
        (#"{"source":"a","s\u006furce":"b"}"#, #""s\u006furce": is there twice"#),
        (
            #"{"action":"strat"}"#,
            #"action: must be one of start, cancel, pause, resume, restart, next, not "strat"; did"#
        ),
        (#"{"action":null}"#, #"action: must be a string, not null"#),
        (#"{"params":["a"]}"#, #"params: must be an object, not an array"#),
        (#"{"params":{"domain":["a"]}}"#, #"params.domain: must be a string, a number, true or false, not an array"#),
        (#"{"params":{"a":null}}"#, #"params.a: must be a string, a number, true or false, not null"#),
        (#"{"params":{"a":1,"a":2}}"#, #"params."a": is there twice"#),
        (#"{"params":{"":1}}"#, #"params."": must be a name"#),
        (#"{"from":3}"#, #"from: must be a page cursor such as"#),
        (#"{"from":{}}"#, #"from: must have one of page, offset, token, url; it has none"#),
        (#"{"from":{"page":1,"url":"x"}}"#, #"from: must have one of page, offset, token, url; it has page and url"#),
        (#"{"from":{"pge":1}}"#, #"from."pge": unknown field; did you mean "page"?"#),
        (#"{"from":{"page":-1}}"#, #"from.page: must be a whole number of at least 0, not -1"#),
        (
            #"{"from":{"page":9223372036854775807}}"#,
            #"from.page: must be at most 1099511627776, not 9223372036854775807"#
        ),
        (
            #"{"action":"next","source":"s","run":1,"step":0,"pages":9223372036854775807,"items":0}"#,
            "pages: must be at most"
        ),
        (#"{"from":{"page":"1"}}"#, #"from.page: must be a whole number of at least 0, not "1""#),
        (#"{"from":{"offset":9223372036854775808}}"#, #"from.offset: must be a whole number"#),
        (#"{"from":{"url":""}}"#, #"from.url: must not be empty"#),
        (#"{"follow":"false"}"#, #"follow: must be true or false, not "false""#),
        (#"{"limits":[]}"#, #"limits: must be an object, not an array"#),
        (#"{"limits":{"maxpages":1}}"#, #"limits."maxpages": unknown field; did you mean "max_pages"?"#),
        (#"{"limits":{"max_pages":-5}}"#, #"limits.max_pages: must be a whole number of at least 1, not -5"#),
        (#"{"limits":{"max_pages":0}}"#, #"limits.max_pages: must be a whole number of at least 1, not 0"#),
        (#"{"limits":{"max_items":1.0}}"#, #"limits.max_items: must be a whole number of at least 1, not 1.0"#),
        (#"{"limits":{"max_items":1e3}}"#, #"limits.max_items: must be a whole number of at least 1, not 1e3"#),
        (#"{"limits":{"deadline":"tomorrow"}}"#, #"limits.deadline: must be a date-time by RFC 3339"#),
        (#"{"limits":{"deadline":1772366400}}"#, #"limits.deadline: must be a date-time by RFC 3339"#),
        (#"{"run":1}"#, #"run: only a worker's "next" job has this field; a cursor to begin at is "from""#),
        (#"{"cursor":{"page":1}}"#, #"cursor: only a worker's"#),
        (#"{"action":"next","source":"s"}"#, #"run: missing"#),
        (#"{"action":"next","run":1,"step":0,"pages":0,"items":0}"#, #"source: missing"#),
        (
            #"{"action":"next","source":"s","run":0,"step":0,"pages":0,"items":0}"#,
            #"run: must be a whole number of at"#
        ),
        (#"{"crawl":""}"#, #"crawl: a crawl id must not be empty"#),
        (#"{"crawl":"other"}"#, #"crawl: must be the same as the record's key if both are there; it is "other", the"#),
        (#"{"crawl":7}"#, #"crawl: must be a string, not 7"#),
        (#"[{"source":"s"}]"#, #"the value: must be an object, not an array"#),
        (#""products""#, #"the value: must be an object, not "products""#),
        ("", "the value: there is nothing"),
        ("products", "the value: `products` where a value is expected at byte 0"),
        (#"{"source":"s"} x"#, #"the value: `x` where the end is expected at byte 15"#),
        (#"{"source":"s""#, #"the value: the text ends before its value does at byte 13"#),
    ])
    func `a job that is not understood is unusable and the reason names the field`(value: String, reason: String) {
        let found = self.reason(WireExamples.record(key: "c", value: value))
        #expect(found?.hasPrefix(reason) == true, "\(found ?? "accepted")")
    }

    @Test func `a null value, and bytes that are not UTF-8, are unusable`() {
        #expect(reason(WireExamples.record(key: "c", value: nil))?.hasPrefix("the value is null") == true)
        var record = WireExamples.record(key: "c", value: nil)
        record.value = [0xFF, 0x00]
        #expect(reason(record) == "the value: the text is not UTF-8 at byte 0")
        record.value = Array(#"{"source":"s"}"#.utf8)
        record.key = [0x63, 0xFF]
        #expect(reason(record) == "the key: must be a crawl id in UTF-8")
    }

    @Test(arguments: [
        ("", "the key: a crawl id must not be empty"), ("a\nb", "the key: a crawl id must not have control characters"),
        (String(repeating: "x", count: 1_025), "the key: a crawl id has at most 1024 bytes; this one has 1025"),
    ])
    func `a key that is no crawl id is unusable`(key: String, reason: String) {
        #expect(self.reason(WireExamples.record(key: key, value: "{}")) == reason)
    }

    @Test func `a job that is too deep or too large is unusable`() {
        let open = String(repeating: "[", count: 500_000)
        let close = String(repeating: "]", count: 500_000)
        let million = #"{"from":{"token":\#(open)\#(close)}}"#
        #expect(reason(WireExamples.record(key: "c", value: million))?.contains("nested deeper") == true)
        let deep = #"{"from":{"token":\#(open.prefix(63))\#(close.prefix(63))}}"#
        #expect(reason(WireExamples.record(key: "c", value: deep))?.contains("nested deeper than 64 levels") == true)
        let large = #"{"params":{"a":"\#(String(repeating: "x", count: 200_000))"}}"#
        #expect(reason(WireExamples.record(key: "c", value: large))?.contains("200019 bytes") == true)
        let huge = String(repeating: " ", count: 2_000_000)
        #expect(reason(WireExamples.record(key: "c", value: huge))?.contains("2000000 bytes") == true)
    }

    @Test func `a next job may carry any cursor that an upstream made`() {
        let token = String(repeating: "[", count: 1_024) + String(repeating: "]", count: 1_024)
        var next = WireExamples.next
        next.action = .next(Continuation(run: 1, step: 1, cursor: .token(RawJSON(token)), pages: 1, items: 1))
        let record = WireEncoder(topics: Topics(), maxRecordBytes: 1_000_000).record(for: next)
        #expect(content(WireExamples.readBack(record)) == .job(next))
    }

    @Test func `a long name in a reason is cut`() {
        let name = String(repeating: "n", count: 10_000)
        let reason = reason(WireExamples.record(key: "c", value: #"{"\#(name)":1}"#))
        #expect(reason.map { $0.count < 300 } == true)
    }

    // MARK: Anything at all

    @Test(arguments: 0..<10)
    func `whatever comes is a job or unusable with a reason`(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        let fragments = [
            "{", "}", "[", "]", "\"", ":", ",", "\\u", "\\ud83d", "null", "true", "-1", "1e9", "\"source\"",
            "\"from\":",
            "\"limits\":{\"max_pages\":", "\"action\":\"next\"", "\"params\":", "\u{0}", "ü", " ",
        ].map { Array($0.utf8) }
        for _ in 0..<1_000 {
            var value = WireEncoder.value(of: WireExamples.job(&random))
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                let at = Int.random(in: 0...value.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: value.insert(contentsOf: fragments.randomElement(using: &random)!, at: at)
                case 1: value.removeSubrange(at..<min(value.count, at + Int.random(in: 0...9, using: &random)))
                case 2: value = Array(value.prefix(at))
                default: value.insert(UInt8.random(in: 0...255, using: &random), at: at)
                }
            }
            var record = WireExamples.record(key: nil, value: nil)
            record.value = value
            record.key = WireExamples.maybe(&random) { random in
                (0..<3).map { _ in UInt8.random(in: 0...255, using: &random) }
            }
            switch content(record) {
            case .job(let job): #expect(!job.crawl.isEmpty)
            case .unusable(let kind, let reason):
                #expect(kind == .malformedJob)
                #expect(!reason.isEmpty && reason.count < 1_000)
            }
        }
    }

    @Test func `random jobs are read back as they were written`() {
        var random = SplitMix64(seed: 11)
        let encoder = WireEncoder(topics: Topics(), maxRecordBytes: 1_000_000)
        for _ in 0..<3_000 {
            let job = WireExamples.job(&random)
            #expect(content(WireExamples.readBack(encoder.record(for: job))) == .job(job))
        }
    }
}
