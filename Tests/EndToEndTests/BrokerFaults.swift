import BrokerSupport
import Crawl
import Foundation

/// Kills or freezes one of several brokers every few seconds, and brings it back before the next is hit.
actor BrokerFaults {
    private let cluster: TestBroker
    private var generator: SplitMix64
    private var kills = 0
    private var freezes = 0
    private var isOver = false
    private var loop: Task<Void, any Error>?

    init(_ cluster: TestBroker, seed: UInt64) {
        self.cluster = cluster
        generator = SplitMix64(seed: seed)
    }

    func start() { loop = Task { try await run() } }

    /// Ends the faults and returns what was done, when all brokers run.
    func end() async throws -> String {
        isOver = true
        try await loop?.value
        return "\(kills) SIGKILL, \(freezes) SIGSTOP"
    }

    private func run() async throws {
        while !isOver {
            try await Task.sleep(for: .milliseconds(2_000 + below(3_000)))
            if isOver { break }
            let node = cluster.nodes[below(cluster.nodes.count)]
            if below(2) == 0 {
                kills += 1
                await node.kill()
                try await Task.sleep(for: .milliseconds(below(3_000)))
                try await node.restart()
            } else {
                freezes += 1
                node.freeze()
                try await Task.sleep(for: .milliseconds(500 + below(4_500)))
                node.thaw()
            }
        }
    }

    private func below(_ limit: Int) -> Int { Int(generator.next() % UInt64(limit)) }
}
