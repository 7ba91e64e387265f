import Crawl

/// Which worker is hit how, and when: the same for the same seed.
struct FaultSchedule {
    private var generator: SplitMix64
    private let workers: Int
    /// Freezing for longer than this makes others take a worker's crawls over while it still believes to own them.
    private let sessionTimeout: Duration

    struct Fault: Hashable {
        enum Kind: Hashable {
            case kill
            case terminate
            case freeze(Duration)
        }

        var kind: Kind
        /// The worker that is hit, or the next one after it that is alive.
        var worker: Int
        /// How long to wait before the fault.
        var pause: Duration
        /// How long a worker that ended stays away.
        var absence: Duration
    }

    init(seed: UInt64, workers: Int, sessionTimeout: Duration) {
        generator = SplitMix64(seed: seed)
        self.workers = workers
        self.sessionTimeout = sessionTimeout
    }

    mutating func next() -> Fault {
        let pause = Duration.milliseconds(200 + below(601))
        let worker = below(workers)
        let absence = Duration.milliseconds(below(4) == 0 ? below(1_500) : below(100))
        let kind: Fault.Kind =
            switch below(20) {
            case 0..<9: .kill
            case 9..<13: .terminate
            case 13..<18: .freeze(.milliseconds(20 + below(1_500)))
            default: .freeze(sessionTimeout + .milliseconds(500 + below(3_000)))
            }
        return Fault(kind: kind, worker: worker, pause: pause, absence: absence)
    }

    private mutating func below(_ limit: Int) -> Int { Int(generator.next() % UInt64(limit)) }
}

/// How often each kind of fault was done, and what came of the workers.
struct FaultTally: CustomStringConvertible {
    var kills = 0
    var terminations = 0
    var freezes = 0
    var longFreezes = 0
    /// Workers that ended by themselves, as they must when they are fenced, by their last line.
    var selfEnded: [String: Int] = [:]

    var total: Int { kills + terminations + freezes + longFreezes }

    var description: String {
        let ends = selfEnded.sorted { $0.key < $1.key }.map { "\n    \($0.value) × \($0.key)" }.joined()
        return """
            \(total) faults: \(kills) SIGKILL, \(terminations) SIGTERM, \(freezes) SIGSTOP for less than a session, \
            \(longFreezes) for longer; \(selfEnded.values.reduce(0, +)) workers ended by themselves\(ends)
            """
    }
}
