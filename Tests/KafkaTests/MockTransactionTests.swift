import Testing

@testable import Kafka

/// What an injected error leads to. The mock is good for that, and not for what becomes visible.
@Suite struct `A transactional producer on the mock cluster` {
    enum Outcome: Sendable, Hashable { case committed, aborted, fenced }

    struct Case: Sendable, CustomTestStringConvertible {
        var api: MockCluster.API
        var error: KafkaError.Code
        var slot: Outcome
        var random: Outcome
        var isReplaced: Bool

        init(
            _ api: MockCluster.API, _ error: KafkaError.Code, _ slot: Outcome, _ random: Outcome? = nil,
            isReplaced: Bool = false
        ) {
            self.api = api
            self.error = error
            self.slot = slot
            self.random = random ?? slot
            self.isReplaced = isReplaced
        }

        var testDescription: String { "\(error.name) to \(api)" }
    }

    static let cases = [
        Case(.addPartitionsToTransaction, .concurrentTransactions, .committed),
        Case(.addPartitionsToTransaction, .topicAuthorizationFailed, .aborted),
        Case(.addPartitionsToTransaction, .invalidTransactionState, .aborted, isReplaced: true),
        Case(.addPartitionsToTransaction, .producerFenced, .fenced, .aborted, isReplaced: true),
        Case(.addPartitionsToTransaction, .invalidProducerEpoch, .fenced, .aborted, isReplaced: true),
        Case(.produce, .notEnoughReplicas, .committed),
        Case(.produce, .messageTooLarge, .aborted, isReplaced: true),
        Case(.produce, .invalidProducerEpoch, .fenced, .aborted, isReplaced: true),
        Case(.produce, .outOfOrderSequence, .aborted, isReplaced: true),
        Case(.addOffsetsToTransaction, .coordinatorLoading, .committed),
        Case(.addOffsetsToTransaction, .producerFenced, .fenced, .aborted, isReplaced: true),
        Case(.addOffsetsToTransaction, .invalidProducerIdMapping, .aborted, isReplaced: true),
        Case(.addOffsetsToTransaction, .groupAuthorizationFailed, .aborted),
        Case(.transactionOffsetCommit, .illegalGeneration, .aborted),
        Case(.transactionOffsetCommit, .unknownMember, .aborted),
        Case(.transactionOffsetCommit, .fencedInstance, .aborted),
        Case(.transactionOffsetCommit, .rebalanceInProgress, .aborted),
        Case(.transactionOffsetCommit, .unstableOffsetCommit, .aborted),
        Case(.transactionOffsetCommit, .producerFenced, .fenced, .aborted, isReplaced: true),
        Case(.endTransaction, .coordinatorLoading, .committed),
        Case(.endTransaction, .concurrentTransactions, .committed),
        // The connection breaks with the end in it, which may arrive in the next transaction.
        Case(.endTransaction, .transport, .committed, isReplaced: true),
        // The outcome is looked up; the mock shows every record as committed.
        Case(.endTransaction, .invalidTransactionState, .committed, isReplaced: true),
        Case(.endTransaction, .producerFenced, .fenced, .committed, isReplaced: true),
    ]

    let cluster: MockCluster
    let place: Place
    let topic: String

    init() throws {
        cluster = try MockCluster(brokers: 1)
        place = Place(cluster.bootstrapServers)
        topic = place.name("topic")
        try cluster.createTopic(topic, partitions: 1)
    }

    @Test(arguments: cases) func `with a random id ends as it should and goes on`(row: Case) async throws {
        let producer = try await TransactionalProducer.start(place.transactions(.unique(prefix: "u")))
        let outcome = try await run(row, producer)
        #expect(outcome == row.random)
        let (second, owner) = try await commit(producer)
        #expect(second == .committed)
        #expect((producer.recycleCount > 0) == row.isReplaced)
        _ = await owner?.leave()
        #expect(await producer.close() == .closed)
    }

    @Test(arguments: cases.filter { $0.slot == .fenced })
    func `with a slot ends when its place was taken`(row: Case) async throws {
        let producer = try await TransactionalProducer.start(place.transactions(.slot(place.name("slot"))))
        #expect(try await run(row, producer) == .fenced)
        let error = await #expect(throws: KafkaError.self) { try await producer.commit([]) }
        #expect(error?.disposition == .fenced)
        #expect(await producer.close() == .closed)
    }

