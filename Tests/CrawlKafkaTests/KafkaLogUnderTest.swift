import BrokerSupport
import Crawl
import CrawlTesting
import Foundation
import Threads

@testable import CrawlKafka
@testable import Kafka

/// The crawl log on Kafka with the outside view that the conformance suite needs.
final class KafkaLogUnderTest: LogUnderTest {
    let patience = Duration.seconds(60)
    let partitions: Int32
    private let deployment: KafkaDeployment
    private let members = Monitor<[(log: KafkaLog, abort: Switch)]>([])

    /// Makes the next transaction of one member abort after everything was sent.
    private final class Switch: Sendable {
        private let isOn = Monitor(false)

        func turnOn() { isOn.withLock { $0 = true } }

        func take() -> Bool {
            isOn.withLock { isOn in
                defer { isOn = false }
                return isOn
            }
        }
    }

    init() async throws {
        deployment = try await KafkaDeployment.make()
        partitions = deployment.partitions
    }

    var capabilities: Set<LogCapability> {
        TestBroker.offers([.timesOutTransactions, .waitsForOpenTransactions])
            ? Set(LogCapability.allCases) : [.abortsOnDemand, .resetsOffsets]
    }

    /// Ends the producers. Call it after the check.
    func close() async {
        for member in members.withLock({ $0 }) { await member.log.close() }
    }

    func makeMember() async throws -> any CrawlLog {
        let abort = Switch()
        var configuration = deployment.configuration()
        configuration.reached = { step throws(KafkaError) in
            if step == .offsetsSent, abort.take() { throw KafkaError(.fail, "on demand", disposition: .abortable) }
        }
        let log = try await KafkaLog(configuration)
        members.withLock { $0.append((log, abort)) }
        return log
    }

    func crash(_ member: any CrawlLog) async throws {
        guard let log = member as? KafkaLog else { return }
        log.producer.crash()
        log.member.withLock { $0 }?.crash()
    }

    func abortNextCommit(of member: any CrawlLog) async throws {
        members.withLock { $0.first { $0.log === member as? KafkaLog } }?.abort.turnOn()
    }

    func produce(_ trigger: Trigger, to partition: Int32) async throws -> JobPosition {
        let encoder = WireEncoder(topics: deployment.topics, maxRecordBytes: 1 << 20)
        var record: ProducerRecord
        switch trigger {
        case .job(let job): record = encoder.record(for: job)
        case .raw(let raw):
            record = ProducerRecord(
                topic: deployment.topics.jobs, key: raw.key, value: raw.value,
                headers: raw.headers.map { RecordHeader(name: $0.name, value: $0.value) })
        }
        record.partition = partition
        record.timestamp = Timestamp.now.milliseconds
        let position = try await deployment.produce([record])[0]
        return JobPosition(offset: position.offset, timestamp: Timestamp(milliseconds: record.timestamp ?? 0))
    }

    func pages(of partition: Int32) async throws -> [CommittedPage] {
        // Pages go where their key leads; the crawl's records are in the partition of its jobs.
        let crawls = Set(try await records(of: partition).map(\.crawl))
        let parts = try await deployment.pages().filter { crawls.contains($0.crawl) }
        return parts.reduce(into: []) { pages, part in
            if part.part > 1, let last = pages.indices.last {
                pages[last].items += part.items
            } else {
                pages.append(
                    CommittedPage(crawl: part.crawl, run: part.run, number: part.page, items: part.items))
            }
        }
    }

    func records(of partition: Int32) async throws -> [CommittedRecord] {
        try await deployment.committed(deployment.topics.crawls).filter { $0.partition == partition }.map { record in
            switch try WireDecoder.crawlRecord(record) {
            case .record(let crawl): CommittedRecord(crawl: crawl.crawl, record: crawl)
            case .forgotten(let crawl): CommittedRecord(crawl: crawl, record: nil)
            }
        }
    }

    func deadLetters() async throws -> [CommittedDeadLetter] {
        // They go where their key leads, so what is left of their order is the offset of the cause.
        try await deployment.committed(deployment.topics.dead).sorted { cause($0) < cause($1) }.map { record in
            let (reasons, original) = record.headers.reduce(into: ([RecordHeader](), [RecordHeader]())) {
                parts, header in
                let isReason = header.name.starts(with: WireHeaders.error.utf8)
                if isReason { parts.0.append(header) } else { parts.1.append(header) }
            }
            let kind = reasons.first { $0.name == Array((WireHeaders.error + "kind").utf8) }?.value ?? []
            guard let kind = DeadLetter.Kind(rawValue: String(decoding: kind, as: UTF8.self)) else {
                throw DeploymentFailure("a dead letter does not say of what kind it is: \(reasons)")
            }
            return CommittedDeadLetter(
                kind: kind,
                record: ReceivedRecord(
                    key: record.key, value: record.value,
                    headers: original.map { ReceivedRecord.Header(name: $0.name, value: $0.value) }))
        }
    }

    private func cause(_ record: ConsumedRecord) -> Int64 {
        let name = Array((WireHeaders.error + "offset").utf8)
        let value = record.headers.first { $0.name == name }?.value ?? []
        return Int64(String(decoding: value, as: UTF8.self)) ?? -1
    }

    func committedOffsets() async throws -> [Int32: Int64] {
        let admin = try Admin(deployment.client)
        let offsets = try await admin.committedOffsets(
            group: deployment.configuration().group, topic: deployment.topics.jobs)
        await admin.close()
        return offsets.compactMapValues { $0 }
    }

    func resetOffsets() async throws {
        let admin = try Admin(deployment.client)
        let jobs = deployment.topics.jobs
        let first = Dictionary(
            uniqueKeysWithValues: (0..<partitions).map { (TopicPartition(topic: jobs, partition: $0), Int64(0)) })
        try await admin.resetOffsets(group: deployment.configuration().group, to: first)
        await admin.close()
    }
}
