import CrawlTesting

@testable import Crawl

/// What users and administrators did in a schedule; the oracle judges by it.
struct SimulationNotes {
    /// Jobs that may begin a run, by crawl: `start` and `restart`.
    var triggers: [String: [JobPosition]] = [:]
    /// Crawls that somebody cancelled or restarted at least once.
    var cancelled: Set<String> = []
    /// Other words about crawls that may not be known yet.
    var steers = 0
    var unusable = 0
    /// How often the group read everything again.
    var resets = 0
    /// Once there was a reset, by crawl: runs that were there then, and triggers that were not handled by then.
    var runsAtMost: [String: Int] = [:]

    mutating func addTrigger(of crawl: String, _ position: JobPosition) {
        triggers[crawl, default: []].append(position)
        runsAtMost[crawl]? += 1
    }
}

extension Simulation {
    /// Runs the schedule to its end. The oracle looks at the broker afterwards.
    mutating func run() throws {
        for _ in 0..<plan.workers { startWorker() }
        for crawl in plan.crawls { trigger(crawl, .start) }
        for _ in 0..<plan.chaos { turn() }
        try settle()
        if plan.resets {
            // A settled group that reads everything again must do nothing at all.
            resetOffsets()
            try settle()
        }
        for crawl in plan.crawls { trigger(crawl, .start) }
        try settle()
    }

    /// One event: mostly a move of a worker, sometimes something that goes wrong.
    private mutating func turn() {
        switch draw(0..<100) {
        case 0..<3: users()
        case 3..<5: administrator()
        case 5..<9: if !workers.isEmpty { misfortune(draw(0..<workers.count)) }
        case 9..<11: if workers.count < plan.workers { startWorker() }
        case 11..<16: noticeGhost()
        case 16..<24: passTime()
        default: if !workers.isEmpty { moveAnyhow(draw(0..<workers.count)) }
        }
    }

    private mutating func moveAnyhow(_ index: Int) {
        if !move(index) { passTime() }
        leaveIfDone(index)
    }

    // MARK: Users

    mutating func trigger(_ crawl: SimulationPlan.PlannedCrawl, _ action: Job.Action) {
        var job = crawl.start
        job.action = action
        let position = broker.produce(job, to: crawl.partition)
        log("user: \(crawl.id) \(action) at \(crawl.partition)@\(position.offset)")
        switch action {
        case .start: notes.addTrigger(of: crawl.id, position)
        case .restart:
            notes.addTrigger(of: crawl.id, position)
            notes.cancelled.insert(crawl.id)
        case .cancel:
            notes.cancelled.insert(crawl.id)
            notes.steers += 1
        case .pause, .resume: notes.steers += 1
        case .next: break
        }
    }

    private mutating func users() {
        let crawl = plan.crawls[draw(0..<plan.crawls.count)]
        switch draw(0..<12) {
        case 0..<5: trigger(crawl, .start)
        case 5: trigger(crawl, .restart)
        case 6: trigger(crawl, .cancel)
        case 7: trigger(crawl, .pause)
        case 8: trigger(crawl, .resume)
        case 9:
            notes.unusable += 1
            broker.produce(.init(unusable: ReceivedRecord(value: [0xff]), reason: "not JSON"), to: crawl.partition)
        default: replayNext(in: crawl.partition)
        }
    }

    /// Somebody copies a worker's job to the end of the topic.
    private mutating func replayNext(in partition: Int32) {
        let nexts = broker.jobs[Int(partition)].committed().filter { record in
            if case .job(let job) = record.value.content, case .next = job.action { true } else { false }
        }
        guard !nexts.isEmpty else { return }
        let copy = nexts[draw(0..<nexts.count)]
        broker.produce(copy.value, to: partition)
        log("user: \(copy.value.content.summary) again")
    }

    // MARK: Administrators

    private mutating func administrator() {
        switch draw(0..<6) {
        case 0: if plan.resets { resetOffsets() }
        case 1: if !workers.isEmpty { stop(draw(0..<workers.count)) }
        default:
            log("rebalance")
            broker.rebalance()
        }
    }

    /// Everybody goes, the offsets are set to the beginning, and others come.
    private mutating func resetOffsets() {
        while !workers.isEmpty { crash(workers.count - 1) }
        while !ghosts.isEmpty { bury(0) }
        for crawl in plan.crawls { notes.runsAtMost[crawl.id] = runsThatMayCome(of: crawl) }
        notes.resets += 1
        log("offsets reset")
        broker.resetOffsets()
        for _ in 0..<plan.workers { startWorker() }
    }

