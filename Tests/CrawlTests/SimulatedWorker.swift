import CrawlTesting

@testable import Crawl

/// One worker process in the simulation: the decisions of `WorkerState`, performed one event at a time.
struct SimulatedWorker {
    /// How far the transaction under way has come.
    enum CommitPhase: CaseIterable { case begun, written, sent, applied }

    struct Commit {
        var transaction: Transaction
        var id: TransactionID
        var phase: CommitPhase
        /// Why the broker refused it, if it did.
        var refusal: MemoryBroker.Refusal?
        /// The connection broke: the worker will hear that it was aborted, whether or not that is true.
        var isLost = false
        /// Nothing is heard of it before this turn.
        var heldUntil = 0
    }

    /// Something that a worker can do now.
    enum Move { case heartbeat, restore, poll, deliver, answer, commit }

    let name: String
    var member: Int
    var state: WorkerState
    var fetches: [FetchOrder] = []
    /// Jobs that were read and not taken yet, perhaps of partitions that are gone by now.
    var inbox: [DeliveredJob] = []
    var restoring: [PartitionEpoch] = []
    var ready: [PartitionEpoch] = []
    var revoking: [PartitionEpoch] = []
    var commit: Commit?
    /// It gives everything up and leaves when nothing is under way.
    var isStopping = false
    /// It does nothing before this turn, like a process that got SIGSTOP.
    var stalledUntil = 0
    /// It does not ask the broker for anything before this turn, but goes on with what it has, as a process whose poll
    /// loop hangs.
    var deafUntil = 0

    init(name: String, member: Int, state: WorkerState) {
        self.name = name
        self.member = member
        self.state = state
    }

    /// Takes what the state wants to fetch, as the worker does after every change.
    mutating func pump(now: Timestamp) {
        fetches += state.nextFetches(now: now)
        _ = state.takeAbandoned()
        _ = state.takeEvents()
    }

    /// All that it owns is gone at once: its session ended.
    mutating func lose() {
        state.drop(ready + revoking)
        (ready, revoking, restoring) = ([], [], [])
    }

    /// Does what the group asks for. True if it was expelled and has to join again.
    mutating func heartbeat(_ broker: inout MemoryBroker) -> Bool {
        let news = broker.heartbeat(member)
        if news.isExpelled {
            lose()
            return true
        }
        restoring.removeAll(where: news.revoked.contains)
        let known = news.revoked.filter(ready.contains)
        ready.removeAll(where: known.contains)
        restoring += news.assigned
        if !news.revoked.isEmpty { giveUp(known, &broker) }
        return false
    }

    private mutating func giveUp(_ partitions: [PartitionEpoch], _ broker: inout MemoryBroker) {
        revoking = partitions
        state.drain(partitions)
        finishRevoking(&broker)
    }

    /// Gives the partitions up as soon as nothing of them is staged or under way.
    mutating func finishRevoking(_ broker: inout MemoryBroker) {
        guard state.isDrained(revoking) else { return }
        state.drop(revoking)
        revoking = []
        broker.gaveUp(member)
    }

    mutating func restore(_ owned: PartitionEpoch, _ broker: inout MemoryBroker) -> Bool {
        guard let restored = broker.restore(owned, for: member) else { return false }
        restoring.removeAll { $0 == owned }
        ready.append(owned)
        state.assign(restored, now: broker.now)
        return true
    }

    /// Begins the next transaction if there is something to commit.
    mutating func beginCommit(_ broker: inout MemoryBroker) -> Bool {
        guard commit == nil, let transaction = state.takeTransaction(now: broker.now) else { return false }
        commit = Commit(transaction: transaction, id: broker.begin(member), phase: .begun)
        return true
    }

    /// Takes the transaction one step further. A refusal aborts it.
    mutating func advanceCommit(_ broker: inout MemoryBroker) {
        guard var step = commit else { return }
        if step.isLost { return abort("the connection broke", &broker) }
        switch step.phase {
        case .begun:
            step.refusal = broker.write(step.transaction, in: step.id)
            step.phase = .written
        case .written:
            step.refusal = broker.sendOffsets(step.transaction, in: step.id)
            step.phase = .sent
        case .sent:
            step.refusal = broker.commit(step.id)
            step.phase = .applied
        case .applied: return settle(.committed, &broker)
        }
        commit = step
        if let refusal = step.refusal { abort("\(refusal)", &broker) }
    }

    mutating func abort(_ reason: String, _ broker: inout MemoryBroker) {
        guard let commit else { return }
        broker.abort(commit.id)
        settle(.aborted(reason: reason), &broker)
    }

    private mutating func settle(_ outcome: CommitOutcome, _ broker: inout MemoryBroker) {
        commit = nil
        state.settle(outcome, now: broker.now)
    }
}
