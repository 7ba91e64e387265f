import CrawlTesting
import Foundation
import Testing

@testable import Crawl

/// Exactly once, whatever happens: see `Simulation` for what happens and `SimulationOracle` for what must come out.
///
/// A schedule that fails prints its seed and the end of its trace. With the seed in `SIMULATION_SEED` it is replayed and
/// traced from the beginning. `SIMULATION_SCHEDULES` sets how many are run, `SIMULATION_FIRST_SEED` where they begin.
struct SimulationTests {
    static let schedules = UInt64(environment("SIMULATION_SCHEDULES") ?? "") ?? 20_000
    static let firstSeed = UInt64(environment("SIMULATION_FIRST_SEED") ?? "") ?? 0
    static let chosenSeed = UInt64(environment("SIMULATION_SEED") ?? "")
    static let parts: UInt64 = 8

    @Test(.enabled(if: chosenSeed == nil), arguments: 0..<parts)
    func `each page is published once and each run ends once, in every schedule`(part: UInt64) async {
        var failures = 0
        for number in 0..<Self.schedules / Self.parts {
            let seed = Self.firstSeed + number * Self.parts + part
            let problems = Self.problems(seed: seed)
            // The other tests share these threads, and some of them watch a clock.
            await Task.yield()
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
        #expect(problems.isEmpty, "\(Self.report(seed: seed, problems, lines: .max))")
    }

    @Test func `the same seed gives the same schedule`() {
        for seed in UInt64(0)..<20 {
            #expect(Self.trace(seed: seed) == Self.trace(seed: seed))
        }
    }

    /// The simulation must be able to fail: with any one of the broker's rules broken, a schedule shows it soon.
    @Test(arguments: MemoryBroker.Defect.allCases)
    func `a broken rule of the broker does not go unnoticed`(defect: MemoryBroker.Defect) async {
        var seed: UInt64 = 0
        while seed < 5_000, Self.problems(seed: seed, defects: [defect]).isEmpty {
            seed += 1
            await Task.yield()
        }
        #expect(seed < 5_000)
    }

    private static func environment(_ name: String) -> String? { ProcessInfo.processInfo.environment[name] }

    static func problems(seed: UInt64, defects: Set<MemoryBroker.Defect> = []) -> [String] {
        var simulation = Simulation(seed: seed, defects: defects)
        do {
            try simulation.run()
        } catch {
            return ["\(error)"]
        }
        return SimulationOracle(simulation: simulation).problems()
    }

    private static func trace(seed: UInt64) -> [String] {
        var simulation = Simulation(seed: seed, traced: true)
        try? simulation.run()
        return simulation.trace?.lines ?? []
    }

    private static func report(seed: UInt64, _ problems: [String], lines: Int = 60) -> String {
        let command = "deploy/simulate --seed \(seed)"
        let trace = trace(seed: seed).suffix(lines).joined(separator: "\n")
        return "seed \(seed): \(problems.joined(separator: "; "))\nreplay: \(command)\n\(trace)"
    }
}
