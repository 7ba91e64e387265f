import Crawl
import JSONText
import Kafka

/// Writes what a transaction says as records.
public struct WireEncoder: Sendable {
    public let topics: Topics
    /// Largest record: key, value, headers and framing, in bytes. Each record written here is at most so large, as
    /// long as no item is larger than ``maxItemBytes(maxRecordBytes:)``.
    public let maxRecordBytes: Int

    public init(topics: Topics, maxRecordBytes: Int) {
        self.topics = topics
        self.maxRecordBytes = maxRecordBytes
    }

    /// Largest item that surely fits into a record of its own on `pages`, whatever the envelope says.
    public static func maxItemBytes(maxRecordBytes: Int) -> Int {
        max(maxRecordBytes - (32 << 10), maxRecordBytes / 2)
    }

    /// All records of a transaction: for each step its pages, the crawl's record and the next job; then dead letters and
    /// tombstones. Jobs and crawl records go to the partition of the step, pages and dead letters where their key leads.
    public func records(for transaction: Transaction) -> [ProducerRecord] {
        // Tombstones first: a step of the same crawl is newer.
        var records = transaction.forgotten.map { tombstone(for: $0) }
        for step in transaction.steps {
            for batch in step.batches { records += self.records(for: batch) }
            records.append(record(for: step.record, partition: step.partition))
            if let next = step.next { records.append(record(for: next, partition: step.partition)) }
        }
        for letter in transaction.deadLetters { records.append(record(for: letter)) }
        return records
    }

    /// A user's job. Its partition is where its key leads.
    public func record(for trigger: Job) -> ProducerRecord { record(for: trigger, partition: nil) }

    func record(for job: Job, partition: Int32?) -> ProducerRecord {
        ProducerRecord(
            topic: topics.jobs, partition: partition, key: Array(job.crawl.utf8), value: Self.value(of: job),
            headers: job.traceparent.map { [RecordHeader(WireHeaders.traceparent, $0)] } ?? [])
    }

    func tombstone(for crawl: ForgottenCrawl) -> ProducerRecord {
        ProducerRecord(
            topic: topics.crawls, partition: crawl.partition, key: Array(crawl.crawl.utf8), value: nil)
    }

    /// The value of a job's record.
    public static func value(of job: Job) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.optional("source", job.source)
        json.field("crawl", job.crawl)
        switch job.action {
        case .start: json.field("action", "start")
        case .cancel: json.field("action", "cancel")
        case .pause: json.field("action", "pause")
        case .resume: json.field("action", "resume")
        case .restart: json.field("action", "restart")
        case .next(let continuation):
            json.field("action", "next")
            json.field("run", continuation.run)
            json.field("step", continuation.step)
            json.key("cursor")
            json.cursor(continuation.cursor)
            json.field("pages", continuation.pages)
            json.field("items", continuation.items)
        }
        json.params(job.params)
        json.optional("from", job.from)
        if !job.follow {
            json.key("follow")
            json.bool(false)
        }
        json.limits(job.limits)
        json.endObject()
        return json.bytes
    }

    /// Bytes that a record takes in a topic, rounded up: a record batch of its own (61) and the lengths in front of each
    /// part.
    static func size(_ record: ProducerRecord) -> Int {
        let headers = record.headers.reduce(0) { $0 + $1.name.count + ($1.value?.count ?? 0) + 10 }
        return 128 + (record.key?.count ?? 0) + (record.value?.count ?? 0) + headers
    }
}
