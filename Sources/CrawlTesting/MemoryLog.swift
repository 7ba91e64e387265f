import Crawl
import Threads

/// The crawl log of one member of a `MemoryCluster`'s group.
///
/// It keeps every promise of `CrawlLog`. A test disturbs it through `disturb`, from outside through the cluster
/// (`update { $0.remove(member) }` expels it), or with `crash()`.
public final class MemoryLog: CrawlLog {
    /// Where a commit stands when `disturb` is asked.
    public enum CommitPoint: Sendable, CaseIterable {
        /// Nothing was sent.
        case begun
        /// Records and offsets are with the broker.
        case sent
        /// The broker made it visible; the member has not heard of it yet.
        case applied
    }

    /// What goes wrong at a point of a commit.
    public enum Disturbance: Sendable, Hashable {
        /// The transaction is aborted. Means nothing once it is applied.
        case abort(reason: String)
        /// The log fails; before `applied` the transaction stays open until it times out.
        case fail(LogFailure)
    }

    public let maxItemBytes: Int
    public var partitionCount: Int { cluster.read { Int($0.partitions) } }
    private let cluster: MemoryCluster
    private let jobsADelivery: Int
    private let disturb: @Sendable (CommitPoint) async -> Disturbance?
    private let state = Monitor(State())

    private struct State {
        var member: Int?
        var isCrashed = false
        /// Partitions that wait for their ledger.
        var restoring: [PartitionEpoch] = []
        /// Partitions whose jobs are delivered.
        var ready: [PartitionEpoch] = []
    }

    /// - Parameters:
    ///   - jobsADelivery: at most so many jobs are delivered at once.
    ///   - disturb: asked at each point of each commit; a test may also wait in it.
    public init(
        _ cluster: MemoryCluster, maxItemBytes: Int = 900_000, jobsADelivery: Int = 16,
        disturb: @escaping @Sendable (CommitPoint) async -> Disturbance? = { _ in nil }
    ) {
        self.cluster = cluster
        self.maxItemBytes = maxItemBytes
        self.jobsADelivery = jobsADelivery
        self.disturb = disturb
    }

    /// The member of the group that this log is now; `nil` before `run` and after it.
    public var member: Int? { state.withLock { $0.member } }

    /// Drops the member without a word, as SIGKILL does, and lets the broker notice at once: its session ends, its
    /// open transaction is aborted. Nothing is delivered any more; `run` and `commit` throw.
    public func crash() {
        let member = state.withLock { state in
            state.isCrashed = true
            return state.member
        }
        cluster.update { broker in
            guard let member else { return }
            broker.remove(member)
            broker.timeOutTransactions(of: member)
        }
    }
}

// MARK: Membership

extension MemoryLog {
    public func run(_ receiver: any JobReceiver) async throws(LogFailure) {
        join()
        // Delivery may be suspended for long; the group is answered beside it. It is cancelled at the end of the scope.
        async let _: Void = deliver(to: receiver)
        while !Task.isCancelled, !isCrashed, let member {
            let revision = cluster.revision
            let didWork = await answerGroup(receiver, as: member)
            if !didWork { await cluster.changed(after: revision) }
        }
        if isCrashed { throw Self.crashed }
        // What is done still has to be committed, so the receiver is not to see the cancellation here.
        await Task { await leave(receiver) }.value
    }

    private static var crashed: LogFailure { LogFailure("the member was crashed") }
    private var isCrashed: Bool { state.withLock { $0.isCrashed } }

    /// Does what the group asks for and restores what can be restored. False if there was nothing to do.
    private func answerGroup(_ receiver: any JobReceiver, as member: Int) async -> Bool {
        let (news, _) = cluster.update { broker in
            let before = broker.group
            let news = broker.heartbeat(member)
            return (news, broker.group != before)
        } wakes: { news, isChanged in
            isChanged
        }
        if news.isExpelled {
            await rejoin(receiver, after: member)
        } else if !news.revoked.isEmpty {
            await revoke(news.revoked, lost: false, from: receiver)
            cluster.update { $0.gaveUp(member) }
        }
        state.withLock { $0.restoring += news.assigned }
        let didRestore = await restore(receiver, as: member)
        return didRestore || news != MemoryGroup.News()
    }

