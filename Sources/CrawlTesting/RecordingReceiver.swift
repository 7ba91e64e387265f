import Crawl
import Threads

/// A receiver that writes down what a log delivers, and lets a test wait for it or hold it up.
public final class RecordingReceiver: JobReceiver {
    /// What was seen so far.
    public struct Seen: Sendable {
        /// Partitions that are owned and not about to be given up.
        public var owned: [Int32: PartitionEpoch] = [:]
        /// The ledger that came with each ownership.
        public var ledgers: [PartitionEpoch: [CrawlRecord]] = [:]
        /// Jobs in the order of their delivery.
        public var jobs: [DeliveredJob] = []
        /// Partitions given up, in order.
        public var revoked: [(partitions: [PartitionEpoch], lost: Bool)] = []
        /// Calls of `deliver` that have not returned.
        public var deliveriesUnderWay = 0
        /// What no log may do at any time.
        public var violations: [String] = []
    }

    private struct Waiter {
        var isOver: (Seen) -> Bool
        var continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var seen = Seen()
        var waiters: [Int: Waiter] = [:]
        var newestWaiter = 0
        /// Waiters whose patience ran out, perhaps before they began to wait.
        var expired: Set<Int> = []
    }

    private let state = Monitor(State())
    /// Holds `revoking` back while it is closed.
    public let revocation = Gate()
    /// Holds `deliver` back while it is closed.
    public let delivery = Gate()

    public init() {}

    public var seen: Seen { state.withLock { $0.seen } }

    public func assigned(_ partition: AssignedPartition) async {
        note { seen in
            if seen.ledgers[partition.owned] != nil { seen.violations.append("\(partition.owned) was assigned twice") }
            if let older = seen.owned[partition.owned.partition] {
                seen.violations.append("\(partition.owned) was assigned, but \(older) was not given up")
            }
            seen.owned[partition.owned.partition] = partition.owned
            seen.ledgers[partition.owned] = partition.ledger
        }
    }

    public func revoking(_ partitions: [PartitionEpoch], lost: Bool) async {
        note { seen in
            for owned in partitions where seen.owned[owned.partition] == owned { seen.owned[owned.partition] = nil }
            seen.revoked.append((partitions, lost))
        }
        if !lost { await revocation.pass() }
    }

    public func deliver(_ jobs: [DeliveredJob]) async {
        note { seen in
            seen.deliveriesUnderWay += 1
            for job in jobs { seen.take(job) }
        }
        await delivery.pass()
        note { $0.deliveriesUnderWay -= 1 }
    }

    private func note(_ change: (inout Seen) -> Void) {
        let over = state.withLock { state in
            change(&state.seen)
            let over = state.waiters.filter { $0.value.isOver(state.seen) }
            for id in over.keys { state.waiters[id] = nil }
            return over.values.map(\.continuation)
        }
        for continuation in over { continuation.resume() }
    }

    /// Waits until `probe` finds something in what was seen. Throws a `ConformanceFailure` that names `what` if it does
    /// not within the patience.
    public func wait<Found: Sendable>(
        for what: String, patience: Duration, _ probe: @escaping @Sendable (Seen) -> Found?
    ) async throws -> Found {
        let id = state.withLock { state in
            state.newestWaiter += 1
            return state.newestWaiter
        }
        let timer = Task {
            try await Task.sleep(for: patience)
            giveUp(id)
        }
        defer { timer.cancel() }
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if probe(state.seen) != nil || state.expired.contains(id) { return true }
                state.waiters[id] = Waiter(isOver: { probe($0) != nil }, continuation: continuation)
                return false
            }
            if isOver { continuation.resume() }
        }
        let seen = seen
        if let found = probe(seen) { return found }
        throw ConformanceFailure("\(what): not within \(patience); \(seen.summary)")
    }

    private func giveUp(_ id: Int) {
        let waiter = state.withLock { state in
            state.expired.insert(id)
            return state.waiters.removeValue(forKey: id)
        }
        waiter?.continuation.resume()
    }
}

extension RecordingReceiver.Seen {
    fileprivate mutating func take(_ job: DeliveredJob) {
        if ledgers[job.owned] == nil { violations.append("a job of \(job.owned) came before its assignment") }
        let before = jobs.last { $0.owned == job.owned }
        if let before, before.position.offset >= job.position.offset {
            violations.append("\(job.owned): offset \(job.position.offset) came after \(before.position.offset)")
        }
        jobs.append(job)
    }

    var summary: String {
        "owned: \(owned.values.map { "\($0.partition)/\($0.epoch)" }.sorted()), jobs: "
            + "\(jobs.map { "\($0.owned.partition)@\($0.position.offset)" }), revoked: \(revoked.count) times"
    }

    /// The offsets delivered from a partition, in order, over all its ownerships.
    public func offsets(of partition: Int32) -> [Int64] {
        jobs.filter { $0.owned.partition == partition }.map(\.position.offset)
    }
}
