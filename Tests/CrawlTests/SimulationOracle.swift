import CrawlTesting

@testable import Crawl

/// What must be on the broker when a schedule has settled, whatever happened in it.
struct SimulationOracle {
    let simulation: Simulation
    private var broker: MemoryBroker { simulation.broker }

    /// Everything that is wrong, in words; empty if exactly what should be there is there.
    func problems() -> [String] {
        var problems: [String] = []
        for partition in 0..<broker.partitions { problems += unfinishedJobs(in: partition) }
        for crawl in simulation.plan.crawls { problems += check(crawl) }
        return problems + deadLetterProblems()
    }

    private func unfinishedJobs(in partition: Int32) -> [String] {
        let committed = broker.committedOffsets[partition] ?? 0
        let open = broker.jobs[Int(partition)].committed(from: committed)
        return open.map { "\(partition)@\($0.offset) \($0.value.content.summary) was left undone" }
    }

    // MARK: One crawl

    /// A committed record with the transaction that it became visible with.
    private struct Seen {
        var record: CrawlRecord
        var order: Int
    }

    private func check(_ crawl: SimulationPlan.PlannedCrawl) -> [String] {
        let log = broker.crawls[Int(crawl.partition)].committed()
        let records = log.compactMap { entry in
            entry.value.record.flatMap { record in
                record.crawl == crawl.id ? Seen(record: record, order: order(entry.transaction)) : nil
            }
        }
        let pages = broker.pages[Int(crawl.partition)].committed().filter { $0.value.crawl == crawl.id }
        let runs = Int(records.last?.record.run ?? 0)
        var problems = stepProblems(crawl, records.map(\.record)) + countProblems(crawl, runs, records.map(\.record))
        var outcome = ExpectedOutcome(crawl)
        for run in 1...max(1, runs) {
            let ends = records.filter { $0.record.run == Int64(run) && $0.record.isEnded }
            let batches = pages.filter { $0.value.run == Int64(run) }
            let failures = ends.dropLast().count { crawl.upstream.mends && $0.record.end?.verdict == .failed }
            guard let end = ends.last, failures == ends.count - 1 else {
                problems.append("run \(run) has \(ends.count) ended records")
                continue
            }
            outcome.isLast = run == runs
            problems += outcome.problems(end.record, batches.map(\.value)).map { "run \(run) \($0)" }
            if batches.contains(where: { order($0.transaction) > end.order }) {
                problems.append("run \(run) has a page after its end")
            }
        }
        if pages.contains(where: { $0.value.run > Int64(runs) || $0.value.run < 1 }) {
            problems.append("there are pages of a run that never was")
        }
        return problems.map { "\(crawl.name): \($0)" }
    }

    private func order(_ transaction: TransactionID?) -> Int { transaction.flatMap { broker.commitOrder[$0] } ?? -1 }

    /// The steps of a run are 1, 2, 3 …, and the next run begins after the end. A run that failed may be taken up again.
    private func stepProblems(_ crawl: SimulationPlan.PlannedCrawl, _ records: [CrawlRecord]) -> [String] {
        zip(records, records.dropFirst()).compactMap { before, after in
            let isTakenUp = crawl.upstream.mends && before.end?.verdict == .failed && before.run == after.run
            let next = before.isEnded && !isTakenUp ? (before.run + 1, 1) : (before.run, before.step + 1)
            if next == (after.run, after.step) { return nil }
            return "step \(before.run).\(before.step) is followed by \(after.run).\(after.step)"
        }
    }

    private func countProblems(
        _ crawl: SimulationPlan.PlannedCrawl, _ runs: Int, _ records: [CrawlRecord]
    ) -> [String] {
        let notes = simulation.notes
        var problems: [String] = []
        let triggers = notes.triggers[crawl.name, default: []].count
        let most = min(triggers, notes.runsAtMost[crawl.name] ?? triggers)
        if runs < 2 { problems.append("\(runs) runs, though it was started again after its end") }
        if runs > most { problems.append("\(runs) runs; its triggers are good for \(most)") }
        let cancelled = records.count { $0.end?.verdict == .cancelled }
        if cancelled > notes.cancels[crawl.name, default: 0] { problems.append("\(cancelled) runs are cancelled") }
        let resumed = zip(records, records.dropFirst()).count { before, after in
            let isByOthers = after.end?.verdict == .cancelled || after.end?.verdict == .expired
            return before.status == .paused && after.status != .paused && !isByOthers
        }
        if resumed > notes.resumes[crawl.name, default: 0] { problems.append("went on \(resumed) times while paused") }
        return problems
    }

    // MARK: Dead letters

    /// One for each failed run, one for each message that cannot be used, and for words about unknown crawls.
    private func deadLetterProblems() -> [String] {
        let letters = broker.deadLetters.flatMap { $0.committed().map(\.value) }
        let failed = broker.crawls.flatMap { $0.committed() }.count { $0.value.record?.end?.verdict == .failed }
        var problems: [String] = []
        let failures = letters.count { $0.kind == .crawlFailed }
        if failures != failed {
            problems.append("\(failed) runs failed, and there are \(failures) dead letters of them")
        }
        let malformed = letters.count { $0.kind == .malformedJob }
        let most = simulation.notes.unusable * (simulation.notes.resets + 1)
        if malformed < simulation.notes.unusable || malformed > most {
            problems.append("\(simulation.notes.unusable) unusable messages left \(malformed) dead letters")
        }
        let unknown = letters.count { $0.kind == .unknownCrawl }
        if unknown > simulation.notes.steers * (simulation.notes.resets + 1) {
            problems.append("\(unknown) words about unknown crawls, but only \(simulation.notes.steers) were said")
        }
        let rest = letters.filter { ![.crawlFailed, .malformedJob, .unknownCrawl].contains($0.kind) }
        return problems + rest.map { "an unexpected dead letter: \($0.kind) \($0.reason)" }
    }
}

extension Items {
    var texts: [String] { indices.map { String(decoding: self[$0], as: UTF8.self) } }
    private var indices: Range<Int> { 0..<count }
}
