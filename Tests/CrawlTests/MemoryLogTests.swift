import Crawl
import CrawlTesting
import Testing
import Threads

struct MemoryLogTests {
    @Test(arguments: CrawlLogConformance.Requirement.allCases, MemoryGroup.Assignment.allCases)
    func `the log in memory keeps what a crawl log promises`(
        _ requirement: CrawlLogConformance.Requirement, assignment: MemoryGroup.Assignment
    ) async throws {
        let cluster = MemoryCluster(MemoryBroker(partitions: 3, assignment: assignment))
        try await CrawlLogConformance.check(requirement, on: MemoryLogUnderTest(cluster))
    }
}

/// The log in memory with the outside view that the conformance suite needs.
final class MemoryLogUnderTest: LogUnderTest {
    let capabilities = Set(LogCapability.allCases)
    let patience: Duration
    let partitions: Int32
    private let cluster: MemoryCluster
    private let lapse: LapsedLog.Lapse?
    private let members = Monitor<[(log: MemoryLog, abort: AbortSwitch)]>([])

    /// Makes the next commit of one member abort.
    private final class AbortSwitch: Sendable {
        private let isOn = Monitor(false)
        func turnOn() { isOn.withLock { $0 = true } }
        func take() -> Bool {
            isOn.withLock { isOn in
                defer { isOn = false }
                return isOn
            }
        }
    }

    /// - Parameter lapse: what the members do wrong.
    init(_ cluster: MemoryCluster, patience: Duration = .seconds(30), lapse: LapsedLog.Lapse? = nil) {
        self.cluster = cluster
        self.patience = patience
        self.lapse = lapse
        partitions = cluster.read(\.partitions)
    }

    func makeMember() async throws -> any CrawlLog {
        let abort = AbortSwitch()
        let log = MemoryLog(cluster, maxItemBytes: 100_000) { point in
            point == .sent && abort.take() ? .abort(reason: "on demand") : nil
        }
        members.withLock { $0.append((log, abort)) }
        return lapse.map { LapsedLog(log, $0) } ?? log
    }

    private func log(of member: any CrawlLog) -> MemoryLog? {
        (member as? LapsedLog)?.log ?? member as? MemoryLog
    }

    func crash(_ member: any CrawlLog) async throws { log(of: member)?.crash() }

    func abortNextCommit(of member: any CrawlLog) async throws {
        let log = log(of: member)
        members.withLock { $0.first { $0.log === log } }?.abort.turnOn()
    }

    func produce(_ trigger: Trigger, to partition: Int32) async throws -> JobPosition {
        cluster.update { broker in
            switch trigger {
            case .job(let job): broker.produce(job, to: partition)
            case .raw(let record): broker.produce(.init(unusable: record, reason: "not a job"), to: partition)
            }
        }
    }

    func pages(of partition: Int32) async throws -> [CommittedPage] {
        cluster.read { $0.pages[Int(partition)].committed() }.map(\.value).map { batch in
            let items = (0..<batch.page.items.count).map { String(decoding: batch.page.items[$0], as: UTF8.self) }
            return CommittedPage(crawl: batch.crawl, run: batch.run, number: batch.number, items: items)
        }
    }

    func records(of partition: Int32) async throws -> [CommittedRecord] {
        cluster.read { $0.crawls[Int(partition)].committed() }.map {
            CommittedRecord(crawl: $0.value.crawl, record: $0.value.record)
        }
    }

    func deadLetters() async throws -> [CommittedDeadLetter] {
        cluster.read { broker in broker.deadLetters.flatMap { $0.committed().map(\.value) } }.compactMap { letter in
            guard case .received(let record) = letter.content else { return nil }
            return CommittedDeadLetter(kind: letter.kind, record: record)
        }
    }

    func committedOffsets() async throws -> [Int32: Int64] { cluster.read(\.committedOffsets) }

    func resetOffsets() async throws { cluster.update { $0.resetOffsets() } }
}
