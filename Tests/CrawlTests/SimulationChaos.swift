import CrawlTesting

@testable import Crawl

/// What users and administrators did in a schedule; the oracle judges by it. Crawls go by their name in the plan.
struct SimulationNotes {
    /// Jobs that may begin a run: `start` and `restart`.
    var triggers: [String: [JobPosition]] = [:]
    /// Jobs that may cancel a run: `cancel` and `restart`.
    var cancels: [String: Int] = [:]
    var resumes: [String: Int] = [:]
    /// Words about crawls that may not be known yet.
    var steers = 0
    var unusable = 0
    /// How often the group read everything again.
    var resets = 0
    /// Once there was a reset: runs that were there then, and triggers that were not handled by then.
    var runsAtMost: [String: Int] = [:]

    mutating func note(_ action: Job.Action, of crawl: String, at position: JobPosition) {
        switch action {
        case .start, .restart:
            triggers[crawl, default: []].append(position)
            runsAtMost[crawl]? += 1
            if action == .restart { cancels[crawl, default: 0] += 1 }
        case .cancel:
            cancels[crawl, default: 0] += 1
            steers += 1
        case .resume:
            resumes[crawl, default: 0] += 1
            steers += 1
        case .pause: steers += 1
        case .next: break
        }
    }
}

extension Simulation {
    /// Runs the schedule to its end. The oracle looks at the broker afterwards.
    mutating func run() throws {
        for _ in 0..<plan.workers { startWorker() }
        for crawl in plan.crawls { trigger(crawl, .start) }
        for _ in 0..<plan.chaos { takeTurn() }
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
    private mutating func takeTurn() {
        turn += 1
        if draw(0..<100) < plan.misfortunes, let index = victim() { return misfortune(index) }
        switch draw(0..<100) {
        case 0..<5: users()
        case 5..<7: administrator()
        case 7..<12: if workers.count < plan.workers { startWorker() }
        case 12..<17: noticeGhost()
        case 17..<25: passTime()
        default:
            guard !workers.isEmpty else { return }
            let index = draw(0..<workers.count)
            if workers[index].stalledUntil > turn { return }
            if !move(index) { idle() }
            leaveIfDone(index)
        }
    }

    /// A worker has nothing to do: time goes by, or somebody finds it work.
    private mutating func idle() {
        if draw(0..<3) > 0 { return passTime() }
        trigger(plan.crawls[draw(0..<plan.crawls.count)], .start)
    }

    /// Half of the misfortunes meet a worker in the middle of a transaction, if there is one.
    private mutating func victim() -> Int? {
        let committing = workers.indices.filter { workers[$0].commit != nil }
        let candidates = committing.isEmpty || draw(0..<2) == 0 ? Array(workers.indices) : committing
        return candidates.randomElement(using: &generator)
    }

    // MARK: Users

    mutating func trigger(_ crawl: SimulationPlan.PlannedCrawl, _ action: Job.Action) {
        var job = crawl.start
        job.action = action
        let position = broker.produce(job, to: crawl.partition)
        log("user: \(crawl.name) \(action) at \(crawl.partition)@\(position.offset)")
        notes.note(action, of: crawl.name, at: position)
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
        for crawl in plan.crawls { notes.runsAtMost[crawl.name] = runsThatMayCome(of: crawl) }
        notes.resets += 1
        log("offsets reset")
        broker.resetOffsets()
        for _ in 0..<plan.workers { startWorker() }
    }

    private func runsThatMayCome(of crawl: SimulationPlan.PlannedCrawl) -> Int {
        let runs = broker.ledger(of: crawl.partition).first { $0.crawl == crawl.id }?.run ?? 0
        let committed = broker.committedOffsets[crawl.partition] ?? 0
        let open = (notes.triggers[crawl.name] ?? []).count { $0.offset >= committed }
        let earlier = (notes.runsAtMost[crawl.name] ?? .max)
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
        guard workers[index].isStopping else { return }
        let worker = workers[index]
        guard worker.commit == nil, worker.revoking.isEmpty, worker.state.isDrained(worker.ready)
        else { return }
        log("\(worker.name) leaves")
        broker.remove(worker.member)
        workers.remove(at: index)
    }

    // MARK: What goes wrong

    private mutating func misfortune(_ index: Int) {
        switch draw(0..<11) {
        case 0, 1: crash(index)
        case 2, 3:
            // It goes on later, perhaps in the middle of a transaction, and perhaps as somebody who is no member.
            workers[index].stalledUntil = turn + draw(5..<60)
            log(
                "\(workers[index].name) stalls\(workers[index].commit.map { "; its transaction is \($0.phase)" } ?? "")"
            )
            if draw(0..<3) > 0 { expel(index) }
        case 4: expel(index)
        case 5:
            // The log cannot know whether the transaction came to something: it makes the worker begin anew.
            workers[index].commit?.isLost = true
            holdCommit(index)
            rejoin(index)
        case 6:
            workers[index].deafUntil = turn + draw(20..<80)
            expel(index)
        case 8: holdCommit(index)
        case 7:
            broker.timeOutTransactions(of: workers[index].member)
            log("\(workers[index].name): its transaction times out")
        default: if workers[index].commit?.phase != .applied { workers[index].abort("bad luck", &broker) }
        }
    }

    private mutating func holdCommit(_ index: Int) {
        let until = turn + draw(0..<40)
        workers[index].commit?.heldUntil = until
    }

    private mutating func expel(_ index: Int) {
        log("\(workers[index].name) is expelled and does not know")
        broker.remove(workers[index].member)
    }

    /// The broker notices that a member is gone: its session ends, and later its transaction times out.
    private mutating func noticeGhost() {
        guard !ghosts.isEmpty else { return }
        let index = draw(0..<ghosts.count)
        switch draw(0..<6) {
        case 0: bury(index)
        case 1: broker.timeOutTransactions(of: ghosts[index])
        default:
            log("member \(ghosts[index]) is missed")
            broker.remove(ghosts[index])
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
        turn = .max
        while !ghosts.isEmpty { bury(0) }
        if workers.allSatisfy(\.isStopping) { startWorker() }
        for _ in 0..<100 {
            try workUntilIdle()
            if !goOnWithWhatStopped() { return }
        }
        throw Unsettled(description: "crawls stay paused or failed although they are taken up again")
    }

    /// Resumes what is paused, and sends the dead letters again of what failed and can be mended. False if there is none.
    private mutating func goOnWithWhatStopped() -> Bool {
        var goesOn = false
        for crawl in plan.crawls {
            guard let record = broker.ledger(of: crawl.partition).first(where: { $0.crawl == crawl.id }) else {
                continue
            }
            if record.status == .paused {
                trigger(crawl, .resume)
                goesOn = true
            } else if crawl.upstream.mends, record.end?.verdict == .failed, let job = deadLetter(of: record, crawl) {
                log("user: \(crawl.name) \(record.run).\(record.step) is sent again")
                broker.produce(job, to: crawl.partition)
                goesOn = true
            }
        }
        return goesOn
    }

    private func deadLetter(of record: CrawlRecord, _ crawl: SimulationPlan.PlannedCrawl) -> Job? {
        broker.deadLetters[Int(crawl.partition)].committed().lazy.compactMap { letter -> Job? in
            guard case .job(let job) = letter.value.content, job.crawl == crawl.id,
                case .next(let at) = job.action, (at.run, at.step) == (record.run, record.step)
            else { return nil }
            return job
        }.first
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