    /// One transaction that meets the error of the row.
    private func run(_ row: Case, _ producer: TransactionalProducer) async throws -> Outcome {
        var member: Member?
        if row.api == .addOffsetsToTransaction || row.api == .transactionOffsetCommit {
            member = try place.consumer(topic) { $0.assignor = .range }
            _ = try await member?.assignment(of: 1)
        }
        cluster.push([row.error], for: row.api)
        do {
            let (result, _) = try await commit(producer, member)
            _ = await member?.leave()
            return result == .committed ? .committed : .aborted
        } catch let error as KafkaError where error.disposition == .fenced {
            _ = await member?.leave()
            return .fenced
        }
    }

    private func commit(
        _ producer: TransactionalProducer, _ member: Member? = nil
    ) async throws -> (TransactionResult, Member?) {
        let offsets = member?.consumer.assignment.map { ConsumedOffset($0, next: 1) } ?? []
        return (
            try await producer.commit(
                [ProducerRecord(topic, "k", "v")], offsets: offsets, from: member?.consumer), member
        )
    }

    @Test func `refuses a partition that does not exist, with headers, and lives`() async throws {
        let producer = try await TransactionalProducer.start(place.transactions(.unique(prefix: "u")))
        for _ in 0..<20 {
            var record = ProducerRecord(topic, "k", "v", partition: 99)
            record.headers = (0..<8).map { RecordHeader("name-\($0)", "value") }
            guard case .aborted(let error, let index) = try await producer.commit([record]) else {
                return #expect(Bool(false), "it was committed")
            }
            #expect(error.code == .localUnknownPartition && index == 0)
        }
        #expect(try await producer.commit([ProducerRecord(topic, "k", "v")]) == .committed)
        #expect(await producer.close() == .closed)
    }

    @Test func `writes more than its queue holds`() async throws {
        var configuration = place.transactions(.unique(prefix: "u"))
        configuration.producer.client.properties = ["queue.buffering.max.messages": "10"]
        let producer = try await TransactionalProducer.start(configuration)
        let records = (0..<500).map { ProducerRecord(topic, nil, "\($0)") }
        #expect(try await producer.commit(records) == .committed)
        #expect(try await place.read(topic).map(\.text) == (0..<500).map { "\($0)" })
        #expect(await producer.close() == .closed)
    }

