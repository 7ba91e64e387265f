import CrawlTesting

@testable import Crawl

/// What one schedule is made of: drawn from its seed, small on purpose.
struct SimulationPlan {
    struct PlannedCrawl {
        var id: String
        var partition: Int32
        var upstream: SimulationUpstream
        var source: ScriptedSource
        var maxPages: Int64?

        /// The job that a user sends to begin it.
        var start: Job { Job(crawl: id, source: id, limits: Limits(maxPages: maxPages)) }
    }

    var partitions: Int32
    var assignment: MemoryGroup.Assignment
    var workers: Int
    var limits: WorkerLimits
    var crawls: [PlannedCrawl]
    var sources: [Source]
    /// Events before everything is left to settle.
    var chaos: Int
    /// How many of a hundred events are misfortunes of a worker.
    var misfortunes: Int
    /// The offsets of the group are set back to the beginning at the end, and perhaps in between.
    var resets: Bool

    init(using generator: inout SplitMix64) {
        partitions = Int32.random(in: 1...3, using: &generator)
        assignment = Bool.random(using: &generator) ? .cooperative : .eager
        workers = Int.random(in: 1...3, using: &generator)
        limits = WorkerLimits(
            runAheadPages: [0, 0, 1, 2, 128].randomElement(using: &generator) ?? 0,
            transactionBytes: [1, 16 << 20].randomElement(using: &generator) ?? 1,
            maxCrawlsInFlight: [1, 64].randomElement(using: &generator) ?? 1,
            yieldAfter: [1, 16].randomElement(using: &generator) ?? 1,
            parkAfter: [.seconds(20), .seconds(60)].randomElement(using: &generator) ?? .seconds(20))
        var crawls: [PlannedCrawl] = []
        for index in 0..<Int.random(in: 1...3, using: &generator) {
            let upstream = SimulationUpstream.random(using: &generator)
            crawls.append(
                PlannedCrawl(
                    id: "crawl-\(index)", partition: Int32.random(in: 0..<partitions, using: &generator),
                    upstream: upstream, source: ScriptedSource(upstream.script),
                    maxPages: Int.random(in: 0..<4, using: &generator) == 0
                        ? Int64.random(in: 1...5, using: &generator) : nil))
        }
        self.crawls = crawls
        sources = crawls.map { $0.source.source(named: $0.id) }
        chaos = Int.random(in: 20...160, using: &generator)
        misfortunes = [2, 5, 12].randomElement(using: &generator) ?? 5
        resets = Bool.random(using: &generator)
    }
}
