import BrokerSupport
import Testing
import Threads

@testable import Kafka

/// What only a real broker can show.
@Suite(.broker(.readCommitted)) struct `Transactions on a real broker` {
    let place: Place

    init() async throws { place = Place(try await TestBroker.shared().bootstrapServers) }

    @Test func `records of several topics and the offset become visible together`() async throws {
        let (jobs, pages) = (try await place.topic("jobs"), try await place.topic("pages"))
        let producer = try await TransactionalProducer.start(place.transactions(.slot(place.name("slot"))))
        #expect(try await producer.commit([ProducerRecord(jobs, "k", "first")]) == .committed)

        let member = try place.consumer(jobs)
        let owned = try await member.opened(1)[0]
        let job = try await member.take(1)[0]
        #expect(job.text == "first" && job.owned == owned)
        let result = try await producer.commit(
            [ProducerRecord(jobs, "k", "second"), ProducerRecord(pages, "k", "page")],
            offsets: [ConsumedOffset(owned, next: job.offset + 1)], from: member.consumer)
        #expect(result == .committed)
        #expect(try await place.read(pages).map(\.text) == ["page"])
        #expect(try await place.read(jobs).map(\.text) == ["first", "second"])
        let committed = try await member.consumer.committed([owned])
        #expect(committed == [owned.topicPartition: job.offset + 1])
        #expect(await member.leave() == .closed)
        #expect(await producer.close() == .closed)
    }

    @Test func `an aborted transaction is invisible, and the record that was too large is named`() async throws {
        let topic = try await place.topic("pages", ["max.message.bytes": "1000"])
        let producer = try await TransactionalProducer.start(place.transactions(.slot(place.name("slot"))))
        let large = ProducerRecord(topic, "large", String((0..<2_000).map { _ in "abcdefghij".randomElement()! }))
        let result = try await producer.commit([ProducerRecord(topic, "small", "x"), large])
        guard case .aborted(let error, let record) = result else { return #expect(Bool(false), "\(result)") }
        #expect(error.isRecordTooLarge && record == 1)
        #expect(try await place.read(topic).isEmpty)
        let again = try await producer.commit([ProducerRecord(topic, "small", "y")])
        #expect(again == .committed)
        #expect(try await place.read(topic).map(\.text) == ["y"])
        _ = await producer.close()
    }

    @Test func `an offset of an earlier ownership is refused as a whole`() async throws {
        let (jobs, pages) = (try await place.topic("jobs", partitions: 2), try await place.topic("pages"))
        let producer = try await TransactionalProducer.start(place.transactions(.unique(prefix: "t")))
        let first = try place.consumer(jobs) { $0.assignor = .range }
        let before = try await first.assignment(of: 2)
        let second = try place.consumer(jobs) { $0.assignor = .range }
        _ = try await second.assignment(of: 1)
        let now = try await first.assignment(of: 1)
        #expect(!before.contains(now[0]))
        let result = try await producer.commit(
            [ProducerRecord(pages, nil, "stale")], offsets: before.map { ConsumedOffset($0, next: 1) },
            from: first.consumer)
        guard case .aborted(let error, nil) = result else { return #expect(Bool(false), "\(result)") }
        #expect(error.code == .assignmentLost)
        #expect(try await place.read(pages).isEmpty)
        let fresh = try await producer.commit(
            [ProducerRecord(pages, nil, "fresh")], offsets: [ConsumedOffset(now[0], next: 0)], from: first.consumer)
        #expect(fresh == .committed)
        for member in [first, second] { #expect(await member.leave() == .closed) }
        _ = await producer.close()
    }

    @Test func `of two producers in one slot the older is fenced`() async throws {
        let topic = try await place.topic("pages")
        let slot = place.transactions(.slot(place.name("slot")))
        let older = try await TransactionalProducer.start(slot)
        #expect(try await older.commit([ProducerRecord(topic, nil, "older")]) == .committed)
        let newer = try await TransactionalProducer.start(slot)
        let error = await #expect(throws: KafkaError.self) {
            try await older.commit([ProducerRecord(topic, nil, "zombie")])
        }
        #expect(error?.disposition == .fenced)
        #expect(try await newer.commit([ProducerRecord(topic, nil, "newer")]) == .committed)
        #expect(try await place.read(topic).map(\.text) == ["older", "newer"])
        for producer in [older, newer] { _ = await producer.close() }
    }

    @Test func `a producer with a random id that was fenced takes its place back`() async throws {
        let topic = try await place.topic("pages")
        let producer = try await TransactionalProducer.start(place.transactions(.unique(prefix: "u")))
        let intruder = try await TransactionalProducer.start(place.transactions(.slot(producer.transactionalId)))
        let result = try await producer.commit([ProducerRecord(topic, nil, "lost")])
        guard case .aborted = result else { return #expect(Bool(false), "\(result)") }
        #expect(try await producer.commit([ProducerRecord(topic, nil, "kept")]) == .committed)
        #expect(producer.recycleCount == 1)
        #expect(try await place.read(topic).map(\.text) == ["kept"])
        for producer in [intruder, producer] { _ = await producer.close() }
    }

    @Test(.broker(.timesOutTransactions))
    func `a transaction that was open for too long is found out to be aborted`() async throws {
        let topic = try await place.topic("pages")
        let gate = Gate()
        let producer = try await TransactionalProducer.start(
            place.transactions(.unique(prefix: "u"), timeout: .seconds(1)) { step throws(KafkaError) in
                if step == .offsetsSent { gate.arriveAndWait() }
            })
        async let result = producer.commit([ProducerRecord(topic, nil, "late")])
        try await gate.arrival()
        // The coordinator writes its abort marker after the record.
        let admin = try Admin(place.client)
        _ = try await eventually("the abort") {
            try await admin.watermarks(TopicPartition(topic: topic, partition: 0), .readCommitted).upperBound > 1
                ? true : nil
        }
        gate.open()
        guard case .aborted = try await result else { return #expect(Bool(false), "it was committed") }
        #expect(try await producer.commit([ProducerRecord(topic, nil, "again")]) == .committed)
        #expect(try await place.read(topic).map(\.text) == ["again"])
        await admin.close()
        _ = await producer.close()
    }

    @Test(.broker(.waitsForOpenTransactions))
    func `a new owner waits for the offsets of an open transaction`() async throws {
        let jobs = try await place.topic("jobs")
        let gate = Gate()
        let producer = try await TransactionalProducer.start(
            place.transactions(.unique(prefix: "u")) { step throws(KafkaError) in
                if step == .offsetsSent { gate.arriveAndWait() }
            })
        let first = try place.consumer(jobs)
        let owned = try await first.assignment(of: 1)[0]
        async let result = producer.commit([], offsets: [ConsumedOffset(owned, next: 42)], from: first.consumer)
        try await gate.arrival()
        #expect(await first.leave() == .closed)
        let second = try place.consumer(jobs)
        let taken = try await second.assignment(of: 1)[0]
        let early = await #expect(throws: KafkaError.self) {
            try await second.consumer.committed([taken], timeout: .seconds(1))
        }
        #expect(early?.disposition == .retriable)
        async let committed = second.consumer.committed([taken])
        gate.open()
        #expect(try await result == .committed)
        #expect(try await committed == [taken.topicPartition: 42])
        #expect(await second.leave() == .closed)
        _ = await producer.close()
    }

    @Test(.broker(.waitsForOpenTransactions))
    func `reading waits for a crashed writer and finds what others committed behind it`() async throws {
        let topic = try await place.topic("crawls", ["cleanup.policy": "compact"])
        let gate = Gate()
        let crashed = try await TransactionalProducer.start(
            place.transactions(.slot(topic), timeout: .seconds(60)) { step throws(KafkaError) in
                if step == .written { gate.arriveAndWait() }
            })
        let other = try await TransactionalProducer.start(place.transactions(.unique(prefix: "u")))
        #expect(try await other.commit([ProducerRecord(topic, "a", "1")]) == .committed)
        async let result = crashed.commit([ProducerRecord(topic, "b", "open")])
        defer { gate.open() }
        try await gate.arrival()
        #expect(
            try await other.commit([ProducerRecord(topic, "a", "2"), ProducerRecord(topic, "c", nil)]) == .committed)

        let reader = try PartitionReader(place.client)
        let records = Monitor<[ConsumedRecord]>([])
        let waits = Monitor(false)
        async let reading: Void = reader.read(
            TopicPartition(topic: topic, partition: 0),
            progress: { progress in if progress.waitsForOpenTransaction { waits.withLock { $0 = true } } },
            deliver: { batch in records.withLock { $0 += batch } })
        _ = try await eventually("the reader waits") { waits.withLock { $0 } ? true : nil }
        #expect(records.withLock { $0.map(\.text) } == ["1"])
        // The one who takes the crashed writer's place ends its transaction.
        let successor = try await TransactionalProducer.start(place.transactions(.slot(topic)))
        try await reading
        #expect(records.withLock { $0.map(\.text) } == ["1", "2", nil])
        gate.open()
        _ = try? await result
        await reader.close()
        for producer in [crashed, other, successor] { _ = await producer.close() }
    }

    @Test(.broker(.staticMembers))
    func `the older of two members with one instance id is fenced and says so`() async throws {
        let jobs = try await place.topic("jobs")
        let first = try place.consumer(jobs) { $0.groupInstanceId = "place-1" }
        _ = try await first.assignment(of: 1)
        let second = try place.consumer(jobs) { $0.groupInstanceId = "place-1" }
        let error = await #expect(throws: KafkaError.self) { _ = try await first.consumer.nextBatch() }
        #expect(error?.disposition == .fenced)
        #expect(first.consumer.assignment.isEmpty)
        _ = try await second.assignment(of: 1)
        for member in [first, second] { _ = await member.leave() }
    }
}