    @Test func `refuses a record that is larger than it may send and names it`() async throws {
        var configuration = place.transactions(.unique(prefix: "u"))
        configuration.producer.maxMessageBytes = 2_000
        let producer = try await TransactionalProducer.start(configuration)
        let large = ProducerRecord(topic, nil, String(repeating: "x", count: 5_000))
        let result = try await producer.commit([ProducerRecord(topic, nil, "x"), large])
        guard case .aborted(let error, 1) = result else { return #expect(Bool(false), "\(result)") }
        #expect(error.isRecordTooLarge)
        #expect(try await producer.commit([ProducerRecord(topic, nil, "x")]) == .committed)
        #expect(await producer.close() == .closed)
    }

    @Test func `gives offsets up that the group coordinator does not take, and goes on`() async throws {
        let cluster = try MockCluster(brokers: 2)
        let place = Place(cluster.bootstrapServers)
        try cluster.createTopic(topic, partitions: 1)
        try cluster.setLeader(of: TopicPartition(topic: topic, partition: 0), broker: 1)
        try cluster.setCoordinator(of: .group(place.name("group")), broker: 2)
        let transactions = place.transactions(.slot("slot"), timeout: .seconds(2))
        try cluster.setCoordinator(of: .transactionalId("slot"), broker: 1)
        let producer = try await TransactionalProducer.start(transactions)
        let member = try place.consumer(topic) { $0.assignor = .range }
        let owned = try await member.assignment(of: 1)[0]
        try cluster.setDown(broker: 2)
        let result = try await producer.commit(
            [ProducerRecord(topic, nil, "v")], offsets: [ConsumedOffset(owned, next: 1)], from: member.consumer)
        guard case .aborted = result else { return #expect(Bool(false), "\(result)") }
        let second = try await producer.commit([ProducerRecord(topic, nil, "v")])
        #expect(second == .committed)
        try cluster.setUp(broker: 2)
        _ = await member.leave()
        #expect(await producer.close(within: .seconds(30)) == .closed)
    }

    @Test func `commits when the coordinator comes back`() async throws {
        let cluster = try MockCluster(brokers: 2)
        let place = Place(cluster.bootstrapServers)
        try cluster.createTopic(topic, partitions: 1)
        try cluster.setLeader(of: TopicPartition(topic: topic, partition: 0), broker: 1)
        try cluster.setCoordinator(of: .transactionalId("slot"), broker: 2)
        let producer = try await TransactionalProducer.start(
            place.transactions(.slot("slot")) { step throws(KafkaError) in
                if step == .offsetsSent, place.reports.list.allSatisfy({ $0.facility != "down" }) {
                    place.reports.add(ClientReport(level: 7, facility: "down", message: ""))
                    try? cluster.setDown(broker: 2)
                }
            })
        async let result = producer.commit([ProducerRecord(topic, nil, "v")])
        _ = try await eventually("a lost connection") {
            place.reports.list.contains { $0.message.contains("isconnect") || $0.message.contains("refused") }
                ? true : nil
        }
        try cluster.setUp(broker: 2)
        #expect(try await result == .committed)
        #expect(try await producer.commit([ProducerRecord(topic, nil, "w")]) == .committed)
        #expect(await producer.close() == .closed)
    }

    @Test func `names the cause when all records were given up`() async throws {
        let producer = try await TransactionalProducer.start(place.transactions(.unique(prefix: "u")))
        cluster.push([.topicAuthorizationFailed], for: .addPartitionsToTransaction)
        let result = try await producer.commit([ProducerRecord(topic, nil, "v")])
        guard case .aborted(let error, nil) = result else { return #expect(Bool(false), "\(result)") }
        #expect(error.code == .topicAuthorizationFailed && error.disposition == .abortable)
        #expect(await producer.close() == .closed)
    }
}

@Suite struct `A plain producer on the mock cluster` {
    @Test func `says where each record is`() async throws {
        let cluster = try MockCluster()
        try cluster.createTopic("t", partitions: 2)
        let producer = try Producer(ProducerConfiguration(Place(cluster.bootstrapServers).client))
        let first = try await producer.send([ProducerRecord("t", nil, "a", partition: 1)])
        let more = try await producer.send([ProducerRecord("t", nil, "b", partition: 1), ProducerRecord("t", nil, "c")])
        #expect(first == [RecordPosition(topic: "t", partition: 1, offset: 0)])
        #expect(more.map(\.partition) == [1, 0] && more.map(\.offset) == [1, 0])
        #expect(await producer.close() == .closed)
    }

    @Test func `refuses a partition that does not exist, with headers, and lives`() async throws {
        let cluster = try MockCluster()
        try cluster.createTopic("t", partitions: 1)
        let producer = try Producer(ProducerConfiguration(Place(cluster.bootstrapServers).client))
        var record = ProducerRecord("t", nil, "a", partition: 99)
        record.headers = [RecordHeader("k", "v")]
        let error = await #expect(throws: KafkaError.self) { try await producer.send([record]) }
        #expect(error?.code == .localUnknownPartition)
        #expect(try await producer.send([ProducerRecord("t", nil, "b")]).count == 1)
        #expect(await producer.close() == .closed)
    }

    @Test func `is of no use after it was closed`() async throws {
        let cluster = try MockCluster()
        let producer = try Producer(ProducerConfiguration(Place(cluster.bootstrapServers).client))
        #expect(await producer.close() == .closed)
        let error = await #expect(throws: KafkaError.self) { try await producer.send([ProducerRecord("t", nil, "b")]) }
        #expect(error?.code == .destroyed)
    }

    @Test func `the mock refuses a coordinator that does not exist`() throws {
        let cluster = try MockCluster(brokers: 2)
        #expect(throws: KafkaError.self) { try cluster.setCoordinator(of: .group("g"), broker: 3) }
    }
}
