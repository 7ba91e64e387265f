import Kafka
import Testing

@testable import CrawlKafka

@Suite struct `Topic layout` {
    @Test(arguments: [Duration.seconds(3_600), .seconds(86_400), .seconds(7 * 86_400), .seconds(30 * 86_400)])
    func `no job outlives what the ledger remembers`(ledgerRetention: Duration) throws {
        var layout = TopicLayout(topics: Topics())
        layout.jobRetention = ledgerRetention
        let jobs = try #require(layout.newTopics.first { $0.name == "pagehound.jobs" }).settings
        let retention = try #require(jobs["retention.ms"].flatMap { Int64($0) })
        let segment = try #require(jobs["segment.ms"].flatMap { Int64($0) })
        #expect(retention > 0 && segment > 0)
        #expect(.milliseconds(retention + segment) <= ledgerRetention)
        #expect(jobs["message.timestamp.type"] == "LogAppendTime")
    }

    @Test func `jobs and crawls have as many partitions, and crawls are compacted`() throws {
        var layout = TopicLayout(topics: Topics(prefix: "p."))
        layout.partitions = 5
        layout.maxMessageBytes = 4_000_000
        #expect(layout.newTopics.map(\.name) == ["p.jobs", "p.pages", "p.crawls", "p.dead"])
        #expect(layout.newTopics.allSatisfy { $0.partitions == 5 && $0.settings["max.message.bytes"] == "4000000" })
        #expect(layout.newTopics[2].settings["cleanup.policy"] == "compact")
    }
}
