import BrokerSupport
import CrawlKafka
import Foundation
import Kafka
import Testing

/// A topic that anyone may write to.
@Suite struct `Jobs that nobody can use` {
    static let count = 10_000

    @Test(.broker(.readCommitted), .timeLimit(.minutes(10)))
    func `end as dead letters with a reason each, and a good job behind them runs`() async throws {
        let seed = UInt64.random(in: 0 ... .max)
        let upstream = try PagedUpstream(pages: 3, itemsPerPage: 2)
        let deployment = try await Deployment(
            on: try await TestBroker.shared().bootstrapServers, sources: ["pages": upstream.sourceFile], partitions: 1)
        let sent = try await sendNoise(to: deployment, seed: seed)
        try await deployment.start("pages", crawls: ["good"])
        let worker = try deployment.startWorker()
        #expect(try await deployment.waitForEnds(of: ["good"], within: .seconds(90)), "\(worker.lastLine)")
        try await deployment.waitUntilAllJobsAreDone(within: .seconds(30))
        #expect(await worker.stop() == .code(0), "\(worker.lastLine)")

        let dead = try await Committed.records(of: deployment.dead, deployment.client)
        #expect(dead.count == sent.count, "seed \(seed)")
        // One partition: the letters come in the order of the jobs, with their bytes as they were.
        for (letter, job) in zip(dead, sent) where letter.value != job.value {
            Issue.record("seed \(seed): a \(job.kind) job came to the dead letters with other bytes")
        }
        for (letter, job) in zip(dead, sent) {
            let origin = DeadLetterOrigin(letter.headers)
            if (origin.reason ?? "").isEmpty { Issue.record("seed \(seed): no reason for a \(job.kind) job") }
        }
        #expect(try await Committed.read(deployment).faults(of: "good", pages: 3, itemsPerPage: 2) == [])
        deployment.remove()
    }

    private func sendNoise(
        to deployment: Deployment, seed: UInt64
    ) async throws -> [(kind: String, value: [UInt8]?)] {
        var noise = Noise(seed: seed)
        let sent = (0..<Self.count).map { _ in noise.next() }
        let producer = try Producer(ProducerConfiguration(deployment.client, topics: [deployment.jobs]))
        for start in stride(from: 0, to: sent.count, by: 500) {
            let part = sent[start..<min(start + 500, sent.count)]
            _ = try await producer.send(
                part.map { ProducerRecord(topic: deployment.jobs, partition: 0, value: $0.value) })
        }
        _ = await producer.close()
        return sent
    }
}
