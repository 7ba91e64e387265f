import Crawl
import Kafka

/// How the topics are made, and what a worker looks at before it trusts them.
public struct TopicLayout: Sendable, Hashable {
    public var topics: Topics
    /// Partitions of each topic: at most so many workers have something to do. Defaults to 12.
    public var partitions: Int
    /// `nil` is the broker's default.
    public var replicationFactor: Int?
    /// The largest record, in bytes. Defaults to 1 MiB.
    public var maxMessageBytes: Int
    /// No job is kept for longer than this: as long as the ledger remembers an ended crawl, so that a job that is
    /// delivered again after an offset reset is still recognised. Defaults to 7 days.
    public var jobRetention: Duration

    public init(topics: Topics) {
        self.topics = topics
        self.partitions = 12
        self.replicationFactor = nil
        self.maxMessageBytes = 1 << 20
        self.jobRetention = .seconds(7 * 86_400)
    }

    /// Kafka deletes a whole segment once its last record is old enough, so `jobs` has segments of at most a day, and the
    /// rest of the time is their retention. Jobs carry the broker's time, which grows with the offset. `crawls` has small
    /// segments, because the one that is being written is never compacted, and a new owner reads all of it.
    var newTopics: [NewTopic] {
        let day: Int64 = 86_400_000
        let week = ["cleanup.policy": "delete", "retention.ms": "\(7 * day)"]
        let segment = min(day, jobRetention.milliseconds / 2)
        let settings = [
            topics.jobs: [
                "cleanup.policy": "delete", "retention.ms": "\(jobRetention.milliseconds - segment)",
                "segment.ms": "\(segment)",
                "message.timestamp.type": "LogAppendTime",
            ],
            topics.pages: week,
            topics.crawls: ["cleanup.policy": "compact", "segment.bytes": "\(64 << 20)"],
            topics.dead: week,
        ]
        return topics.all.map { name in
            var settings = settings[name] ?? [:]
            settings["max.message.bytes"] = "\(maxMessageBytes)"
            return NewTopic(
                name, partitions: partitions, replicationFactor: replicationFactor, settings: settings)
        }
    }

    /// Creates the topics that are not there; says for each whether it was made.
    public func create(with admin: Admin) async throws(KafkaError) -> [String: TopicCreation] {
        try await admin.createTopics(newTopics)
    }
}

/// What a worker has to know of the topics.
struct TopicFacts: Sendable, Hashable {
    var maxRecordBytes: Int
    /// Of `jobs`.
    var partitionCount: Int

    /// Throws if a topic is missing, or if `jobs` and `crawls` differ in their number of partitions.
    static func check(_ configuration: KafkaLogConfiguration) async throws(KafkaError) -> TopicFacts {
        let admin = try Admin(configuration.client)
        do throws(KafkaError) {
            let facts = try await check(configuration, with: admin)
            await admin.close()
            return facts
        } catch {
            await admin.close()
            throw error
        }
    }

    private static func check(
        _ configuration: KafkaLogConfiguration, with admin: Admin
    ) async throws(KafkaError) -> TopicFacts {
        let topics = configuration.topics
        let counts = try await admin.partitionCounts(topics.all)
        let missing = topics.all.filter { counts[$0] == nil }
        guard missing.isEmpty, let jobs = counts[topics.jobs], let crawls = counts[topics.crawls] else {
            throw KafkaError(
                .localUnknownTopic,
                "no topic \(missing.joined(separator: ", ")): create them with `pagehound topics create`")
        }
        guard jobs == crawls else {
            throw KafkaError(
                .invalidArgument,
                "\(topics.jobs) has \(jobs) partitions and \(topics.crawls) has \(crawls); a crawl lives in one partition "
                    + "of both, so they must be equal")
        }
        if let known = configuration.maxRecordBytes {
            return TopicFacts(maxRecordBytes: known, partitionCount: jobs)
        }
        var limits: [Int] = []
        for topic in topics.all { limits.append(await maxMessageBytes(of: topic, with: admin)) }
        return TopicFacts(maxRecordBytes: limits.min() ?? defaultMaxMessageBytes, partitionCount: jobs)
    }

    /// Kafka's own default for `max.message.bytes`, less what it adds.
    private static let defaultMaxMessageBytes = 1_048_576

    /// A broker that does not tell (librdkafka's mock cluster has no DescribeConfigs, an ACL may forbid it) is taken to
    /// have the default.
    private static func maxMessageBytes(of topic: String, with admin: Admin) async -> Int {
        let settings = try? await admin.topicSettings(topic)
        return settings?["max.message.bytes"].flatMap { Int($0) } ?? defaultMaxMessageBytes
    }
}
