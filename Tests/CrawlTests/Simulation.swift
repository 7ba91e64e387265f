import CrawlTesting

@testable import Crawl

/// One schedule: workers, a broker and scripted upstreams, driven event by event in the order that a seed gives.
///
/// First comes chaos: crashes, expulsions, rebalances, aborts, lost answers, users who repeat and change their minds.
/// Then everything is left to settle, and `SimulationOracle` looks at what is on the broker.
struct Simulation {
    let seed: UInt64
    var generator: SplitMix64
    var plan: SimulationPlan
    var broker: MemoryBroker
    var workers: [SimulatedWorker] = []
    /// Members whose process is gone; the broker has not noticed.
    var ghosts: [Int] = []
    var notes = SimulationNotes()
    /// Events so far.
    var turn = 0
    let trace: Trace?
    private var newestWorker = 0

    /// - Parameters:
    ///   - defects: rules of the broker that are broken; then the schedule is a long one with many workers, to show it soon.
    ///   - traced: keeps in words what happens.
    init(seed: UInt64, defects: Set<MemoryBroker.Defect> = [], traced: Bool = false) {
        self.seed = seed
        generator = SplitMix64(seed: seed)
        let start = Timestamp(milliseconds: 1_000_000)
        plan = SimulationPlan(now: start, using: &generator)
        if !defects.isEmpty { (plan.workers, plan.chaos, plan.misfortunes) = (3, 160, 5) }
        broker = MemoryBroker(partitions: plan.partitions, assignment: plan.assignment, defects: defects)
        broker.now = start
        trace = traced ? Trace() : nil
    }

    mutating func draw(_ range: Range<Int>) -> Int { Int.random(in: range, using: &generator) }

    /// What happened, in words; only kept when a schedule is run to be read.
    final class Trace {
        var lines: [String] = []
    }

    func log(_ line: @autoclosure () -> String) {
        guard let trace else { return }
        trace.lines.append("\(broker.now.milliseconds - 1_000_000) ms: \(line())")
    }

    // MARK: Workers

    mutating func startWorker() {
        newestWorker += 1
        let state = WorkerState(
            sources: plan.sources, limits: plan.limits, maxItemBytes: 1_000, partitionCount: Int(broker.partitions),
            seed: generator.next())
        let worker = SimulatedWorker(name: "w\(newestWorker)", member: broker.join(), state: state)
        workers.append(worker)
        log("\(worker.name) joins as member \(worker.member)")
    }

    /// The process is gone, whatever it was doing. The broker finds out later.
    mutating func crash(_ index: Int) {
        let worker = workers.remove(at: index)
        ghosts.append(worker.member)
        log("\(worker.name) crashes\(worker.commit.map { "; its transaction was \($0.phase)" } ?? "")")
    }

    /// The worker loses what it has and joins again, with a producer that fences its own open transaction. What became
    /// of the transaction under way, the worker is told later.
    mutating func rejoin(_ index: Int) {
        broker.remove(workers[index].member)
        broker.timeOutTransactions(of: workers[index].member)
        workers[index].lose()
        workers[index].member = broker.join()
        log("\(workers[index].name) joins again as member \(workers[index].member)")
    }

    /// What the worker can do now. What it tries in vain is not listed again before something changed.
    mutating func move(_ index: Int) -> Bool {
        var moves: [SimulatedWorker.Move] = []
        if workers[index].deafUntil <= turn {
            if broker.group.hasNews(for: workers[index].member) { moves.append(.heartbeat) }
            if !workers[index].restoring.isEmpty { moves.append(.restore) }
            if !workers[index].ready.isEmpty { moves.append(.poll) }
        }
        if !workers[index].inbox.isEmpty { moves.append(.deliver) }
        if !workers[index].fetches.isEmpty { moves.append(.answer) }
        moves.append(.commit)
        moves.shuffle(using: &generator)
        for move in moves where perform(move, index) {
            workers[index].pump(now: broker.now)
            if !workers[index].revoking.isEmpty { workers[index].finishRevoking(&broker) }
            return true
        }
        return false
    }

    private mutating func perform(_ move: SimulatedWorker.Move, _ index: Int) -> Bool {
        switch move {
        case .heartbeat:
            log("\(workers[index].name) heartbeat")
            if workers[index].heartbeat(&broker) { rejoin(index) }
            return true
        case .restore:
            let owned = workers[index].restoring[draw(0..<workers[index].restoring.count)]
            guard workers[index].restore(owned, &broker) else { return false }
            log("\(workers[index].name) restored \(owned.partition)/\(owned.epoch)")
            return true
        case .poll: return poll(index)
        case .deliver:
            deliver(index)
            return true
        case .answer:
            answer(index)
            return true
        case .commit: return commit(index)
        }
    }

    private mutating func poll(_ index: Int) -> Bool {
        let first = draw(0..<workers[index].ready.count)
        for turn in workers[index].ready.indices {
            let owned = workers[index].ready[(first + turn) % workers[index].ready.count]
            let jobs = broker.poll(owned, for: workers[index].member, limit: 1 + draw(0..<3))
            if jobs.isEmpty { continue }
            workers[index].inbox += jobs
            return true
        }
        return false
    }

    private mutating func deliver(_ index: Int) {
        let job = workers[index].inbox.removeFirst()
        log("\(workers[index].name) gets \(job.owned.partition)@\(job.position.offset) \(job.content.summary)")
        workers[index].state.deliver(job, now: broker.now)
    }

    /// Any of the fetches under way ends.
    private mutating func answer(_ index: Int) {
        let order = workers[index].fetches.remove(at: draw(0..<workers[index].fetches.count))
        guard let crawl = plan.crawls.first(where: { $0.sourceName == order.source }) else { return }
        let result = crawl.source.answer(order.request)
        log("\(workers[index].name) fetched \(crawl.name) page \(order.request.page): \(result.summary)")
        workers[index].state.fetched(order, result, now: broker.now)
    }

    private mutating func commit(_ index: Int) -> Bool {
        guard let commit = workers[index].commit else {
            guard workers[index].beginCommit(&broker) else { return false }
            log("\(workers[index].name) begins \(workers[index].commit?.transaction.summary ?? "")")
            return true
        }
        if commit.heldUntil > turn { return false }
        workers[index].advanceCommit(&broker)
        log(
            "\(workers[index].name) commit: \(workers[index].commit.map { "\($0.phase)" } ?? "over after \(commit.phase)")"
        )
        return true
    }
}

extension DeliveredJob.Content {
    var summary: String {
        switch self {
        case .unusable: return "unusable"
        case .job(let job):
            if case .next(let at) = job.action { return "\(job.crawl) next \(at.run).\(at.step)" }
            return "\(job.crawl) \(job.action)"
        }
    }
}

extension Result<Page, SourceError> {
    var summary: String {
        switch self {
        case .success(let page): "\(page.items.count) items"
        case .failure(let error): error.kind.rawValue
        }
    }
}

extension Transaction {
    var summary: String {
        let steps = steps.map { step in
            let end = step.record.end.map { " \($0.verdict) \($0.reason)" } ?? ""
            return "\(step.record.crawl) \(step.record.run).\(step.record.step) pages "
                + "\(step.batches.map(\.number))\(end)\(step.next == nil ? "" : " +next")"
        }
        let offsets = offsets.map { "\($0.owned.partition)/\($0.owned.epoch)→\($0.next)" }
        return "[\(steps.joined(separator: "; "))] dead \(deadLetters.map(\.kind)) offsets \(offsets)"
    }
}
