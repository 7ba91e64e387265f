import BrokerSupport
import Testing

@testable import Kafka

/// Three nodes, of which one at a time dies, freezes or comes back.
@Suite(.broker(.canKillNodes), .serialized) struct `Transactions while nodes fail` {
    @Test(.timeLimit(.minutes(5)))
    func `what was reported committed is there once, and what was reported aborted is not`() async throws {
        let broker = try await TestBroker.start(nodes: 3)
        let place = Place(broker.bootstrapServers)
        let topics = [try await place.topic("a", partitions: 3), try await place.topic("b", partitions: 3)]
        let writers = (0..<3).map { writer in
            Task { try await write(place, topics, writer) }
        }
        for round in 0..<4 {
            let node = broker.node(round % 3 + 1)
            if round == 1 {
                node.freeze()
                try await Task.sleep(for: .seconds(8))
                node.thaw()
            } else {
                await node.kill()
                try await Task.sleep(for: .seconds(2))
                try await node.restart()
            }
            try await Task.sleep(for: .seconds(3))
        }
        var (committed, aborted) = (Set<String>(), Set<String>())
        for writer in writers {
            writer.cancel()
            let told = try await writer.value
            committed.formUnion(told.committed)
            aborted.formUnion(told.aborted)
        }
        for topic in topics {
            var read: [String] = []
            for partition in 0..<Int32(3) {
                read += try await place.read(topic, partition: partition).compactMap(\.text)
            }
            #expect(Set(read).count == read.count, "a record is there twice")
            #expect(Set(read) == committed)
            #expect(aborted.isDisjoint(with: read))
        }
        #expect(committed.count > 10, "hardly anything was committed")
        await broker.stop()
    }

    /// Writes numbered transactions to all topics until the task is cancelled; says what became of each.
    private func write(
        _ place: Place, _ topics: [String], _ writer: Int
    ) async throws -> (committed: [String], aborted: [String]) {
        let producer = try await TransactionalProducer.start(place.transactions(.unique(prefix: "w\(writer)-")))
        var told: (committed: [String], aborted: [String]) = ([], [])
        var number = 0
        while !Task.isCancelled {
            number += 1
            let text = "\(writer)-\(number)"
            let records = topics.map { ProducerRecord($0, text, text, partition: Int32(number % 3)) }
            switch try await producer.commit(records) {
            case .committed: told.committed.append(text)
            case .aborted: told.aborted.append(text)
            }
        }
        #expect(await producer.close(within: .seconds(20)) == .closed)
        return told
    }
}