    private func runsThatMayCome(of crawl: SimulationPlan.PlannedCrawl) -> Int {
        let runs = broker.ledger(of: crawl.partition).first { $0.crawl == crawl.id }?.run ?? 0
        let committed = broker.committedOffsets[crawl.partition] ?? 0
        let open = (notes.triggers[crawl.id] ?? []).count { $0.offset >= committed }
        let earlier = (notes.runsAtMost[crawl.id] ?? .max)
        return min(Int(runs) + open, earlier)
    }

    mutating func stop(_ index: Int) {
        guard workers[index].revoking.isEmpty else { return }
        log("\(workers[index].name) stops")
        workers[index].isStopping = true
        workers[index].restoring = []
        workers[index].state.drain(workers[index].ready)
        leaveIfDone(index)
    }

    mutating func leaveIfDone(_ index: Int) {
        let worker = workers[index]
        guard worker.isStopping, worker.commit == nil, worker.revoking.isEmpty, worker.state.isDrained(worker.ready)
        else { return }
        log("\(worker.name) leaves")
        broker.remove(worker.member)
        workers.remove(at: index)
    }

    // MARK: What goes wrong

    private mutating func misfortune(_ index: Int) {
        switch draw(0..<6) {
        case 0, 1: crash(index)
        case 2:
            log("\(workers[index].name) is expelled and does not know")
            broker.remove(workers[index].member)
        case 3:
            // The worker cannot know whether the transaction under way came to something.
            if workers[index].commit != nil { rejoin(index) }
        case 4:
            broker.timeOutTransactions(of: workers[index].member)
            log("\(workers[index].name): its transaction times out")
        default: if workers[index].commit?.phase != .applied { workers[index].abort("bad luck", &broker) }
        }
    }

    /// The broker notices that a member is gone: its session ends, or its transaction times out. In any order.
    private mutating func noticeGhost() {
        guard !ghosts.isEmpty else { return }
        let index = draw(0..<ghosts.count)
        switch draw(0..<3) {
        case 0: bury(index)
        case 1: broker.remove(ghosts[index])
        default: broker.timeOutTransactions(of: ghosts[index])
        }
    }

    private mutating func bury(_ index: Int) {
        let ghost = ghosts.remove(at: index)
        broker.remove(ghost)
        broker.timeOutTransactions(of: ghost)
        log("member \(ghost) is noticed to be gone")
    }

    private mutating func passTime() {
        let wake = draw(0..<3) == 0 ? nextWake() : nil
        broker.now = max(wake ?? broker.now, broker.now + .milliseconds(Int64(draw(1..<40))))
        for index in workers.indices { workers[index].pump(now: broker.now) }
    }

    private func nextWake() -> Timestamp? {
        workers.compactMap { $0.state.nextWake(after: broker.now) }.min()
    }

    // MARK: Settling

    struct Unsettled: Error, CustomStringConvertible {
        var description: String
    }

    /// No more misfortune: works until nobody has anything left to do, not even later.
    private mutating func settle() throws {
        log("settling")
        while !ghosts.isEmpty { bury(0) }
        if workers.allSatisfy(\.isStopping) { startWorker() }
        for _ in 0..<100 {
            try workUntilIdle()
            let paused = plan.crawls.filter { crawl in
                broker.ledger(of: crawl.partition).contains { $0.crawl == crawl.id && $0.status == .paused }
            }
            if paused.isEmpty { return }
            for crawl in paused { trigger(crawl, .resume) }
        }
        throw Unsettled(description: "crawls stay paused although they are resumed")
    }

    private mutating func workUntilIdle() throws {
        for _ in 0..<4_000 {
            if moveSomebody() { continue }
            guard let wake = nextWake() else { return }
            broker.now = max(wake, broker.now + .milliseconds(1))
            for index in workers.indices { workers[index].pump(now: broker.now) }
        }
        throw Unsettled(description: "there is no end of work")
    }

    private mutating func moveSomebody() -> Bool {
        let first = draw(0..<workers.count)
        for turn in workers.indices {
            let index = (first + turn) % workers.count
            if move(index) {
                leaveIfDone(index)
                return true
            }
        }
        return false
    }
}
