import Foundation
import Kafka
import Testing

/// What a deployment's topics and group say.
extension Deployment {
    /// Waits until each crawl has ended; `false` if the time is up. Bears brokers that are away.
    func waitForEnds(of crawls: [String], within limit: Duration) async throws -> Bool {
        var missing = Set(crawls)
        let deadline = ContinuousClock.now + limit
        while ContinuousClock.now < deadline {
            if let committed = try? await Committed.read(self) { missing.subtract(committed.ends.keys) }
            if missing.isEmpty { return true }
            try await Task.sleep(for: .milliseconds(500))
        }
        return false
    }

    /// Waits until so many pages of each crawl are committed.
    func waitForPages(_ count: Int, of crawls: [String]) async throws {
        try await waitForPages { committed in crawls.allSatisfy { (committed[$0]?.count ?? 0) >= count } }
    }

    /// Waits until each crawl has more pages than before.
    func waitForProgress(beyond before: [String: [Committed.Batch]]) async throws {
        try await waitForPages { now in before.allSatisfy { (now[$0.key]?.count ?? 0) > $0.value.count } }
    }

    private func waitForPages(until holds: ([String: [Committed.Batch]]) -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < deadline {
            if holds(try await Committed.read(self).pages) { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        Issue.record("the pages did not come within a minute")
    }

    /// What readers may see ends where the log ends: nothing is open. What killed workers left is aborted by time-out.
    func expectNoOpenTransaction() async throws {
        let admin = try Admin(client)
        let deadline = ContinuousClock.now + .seconds(20)
        var open: [String] = []
        repeat {
            open = []
            for topic in topics {
                let count = try await admin.partitionCounts([topic])[topic]
                for partition in 0..<Int32(count ?? 0) {
                    let place = TopicPartition(topic: topic, partition: partition)
                    let stable = try await admin.watermarks(place, .readCommitted).upperBound
                    let end = try await admin.watermarks(place, .readUncommitted).upperBound
                    if stable != end { open.append("\(place) is stable to \(stable) of \(end)") }
                }
            }
        } while !open.isEmpty && ContinuousClock.now < deadline
        await admin.close()
        #expect(open.isEmpty)
    }

    /// Sets the group back to the first job of each partition. No worker may run; those that were killed have to be
    /// missed by the group first.
    func resetOffsets() async throws {
        let admin = try Admin(client)
        let deadline = ContinuousClock.now + sessionTimeout + .seconds(20)
        while try await admin.describeGroup(group).members.count > 0, ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(200))
        }
        let count = try await admin.partitionCounts([jobs])[jobs]
        var offsets: [TopicPartition: Int64] = [:]
        for partition in 0..<Int32(count ?? 0) {
            let place = TopicPartition(topic: jobs, partition: partition)
            offsets[place] = try await admin.watermarks(place, .readCommitted).lowerBound
        }
        try await admin.resetOffsets(group: group, to: offsets)
        await admin.close()
    }

    /// Waits until the group has committed an offset past the last job of each partition.
    func waitUntilAllJobsAreDone(within limit: Duration) async throws {
        var last: [Int32: Int64] = [:]
        for record in try await Committed.records(of: jobs, client) { last[record.partition] = record.offset }
        let admin = try Admin(client)
        let deadline = ContinuousClock.now + limit
        var behind: [Int32] = []
        repeat {
            let done = try await admin.committedOffsets(group: group, topic: jobs)
            behind = last.filter { ((done[$0.key] ?? nil) ?? 0) <= $0.value }.map(\.key)
            if behind.isEmpty { break }
            try await Task.sleep(for: .milliseconds(200))
        } while ContinuousClock.now < deadline
        await admin.close()
        #expect(behind.isEmpty, "jobs of partitions \(behind) are not done")
    }
}
