import CrawlTesting

@testable import Crawl

/// What one schedule is made of: drawn from its seed, small on purpose.
struct SimulationPlan {
    struct PlannedCrawl {
        /// The crawl id. Crawls of two partitions may have the same.
        var id: String
        var partition: Int32
        var upstream: SimulationUpstream
        var sourceName: String
        var source: ScriptedSource
        var follow: Bool
        var limits: Limits

        var name: String { "\(id) in \(partition)" }
        /// The job that a user sends to begin it.
        var start: Job { Job(crawl: id, source: sourceName, follow: follow, limits: limits) }

        init(_ number: Int, _ id: String, in partition: Int32, now: Timestamp, using generator: inout SplitMix64) {
            self.id = id
            self.partition = partition
            upstream = SimulationUpstream.random(using: &generator)
            sourceName = "source-\(number)"
            source = ScriptedSource(upstream.script)
            follow = !upstream.isPlain || Int.random(in: 0..<4, using: &generator) > 0
            limits = Limits()
            guard follow else { return }
            if Int.random(in: 0..<4, using: &generator) == 0 {
                limits.maxPages = Int64.random(in: 1...5, using: &generator)
            }
            if Int.random(in: 0..<10, using: &generator) == 0 {
                limits.deadline = now + .seconds(Int64.random(in: 0...200, using: &generator))
            }
        }
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

    init(now: Timestamp, using generator: inout SplitMix64) {
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
        for number in 0..<Int.random(in: 1...3, using: &generator) {
            let partition = Int32.random(in: 0..<partitions, using: &generator)
            let id = "crawl-\(crawls.count { $0.partition == partition })"
            crawls.append(PlannedCrawl(number, id, in: partition, now: now, using: &generator))
        }
        self.crawls = crawls
        sources = crawls.map { $0.source.source(named: $0.sourceName) }
        chaos = Int.random(in: 20...160, using: &generator)
        misfortunes = [2, 5, 12].randomElement(using: &generator) ?? 5
        resets = Bool.random(using: &generator)
    }
}
