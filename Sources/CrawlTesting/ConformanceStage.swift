import Crawl
import Threads

/// The members that one requirement plays with, and what it needs to do so.
final class ConformanceStage: Sendable {
    let log: any LogUnderTest
    private let members = Monitor<[ConformanceMember]>([])

    init(_ log: any LogUnderTest) { self.log = log }

    /// A new member, running.
    func join() async throws -> ConformanceMember {
        let member = ConformanceMember(try await log.makeMember(), patience: log.patience)
        members.withLock { $0.append(member) }
        return member
    }

    /// A member alone in the group, with all partitions.
    func joinAlone() async throws -> ConformanceMember {
        let member = try await join()
        try await member.waitForPartitions(Int(log.partitions))
        return member
    }

    func crash(_ member: ConformanceMember) async throws {
        try await log.crash(member.log)
        member.receiver.revocation.open()
        member.receiver.delivery.open()
        member.abandon()
    }

    /// Ends all members; returns what they saw that no log may do.
    func close() async -> [String] {
        let members = members.withLock { $0 }
        return await withTaskGroup(of: [String].self) { group in
            for member in members {
                group.addTask {
                    let failure = await member.stop()
                    return member.receiver.seen.violations + (failure.map { ["run threw: \($0)"] } ?? [])
                }
            }
            return await group.reduce([], +)
        }
    }

    /// Waits for something that more than one member takes part in.
    func eventually(_ what: String, _ condition: () -> Bool) async throws {
        let deadline = ContinuousClock.now + log.patience
        while !condition() {
            if ContinuousClock.now > deadline { throw ConformanceFailure("\(what): not within \(log.patience)") }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    func produce(_ crawl: String, to partition: Int32 = 0) async throws -> JobPosition {
        try await log.produce(.job(Job(crawl: crawl, source: "products")), to: partition)
    }

    func expect(_ condition: Bool, _ problem: @autoclosure () -> String) throws {
        if !condition { throw ConformanceFailure(problem()) }
    }

    func expect<Value: Equatable>(_ what: String, _ value: Value, is expected: Value) throws {
        if value != expected { throw ConformanceFailure("\(what) is \(value), not \(expected)") }
    }
}

/// One member of the group: its log, running, and what it was delivered.
final class ConformanceMember: Sendable {
    let log: any CrawlLog
    let receiver = RecordingReceiver()
    private let patience: Duration
    private let running: Task<Void, any Error>
    private let isAbandoned = Monitor(false)

    init(_ log: any CrawlLog, patience: Duration) {
        self.log = log
        self.patience = patience
        running = Task { [receiver] in try await log.run(receiver) }
    }

    /// Nothing waits for it any more: it was crashed.
    func abandon() {
        isAbandoned.withLock { $0 = true }
        running.cancel()
    }

    /// Cancels `run` and waits until it returns. What it throws, if it was not crashed.
    @discardableResult
    func stop() async -> (any Error)? {
        receiver.revocation.open()
        receiver.delivery.open()
        running.cancel()
        if isAbandoned.withLock({ $0 }) { return nil }
        if case .failure(let error) = await running.result { return error }
        return nil
    }

    func wait<Found: Sendable>(
        for what: String, _ probe: @escaping @Sendable (RecordingReceiver.Seen) -> Found?
    ) async throws -> Found {
        try await receiver.wait(for: what, patience: patience, probe)
    }

    func waitForPartitions(_ count: Int) async throws {
        try await wait(for: "\(count) partitions to be assigned") { $0.owned.count == count ? () : nil }
    }

    /// The job of an offset, delivered in any ownership.
    func job(_ partition: Int32, at offset: Int64) async throws -> DeliveredJob {
        try await wait(for: "the job \(partition)@\(offset)") { seen in
            seen.jobs.last { $0.owned.partition == partition && $0.position.offset == offset }
        }
    }

    /// The current ownership of a partition, waited for.
    func owned(_ partition: Int32) async throws -> PartitionEpoch {
        try await wait(for: "partition \(partition)") { $0.owned[partition] }
    }

    /// The newest ledger of a partition that is owned now.
    func ledger(_ partition: Int32) async throws -> [CrawlRecord] {
        let owned = try await owned(partition)
        return receiver.seen.ledgers[owned] ?? []
    }

    /// Commits, again while the transaction is aborted, as a worker does. Throws if that goes on.
    func commit(_ transaction: Transaction) async throws {
        var reasons: [String] = []
        for _ in 0..<50 {
            switch try await log.commit(transaction) {
            case .committed: return
            case .aborted(let reason): reasons.append(reason)
            }
            try await Task.sleep(for: patience / 50)
        }
        throw ConformanceFailure("a transaction is aborted again and again: \(Set(reasons).sorted())")
    }
}

// MARK: Samples

extension Transaction {
    /// Steps, and where their partitions continue.
    init(_ steps: [Step], at offsets: [PartitionOffset]) {
        self.init()
        self.steps = steps
        self.offsets = offsets
    }
}

extension Step {
    /// A step of one page with items, or of none.
    static func sample(
        _ crawl: String, _ number: Int64 = 1, in partition: Int32 = 0, items: [String] = ["{\"id\":1}"],
        goesOn: Bool = false
    ) -> Step {
        var record = CrawlRecord.sample(crawl, step: number)
        record.pages = number
        record.items = number * Int64(items.count)
        if !goesOn {
            record.status = .ended
            record.end = .init(.complete, .noNextCursor)
        }
        let batch = ResultBatch(
            crawl: crawl, run: 1, source: "products", number: number, cursor: record.cursor, total: nil,
            page: Page(items: Items(items)), output: .page, traceparent: nil)
        let next = Continuation(run: 1, step: number, cursor: nil, pages: number, items: record.items)
        return Step(
            partition: partition, batches: items.isEmpty ? [] : [batch], record: record,
            next: goesOn ? Job(crawl: crawl, action: .next(next), source: "products") : nil)
    }
}

extension CrawlRecord {
    static func sample(_ crawl: String, step: Int64 = 1) -> CrawlRecord {
        let time = Timestamp(milliseconds: 1_700_000_000_000)
        var record = CrawlRecord(
            crawl: crawl, run: 1, source: "products", startedAt: time,
            newestJob: JobPosition(offset: 0, timestamp: time))
        record.step = step
        return record
    }
}
