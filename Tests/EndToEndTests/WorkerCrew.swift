import BrokerSupport
import Foundation

/// Worker processes of one deployment that are killed, frozen and asked to stop, and come back.
actor WorkerCrew {
    private let deployment: Deployment
    private let brokersFail: Bool
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
    ///
    /// - Parameter brokersFail: a worker that is asked to stop may then run out of time, and say so.
    init(_ deployment: Deployment, workers: Int, brokersFail: Bool = false) {
        self.deployment = deployment
        self.brokersFail = brokersFail
        members = (0..<workers).map { Member(name: "\($0)", slot: $0 == workers - 1 ? nil : "slot-\($0)") }
    }

    func startAll() throws {
        for index in members.indices { try start(index) }
    }

    /// Does the fault to the worker, or to the next one that can bear one.
    func perform(_ fault: FaultSchedule.Fault) {
        let order = members.indices.map { ($0 + fault.worker) % members.count }
        let free = order.first { members[$0].process != nil && !members[$0].isFrozen && !members[$0].isStopping }
        guard let index = free, let process = members[index].process else { return }
        switch fault.kind {
        case .kill:
            tally.kills += 1
            process.send(SIGKILL)
        case .terminate:
            tally.terminations += 1
            members[index].isStopping = true
            process.send(SIGTERM)
        case .freeze(let duration):
            if duration > deployment.sessionTimeout { tally.longFreezes += 1 } else { tally.freezes += 1 }
            members[index].isFrozen = true
            process.send(SIGSTOP)
            Task { await thaw(index, process, after: duration) }
        }
        absences[index] = fault.absence
    }

    /// Lets all run to their end in order. Returns when all have exited.
    func stopAll() async {
        isOver = true
        for index in members.indices {
            guard let process = members[index].process else { continue }
            process.send(SIGCONT)
            // A second SIGTERM would end a worker that is stopping at once.
            if !members[index].isStopping { process.send(SIGTERM) }
            members[index].isStopping = true
        }
        for task in exits { await task.value }
    }

    private var absences: [Int: Duration] = [:]
    private var exits: [Task<Void, Never>] = []

    private func start(_ index: Int) throws {
        let process = try deployment.startWorker(slot: members[index].slot)
        members[index].process = process
        members[index].isFrozen = false
        members[index].isStopping = false
        exits.append(
            Task {
                // As long as a test may take: an end is always seen.
                if let exit = await process.waitForExit(within: .seconds(24 * 3_600)) {
                    await ended(index, process, exit)
                }
            })
    }

    private func thaw(_ index: Int, _ process: ChildProcess, after duration: Duration) async {
        try? await Task.sleep(for: duration)
        process.send(SIGCONT)
        if members[index].process?.pid == process.pid { members[index].isFrozen = false }
    }

    /// Looks at how a worker ended, and starts it again.
    private func ended(_ index: Int, _ process: ChildProcess, _ exit: ChildProcess.Exit) async {
        let member = members[index]
        members[index].process = nil
        switch exit {
        case .signal(SIGKILL): break
        case .code(0) where member.isStopping: break
        case .code(let code) where code != 0 && (!member.isStopping || brokersFail):
            tally.selfEnded[process.lastLine, default: 0] += 1
        // It had not come so far as to say anything, nor to take signals.
        case .signal(SIGTERM) where member.isStopping && process.errors.isEmpty: break
        case .code, .signal:
            let words = process.errors.split(separator: "\n").suffix(80).joined(separator: "\n      ")
            failures.append("worker \(member.name) ended as \(exit):\n      \(words)")
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
