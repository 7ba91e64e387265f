import Crawl
import JSONText
import Kafka

extension WireEncoder {
    /// Longer messages say nothing more to a person.
    private static let maxErrorCharacters = 4_096

    func record(for crawl: CrawlRecord, partition: Int32) -> ProducerRecord {
        var record = ProducerRecord(
            topic: topics.crawls, partition: partition, key: Array(crawl.crawl.utf8), value: Self.value(of: crawl))
        // Tens of thousands of holes do not fit. A record that cannot be written would stop the worker for good; the
        // newest holes are kept, and the record says how many more there were.
        var kept = crawl.holes.count
        while Self.size(record) > maxRecordBytes, kept > 0 {
            kept /= 2
            record.value = Self.value(of: crawl, newestHoles: kept)
        }
        return record
    }

    /// The value of a crawl's record.
    static func value(of crawl: CrawlRecord, newestHoles: Int = .max) -> [UInt8] {
        var json = JSONWriter(capacity: 1_024)
        json.beginObject()
        json.field("crawl", crawl.crawl)
        json.field("run", crawl.run)
        json.field("step", crawl.step)
        json.field("source", crawl.source)
        json.field("status", crawl.status.rawValue)
        json.key("cursor")
        json.cursor(crawl.cursor)
        write(countsOf: crawl, to: &json)
        json.field("started_at", crawl.startedAt.rfc3339)
        json.field("updated_at", crawl.updatedAt.rfc3339)
        json.optional("not_before", crawl.notBefore)
        if let end = crawl.end {
            json.field("verdict", end.verdict.rawValue)
            json.field("reason", end.reason.rawValue)
            json.optional("error", end.error.map { String($0.prefix(maxErrorCharacters)) })
        }
        json.params(crawl.params)
        json.optional("from", crawl.from)
        if !crawl.follow {
            json.key("follow")
            json.bool(false)
        }
        json.limits(crawl.limits)
        json.optional("traceparent", crawl.traceparent)
        write(holesOf: crawl, newest: newestHoles, to: &json)
        write(crawl.newestJob, to: &json)
        write(crawl.guards, to: &json)
        json.endObject()
        return json.bytes
    }

    private static func write(countsOf crawl: CrawlRecord, to json: inout JSONWriter) {
        json.field("pages", crawl.pages)
        json.field("items", crawl.items)
        json.optional("total", crawl.totalItems)
        json.optional("total_pages", crawl.totalPages)
        json.field("requests", crawl.cost.requests)
        json.field("bytes", crawl.cost.bytes)
        json.field("retries", crawl.retries)
        if crawl.oversizedItems > 0 { json.field("oversized_items", crawl.oversizedItems) }
        if crawl.totalMismatch {
            json.key("total_mismatch")
            json.bool(true)
        }
    }

    private static func write(holesOf crawl: CrawlRecord, newest: Int, to json: inout JSONWriter) {
        guard !crawl.holes.isEmpty else { return }
        let holes = crawl.holes.suffix(newest)
        json.key("holes")
        json.beginArray()
        for hole in holes { json.cursor(hole) }
        json.endArray()
        if holes.count < crawl.holes.count {
            json.field("holes_left_out", Int64(crawl.holes.count - holes.count))
        }
    }

    /// The timestamp is Kafka's number, because a record's may be any, also one that no calendar has.
    private static func write(_ position: JobPosition, to json: inout JSONWriter) {
        json.key("newest_job")
        json.beginObject()
        json.field("offset", position.offset)
        json.field("timestamp", position.timestamp.milliseconds)
        json.endObject()
    }

    private static func write(_ guards: Guards, to json: inout JSONWriter) {
        json.key("guards")
        json.beginObject()
        json.key("recent")
        json.beginArray()
        for hash in guards.trail.recent { json.string(hex(hash)) }
        json.endArray()
        json.optional("held", guards.trail.held.map(hex))
        json.field("since_held", guards.trail.sinceHeld)
        json.field("reach", guards.trail.reach)
        json.optional("previous_items", guards.previousItems.map(hex))
        json.field("empty_pages", Int64(guards.emptyPages))
        json.field("holes_in_a_row", Int64(guards.holesInARow))
        json.field("attempts", Int64(guards.attempts))
        json.field("throttles", Int64(guards.throttles))
        json.endObject()
    }

    /// 16 digits: JSON numbers of 64 bits do not survive most readers.
    private static func hex(_ hash: UInt64) -> String {
        String(unsafeUninitializedCapacity: 16) { text in
            for place in 0..<16 {
                let digit = UInt8(truncatingIfNeeded: hash >> UInt64(60 - 4 * place)) & 15
                text[place] = digit < 10 ? 0x30 + digit : 0x61 + digit - 10
            }
            return 16
        }
    }
}
