import CrawlTesting
import Foundation
import Testing

@testable import Crawl

/// Exactly once, whatever happens: see `Simulation` for what happens and `SimulationOracle` for what must come out.
///
/// A schedule that fails prints its seed. Replay it, with its trace, by
/// `SIMULATION_SEED=… swift test --filter SimulationTests`; run more of them with `SIMULATION_SCHEDULES=…`.
struct SimulationTests {
    static let schedules = Int(ProcessInfo.processInfo.environment["SIMULATION_SCHEDULES"] ?? "") ?? 2_000
    static let chosenSeed = UInt64(ProcessInfo.processInfo.environment["SIMULATION_SEED"] ?? "")
    static let parts = 8

    @Test(.enabled(if: chosenSeed == nil), arguments: 0..<parts)
    func `each page is published once and each run ends once, in every schedule`(part: Int) {
        var failures = 0
        for number in 0..<Self.schedules / Self.parts {
            let seed = UInt64(number * Self.parts + part)
            let problems = Self.problems(seed: seed)
            if problems.isEmpty { continue }
            Issue.record("\(Self.report(seed: seed, problems))")
            failures += 1
            if failures == 3 { return }
        }
    }

    @Test(.enabled(if: chosenSeed != nil, "for one schedule, set SIMULATION_SEED"))
    func `the chosen schedule publishes each page once and ends each run once`() throws {
        let seed = try #require(Self.chosenSeed)
        let problems = Self.problems(seed: seed)
        #expect(problems.isEmpty, "\(Self.report(seed: seed, problems, lines: 1_000))")
    }

    /// The simulation must be able to fail: with any one of the broker's rules broken, a schedule shows it.
    @Test(arguments: MemoryBroker.Defect.allCases)
    func `a broken rule of the broker does not go unnoticed`(defect: MemoryBroker.Defect) {
        let noticed = (0..<UInt64(5_000)).first { !Self.problems(seed: $0, defects: [defect]).isEmpty }
        #expect(noticed != nil)
        print("DEFECT", defect, noticed ?? 0, noticed.map { Self.problems(seed: $0, defects: [defect]) } ?? [])
    }

    static func problems(seed: UInt64, defects: Set<MemoryBroker.Defect> = []) -> [String] {
        var simulation = Simulation(seed: seed, defects: defects)
        do {
            try simulation.run()
        } catch {
            return ["\(error)"]
        }
        return SimulationOracle(simulation: simulation).problems()
    }

    private static func report(seed: UInt64, _ problems: [String], lines: Int = 60) -> String {
        var simulation = Simulation(seed: seed, traced: true)
        try? simulation.run()
        let trace = (simulation.trace?.lines ?? []).suffix(lines).joined(separator: "\n")
        let command = "SIMULATION_SEED=\(seed) swift test --filter SimulationTests"
        return "seed \(seed): \(problems.joined(separator: "; "))\nreplay: \(command)\n\(trace)"
    }
}
