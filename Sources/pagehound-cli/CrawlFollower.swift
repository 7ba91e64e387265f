import Crawl
import CrawlKafka
import Kafka

/// Reads what the workers say of one crawl until it has ended.
struct CrawlFollower {
    private let reader: PartitionReader
    private let topics: Topics
    private var positions: [TopicPartition: Int64]

    /// Where the topics `crawls` and `dead` end now: what comes after a job was sent begins there.
    static func ends(of topics: Topics, _ client: ClientConfiguration) async throws -> [TopicPartition: Int64] {
        let admin = try Admin(client)
        let counts = try await admin.partitionCounts([topics.crawls, topics.dead])
        var ends: [TopicPartition: Int64] = [:]
        for topic in [topics.crawls, topics.dead] {
            guard let count = counts[topic] else {
                throw CommandFailure("topic \(topic) does not exist; pagehound topics create makes it")
            }
            for partition in 0..<Int32(count) {
                let place = TopicPartition(topic: topic, partition: partition)
                ends[place] = try await admin.watermarks(place, .readUncommitted).upperBound
            }
        }
        await admin.close()
        return ends
    }

    init(_ client: ClientConfiguration, topics: Topics, from positions: [TopicPartition: Int64]) throws {
        reader = try PartitionReader(client)
        self.topics = topics
        self.positions = positions
    }

    /// The record that the crawl ended with. Throws if the job went to the dead letters.
    ///
    /// A crawl lives in the partition of its job. An end that is older than the job belongs to an earlier run.
    mutating func follow(
        _ crawl: String, startedBy job: RecordPosition, progress: (CrawlRecord) -> Void
    ) async throws -> CrawlRecord {
        while true {
            if let reason = try await refusal(of: job) { throw CommandFailure("the job was set aside: \(reason)") }
            let records = try await newRecords(of: crawl, partition: job.partition)
                .filter { $0.newestJob.offset >= job.offset }
            if let end = records.first(where: \.isEnded) { return end }
            if let last = records.last { progress(last) }
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    private mutating func newRecords(of crawl: String, partition: Int32) async throws -> [CrawlRecord] {
        let key = Array(crawl.utf8)
        return try await read(TopicPartition(topic: topics.crawls, partition: partition))
            .filter { $0.key == key }
            .compactMap { if case .record(let record) = try WireDecoder.crawlRecord($0) { record } else { nil } }
    }

    func close() async { await reader.close() }

    /// Why the job was set aside, if it was.
    private mutating func refusal(of job: RecordPosition) async throws -> String? {
        for place in positions.keys where place.topic == topics.dead {
            for record in try await read(place) {
                let origin = DeadLetterOrigin(record.headers)
                // A crawl that began has a verdict, whatever it set aside on the way.
                let isOfCrawl = [.crawlFailed, .itemTooLarge].contains(origin.kind.flatMap(DeadLetter.Kind.init))
                if !isOfCrawl, origin.partition == job.partition, origin.offset == job.offset { return origin.reason }
            }
        }
        return nil
    }

    private mutating func read(_ place: TopicPartition) async throws -> [ConsumedRecord] {
        let collected = Collected()
        try await reader.read(place, from: positions[place]) { collected.append($0) }
        let records = collected.records
        if let last = records.last { positions[place] = last.offset + 1 }
        return records
    }
}
