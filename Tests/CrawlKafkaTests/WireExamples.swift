import Crawl
import Kafka

@testable import CrawlKafka

/// Messages of every kind, and random ones.
enum WireExamples {
    static let traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    static let noon = Timestamp(milliseconds: 1_772_366_400_250)

    static func record(
        key: String? = nil, value: String?, headers: [RecordHeader] = [], partition: Int32 = 3, offset: Int64 = 42
    ) -> ConsumedRecord {
        ConsumedRecord(
            Kafka.OwnedPartition(topic: "pagehound.jobs", partition: partition, epoch: 1), offset: offset,
            timestamp: noon.milliseconds, key: key.map { Array($0.utf8) }, value: value.map { Array($0.utf8) },
            headers: headers)
    }

    /// The same bytes as if they were read again.
    static func readBack(_ record: ProducerRecord) -> ConsumedRecord {
        ConsumedRecord(
            Kafka.OwnedPartition(topic: record.topic, partition: record.partition ?? 0, epoch: 1), offset: 7,
            timestamp: noon.milliseconds, key: record.key, value: record.value, headers: record.headers)
    }

    static let start = Job(
        crawl: "shop-42", source: "products", params: ["category": "garden", "since": "2026-01-01"], from: .page(3),
        limits: Limits(maxPages: 100, maxItems: 5_000, deadline: noon + .seconds(3_600)), traceparent: traceparent)

