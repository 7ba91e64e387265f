import Crawl
import JSONText
import Kafka

/// What a record of the topic `crawls` says.
public enum LedgerEntry: Sendable, Hashable {
    case record(CrawlRecord)
    /// A tombstone.
    case forgotten(crawl: String)
}

extension WireDecoder {
    /// The crawl record, or the tombstone, in a record of the topic `crawls`.
    /// - Throws: if a worker cannot have written it.
    public static func crawlRecord(_ record: ConsumedRecord) throws(WireError) -> LedgerEntry {
        guard let key = record.key else { throw WireError("the key: missing; a crawl record has its crawl id there") }
        let crawl = try crawl(key)
        guard let bytes = record.value else { return .forgotten(crawl: crawl) }
        let decoded = try crawlRecord(bytes)
        guard decoded.crawl == crawl else { throw WireError("crawl: is not the record's key") }
        return .record(decoded)
    }

    /// The crawl record in a value.
    static func crawlRecord(_ bytes: [UInt8]) throws(WireError) -> CrawlRecord {
        let object = try WireObject(try parse(bytes, maxBytes: .max), in: bytes, valid: nil)
        var record = CrawlRecord(
            crawl: try object.required("crawl", try object.text("crawl")),
            run: try object.required("run", try object.integer("run")),
            source: try object.required("source", try object.text("source")),
            startedAt: try object.required("started_at", try object.moment("started_at")),
            newestJob: try position(object), from: try object.cursor("from"))
        record.step = try object.required("step", try object.integer("step"))
        record.status = try object.required("status", try object.word("status"))
        record.cursor = try object.cursor("cursor")
        record.updatedAt = try object.required("updated_at", try object.moment("updated_at"))
        record.notBefore = try object.moment("not_before")
        try readCounts(&record, object)
        record.params = try object.params()
        record.follow = try object.flag("follow") ?? true
        record.limits = try object.limits(valid: nil)
        record.traceparent = try object.text("traceparent")
        record.end = try end(object)
        record.holes = try object.cursors("holes")
        record.guards = try guards(object)
        return record
    }

    private static func readCounts(_ record: inout CrawlRecord, _ object: WireObject) throws(WireError) {
        record.pages = try object.integer("pages") ?? 0
        record.items = try object.integer("items") ?? 0
        record.totalItems = try object.integer("total", in: .min ... .max)
        record.totalPages = try object.integer("total_pages", in: .min ... .max)
        record.cost = Cost(
            requests: try object.integer("requests") ?? 0,
            bytes: try object.integer("bytes", in: 0 ... .max) ?? 0)
        record.retries = try object.integer("retries") ?? 0
        record.oversizedItems = try object.integer("oversized_items") ?? 0
        record.totalMismatch = try object.flag("total_mismatch") ?? false
    }

    private static func position(_ object: WireObject) throws(WireError) -> JobPosition {
        let job = try object.required("newest_job", try object.object("newest_job", valid: nil))
        let timestamp = try job.required("timestamp", try job.integer("timestamp", in: .min ... .max))
        return JobPosition(
            offset: try job.required("offset", try job.integer("offset", in: .min ... .max)),
            timestamp: Timestamp(milliseconds: timestamp))
    }

    private static func end(_ object: WireObject) throws(WireError) -> CrawlRecord.End? {
        guard let verdict: Verdict = try object.word("verdict") else { return nil }
        let reason = try object.required("reason", try object.text("reason"))
        return CrawlRecord.End(verdict, EndReason(rawValue: reason) ?? .unknown, error: try object.text("error"))
    }

    private static func guards(_ object: WireObject) throws(WireError) -> Guards {
        guard let fields = try object.object("guards", valid: nil) else { return Guards() }
        return Guards(
            trail: RequestTrail(
                recent: try fields.hashes("recent"), held: try fields.hash("held"),
                sinceHeld: try fields.integer("since_held") ?? 0,
                reach: try fields.integer("reach", in: 1...WireObject.maxCount) ?? 1),
            previousItems: try fields.hash("previous_items"), emptyPages: try fields.count("empty_pages"),
            holesInARow: try fields.count("holes_in_a_row"), attempts: try fields.count("attempts"),
            throttles: try fields.count("throttles"))
    }
}

extension WireObject {
    /// One of the words of an enum.
    fileprivate func word<Word: RawRepresentable & CaseIterable>(_ name: String) throws(WireError) -> Word?
    where Word.RawValue == String {
        guard let text = try text(name) else { return nil }
        guard let word = Word(rawValue: text) else {
            let known = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw WireError("\(path)\(name): must be one of \(known), not \"\(text)\"")
        }
        return word
    }

    fileprivate func count(_ name: String) throws(WireError) -> Int { Int(try integer(name) ?? 0) }

    fileprivate func hash(_ name: String) throws(WireError) -> UInt64? {
        guard let node = value(name) else { return nil }
        return try hash(name, node)
    }

    fileprivate func hashes(_ name: String) throws(WireError) -> [UInt64] {
        guard let node = node(name) else { return [] }
        guard case .array(let elements) = node.content else { throw wrong(name, node, "a list of hashes") }
        var hashes: [UInt64] = []
        for element in elements { hashes.append(try hash(name, element)) }
        return hashes
    }

    private func hash(_ name: String, _ node: JSONNode) throws(WireError) -> UInt64 {
        guard case .string(let digits) = node.content, digits.utf8.count == 16, let hash = UInt64(digits, radix: 16)
        else { throw wrong(name, node, "a hash of 16 hexadecimal digits") }
        return hash
    }
}