    private func restore(_ receiver: any JobReceiver, as member: Int) async -> Bool {
        var didRestore = false
        for owned in state.withLock({ $0.restoring }) {
            let restored = cluster.update {
                $0.restore(owned, for: member)
            } wakes: {
                $0 != nil
            }
            guard let restored, !isCrashed else { continue }
            await receiver.assigned(restored)
            state.withLock { state in
                state.restoring.removeAll { $0 == owned }
                state.ready.append(owned)
            }
            didRestore = true
        }
        // The delivery beside waits for a change, and this is one.
        if didRestore { cluster.update { _ in } }
        return didRestore
    }

    private func revoke(_ partitions: [PartitionEpoch], lost: Bool, from receiver: any JobReceiver) async {
        let known = state.withLock { state in
            let known = state.ready.filter(partitions.contains)
            state.ready.removeAll(where: partitions.contains)
            state.restoring.removeAll(where: partitions.contains)
            return known
        }
        if !known.isEmpty, !isCrashed { await receiver.revoking(known, lost: lost) }
    }

    private func rejoin(_ receiver: any JobReceiver, after old: Int) async {
        guard !isCrashed else { return }
        await revoke(state.withLock { $0.ready + $0.restoring }, lost: true, from: receiver)
        // A producer that begins anew fences its own open transaction.
        cluster.update { $0.timeOutTransactions(of: old) }
        join()
    }

    /// Becomes a new member of the group, unless it was crashed meanwhile.
    private func join() {
        let member = cluster.update { $0.join() }
        let isCrashed = state.withLock { state in
            if !state.isCrashed { state.member = member }
            return state.isCrashed
        }
        if isCrashed { cluster.update { $0.remove(member) } }
    }

    private func leave(_ receiver: any JobReceiver) async {
        await revoke(state.withLock { $0.ready + $0.restoring }, lost: false, from: receiver)
        guard let member = state.withLock({ $0.member.take() }) else { return }
        cluster.update { $0.remove(member) }
    }

    private func deliver(to receiver: any JobReceiver) async {
        while !Task.isCancelled, !isCrashed, let member {
            let revision = cluster.revision
            var isIdle = true
            for owned in state.withLock({ $0.ready }) {
                let jobs = cluster.update { [jobsADelivery] broker in
                    broker.poll(owned, for: member, limit: jobsADelivery)
                } wakes: { _ in
                    false
                }
                guard !jobs.isEmpty, !isCrashed else { continue }
                isIdle = false
                await receiver.deliver(jobs)
            }
            if isIdle { await cluster.changed(after: revision) }
        }
    }
}

// MARK: Commit

extension MemoryLog {
    public func commit(_ transaction: Transaction) async throws(LogFailure) -> CommitOutcome {
        if isCrashed { throw Self.crashed }
        guard let member else { return .aborted(reason: "not a member of the group") }
        if let aborted = try await disturbance(at: .begun) { return aborted }
        let revision = cluster.revision
        let id = cluster.update { $0.begin(member) }
        let refusal = cluster.update { $0.write(transaction, in: id) ?? $0.sendOffsets(transaction, in: id) }
        if let refusal {
            cluster.update { $0.abort(id) }
            // The member learns of the new generation shortly; to try again before would be in vain.
            if refusal == .illegalGeneration { await cluster.changed(after: revision) }
            return .aborted(reason: "\(refusal)")
        }
        if let aborted = try await disturbance(at: .sent) {
            cluster.update { $0.abort(id) }
            return aborted
        }
        if let refusal = cluster.update({ $0.commit(id) }) {
            return .aborted(reason: "\(refusal)")
        }
        _ = try await disturbance(at: .applied)
        return .committed
    }

    /// The outcome that a disturbance makes of the commit; `nil` to go on.
    private func disturbance(at point: CommitPoint) async throws(LogFailure) -> CommitOutcome? {
        let disturbance = await disturb(point)
        if isCrashed { throw Self.crashed }
        switch disturbance {
        case .fail(let failure): throw failure
        case .abort(let reason): return .aborted(reason: reason)
        case nil: return nil
        }
    }
}