    static let next = Job(
        crawl: "shop-42",
        action: .next(
            Continuation(
                run: 2, step: 17, cursor: .token(RawJSON(#"{"id":18446744073709551616,"t":"\ud800"}"#)), pages: 17,
                items: 1_700)),
        source: "products", params: ["category": "garden"], follow: false, traceparent: traceparent)

    static let running: CrawlRecord = {
        var record = CrawlRecord(
            crawl: "shop-42", run: 2, source: "products", startedAt: noon,
            newestJob: JobPosition(offset: 41, timestamp: noon), from: .offset(100))
        record.step = 17
        record.status = .waiting
        record.cursor = .url("https://api.example.com/v1/products?after=a%2Bb&x=\"ü\"")
        record.pages = 17
        record.items = 1_699
        record.totalItems = 5_000
        record.totalPages = 50
        record.cost = Cost(requests: 19, bytes: 412_345)
        record.retries = 2
        record.updatedAt = noon + .milliseconds(1_501)
        record.notBefore = noon + .seconds(30)
        record.params = ["category": "garden"]
        record.follow = false
        record.limits = Limits(maxPages: 100)
        record.traceparent = traceparent
        record.guards = Guards(
            trail: RequestTrail(recent: [1, .max], held: 0xdead_beef, sinceHeld: 3, reach: 8),
            previousItems: 0x0123_4567_89ab_cdef, emptyPages: 1, holesInARow: 2, attempts: 3, throttles: 4)
        return record
    }()

    static let ended: CrawlRecord = {
        var record = CrawlRecord(
            crawl: "shop-42", run: 2, source: "products", startedAt: noon,
            newestJob: JobPosition(offset: 41, timestamp: noon))
        record.step = 18
        record.status = .ended
        record.pages = 18
        record.items = 1_750
        record.holes = [.page(5), .page(9)]
        record.oversizedItems = 1
        record.totalMismatch = true
        record.end = CrawlRecord.End(.truncated, .holes, error: "2 pages failed for good; then empty_page")
        return record
    }()

    static func batch(_ items: Items, output: Output = .page, total: Int64? = 5_000) -> ResultBatch {
        ResultBatch(
            crawl: "shop-42", run: 2, source: "products", number: 17, cursor: .page(17), total: total,
            page: Page(
                items: items, status: 200, url: "https://api.example.com/v1/products?page=17", fetchedAt: noon,
                cost: Cost(requests: 1, bytes: 5_000)),
            output: output, traceparent: traceparent)
    }

    /// Slices of one body, as a page comes from an upstream.
    static func items(in body: String, _ items: [String]) -> Items {
        let bytes = Array(body.utf8)
        var ranges: [Range<Int>] = []
        var from = 0
        for item in items {
            let text = Array(item.utf8)
            while !bytes[from...].starts(with: text) { from += 1 }
            ranges.append(from..<from + text.count)
            from += text.count
        }
        return Items(bytes: bytes, ranges: ranges)
    }

    // MARK: Random

    static func text(_ random: inout SplitMix64, upTo length: Int = 12) -> String {
        let alphabet: [Character] = [
            "a", "Z", "0", " ", "\"", "\\", "/", "ü", "😀", "\n", "\u{1}", "{", "%", "+", "\u{2028}",
        ]
        return String(
            (0..<Int.random(in: 0...length, using: &random)).map { _ in alphabet.randomElement(using: &random)! })
    }

    static func cursor(_ random: inout SplitMix64) -> PageCursor? {
        let tokens = [
            "0", "false", "null", #"" x ""#, #""\udc00""#, "[1, null]", "{\"a\" : {\"a\":1, \"a\":2}}", "1.0", "1E400",
            "18446744073709551616", "\"\"",
        ]
        switch Int.random(in: 0..<5, using: &random) {
        case 0: return .page(.random(in: 0...WireObject.maxCount, using: &random))
        case 1: return .offset(.random(in: 0...9_999, using: &random))
        case 2: return .token(RawJSON(tokens.randomElement(using: &random)!))
        case 3: return .url("https://x/" + text(&random))
        default: return nil
        }
    }

    static func params(_ random: inout SplitMix64) -> [String: String] {
        var params: [String: String] = [:]
        for _ in 0..<Int.random(in: 0...3, using: &random) { params["p" + text(&random)] = text(&random) }
        return params
    }

    static func limits(_ random: inout SplitMix64) -> Limits {
        Limits(
            maxPages: maybe(&random) { .random(in: 1...Int64.max, using: &$0) },
            maxItems: maybe(&random) { .random(in: 1...1_000, using: &$0) }, deadline: maybe(&random, moment))
    }

    static func moment(_ random: inout SplitMix64) -> Timestamp {
        Timestamp(milliseconds: .random(in: -62_135_596_800_000...253_402_300_799_999, using: &random))
    }

    static func maybe<Value>(_ random: inout SplitMix64, _ value: (inout SplitMix64) -> Value) -> Value? {
        Bool.random(using: &random) ? value(&random) : nil
    }

    static func job(_ random: inout SplitMix64) -> Job {
        let actions: [Job.Action] = [.start, .cancel, .pause, .resume, .restart]
        let continuation = Continuation(
            run: .random(in: 1...9, using: &random), step: .random(in: 0...WireObject.maxCount, using: &random),
            cursor: cursor(&random), pages: .random(in: 0...99, using: &random),
            items: .random(in: 0...99, using: &random))
        let isNext = Bool.random(using: &random)
        return Job(
            crawl: "c" + text(&random).filter { $0.unicodeScalars.allSatisfy { $0.value >= 0x20 } },
            action: isNext ? .next(continuation) : actions.randomElement(using: &random)!,
            source: isNext ? "s" : maybe(&random) { "s" + text(&$0) }, params: params(&random), from: cursor(&random),
            follow: .random(using: &random), limits: limits(&random), traceparent: maybe(&random) { _ in traceparent })
    }

    static func crawl(_ random: inout SplitMix64) -> CrawlRecord {
        var record = CrawlRecord(
            crawl: "c" + text(&random).filter { $0.unicodeScalars.allSatisfy { $0.value >= 0x20 } },
            run: .random(in: 0...9, using: &random), source: text(&random), startedAt: moment(&random),
            newestJob: JobPosition(
                offset: .random(in: -1...Int64.max, using: &random),
                timestamp: Timestamp(milliseconds: .random(in: .min ... .max, using: &random))),
            from: cursor(&random))
        record.step = .random(in: 0...99, using: &random)
        record.status = CrawlRecord.Status.allCases.randomElement(using: &random)!
        record.cursor = cursor(&random)
        record.pages = .random(in: 0...WireObject.maxCount, using: &random)
        record.items = .random(in: 0...99, using: &random)
        record.totalItems = maybe(&random) { .random(in: .min ... .max, using: &$0) }
        record.totalPages = maybe(&random) { .random(in: -5...99, using: &$0) }
        record.cost = Cost(
            requests: .random(in: 0...99, using: &random), bytes: .random(in: 0...Int64.max, using: &random))
        record.retries = .random(in: 0...99, using: &random)
        record.updatedAt = moment(&random)
        record.notBefore = maybe(&random, moment)
        record.params = params(&random)
        record.follow = .random(using: &random)
        record.limits = limits(&random)
        record.traceparent = maybe(&random) { _ in traceparent }
        record.end = maybe(&random) { random in
            CrawlRecord.End(
                Verdict.allCases.randomElement(using: &random)!, EndReason.allCases.randomElement(using: &random)!,
                error: maybe(&random) { text(&$0) })
        }
        record.holes = (0..<Int.random(in: 0...3, using: &random)).compactMap { _ in cursor(&random) }
        record.oversizedItems = .random(in: 0...2, using: &random)
        record.totalMismatch = .random(using: &random)
        record.guards = Guards(
            trail: RequestTrail(
                recent: (0..<Int.random(in: 0...16, using: &random)).map { _ in random.next() },
                held: maybe(&random) { $0.next() }, sinceHeld: .random(in: 0...99, using: &random),
                reach: .random(in: 1...WireObject.maxCount, using: &random)),
            previousItems: maybe(&random) { $0.next() }, emptyPages: .random(in: 0...9, using: &random),
            holesInARow: .random(in: 0...9, using: &random), attempts: .random(in: 0...9, using: &random),
            throttles: .random(in: 0...9, using: &random))
        return record
    }
}
