import Foundation

/// Worker processes of one deployment that are killed, frozen and asked to stop, and come back.
actor WorkerCrew {
    private let deployment: Deployment
    private var members: [Member]
    private(set) var tally = FaultTally()
    /// What must not happen: a crash, or a stop that was not in order.
    private(set) var failures: [String] = []
    private var isOver = false

    private struct Member {
        let name: String
        let slot: String?
        var process: ChildProcess?
        var isFrozen = false
        var isStopping = false
    }

    /// The last worker has no slot: its crawls are taken over by time-out alone.
    init(_ deployment: Deployment, workers: Int) {
        self.deployment = deployment
        members = (0..<workers).map { Member(name: "\($0)", slot: $0 == workers - 1 ? nil : "slot-\($0)") }
    }

    func startAll() throws {
        for index in members.indices { try start(index) }
    }

    /// Does the fault to the worker, or to the next one that can bear one; `false` if none can.
    func perform(_ fault: FaultSchedule.Fault) -> Bool {
        let order = members.indices.map { ($0 + fault.worker) % members.count }
        let free = order.first { members[$0].process != nil && !members[$0].isFrozen && !members[$0].isStopping }
        guard let index = free, let process = members[index].process else { return false }
        switch fault.kind {
        case .kill:
            tally.kills += 1
            process.signal(SIGKILL)
        case .terminate:
            tally.terminations += 1
            members[index].isStopping = true
            process.signal(SIGTERM)
        case .freeze(let duration):
            if duration > deployment.sessionTimeout { tally.longFreezes += 1 } else { tally.freezes += 1 }
            members[index].isFrozen = true
            process.signal(SIGSTOP)
            Task { await thaw(index, process, after: duration) }
        }
        absences[index] = fault.absence
        return true
    }

    /// Lets all run to their end in order. Returns when all have exited.
    func stopAll() async {
        isOver = true
        for index in members.indices {
            guard let process = members[index].process else { continue }
            members[index].isStopping = true
            process.signal(SIGCONT)
            process.signal(SIGTERM)
        }
        for task in exits { await task.value }
    }

    private var absences: [Int: Duration] = [:]
    private var exits: [Task<Void, Never>] = []

    private func start(_ index: Int) throws {
        let process = try deployment.startWorker(members[index].name, slot: members[index].slot)
        members[index].process = process
        members[index].isFrozen = false
        members[index].isStopping = false
        exits.append(Task { await ended(index, await process.exit()) })
    }

    private func thaw(_ index: Int, _ process: ChildProcess, after duration: Duration) async {
        try? await Task.sleep(for: duration)
        process.signal(SIGCONT)
        if members[index].process?.pid == process.pid { members[index].isFrozen = false }
    }

    /// Looks at how a worker ended, and starts it again.
    private func ended(_ index: Int, _ status: ExitStatus) async {
        let member = members[index]
        members[index].process = nil
        switch status {
        case .signalled(SIGKILL): break
        case .exited(0) where member.isStopping: break
        case .exited(let code) where code != 0 && !member.isStopping:
            tally.selfEnded[deployment.lastLine(ofWorker: member.name), default: 0] += 1
        case .exited, .signalled:
            failures.append("worker \(member.name) ended as \(status): \(deployment.lastLine(ofWorker: member.name))")
        }
        guard !isOver else { return }
        try? await Task.sleep(for: absences.removeValue(forKey: index) ?? .zero)
        guard !isOver else { return }
        do {
            try start(index)
        } catch {
            failures.append("worker \(member.name) did not start: \(error)")
        }
    }
}
