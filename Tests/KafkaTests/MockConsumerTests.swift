import Testing

@testable import Kafka

@Suite struct `A consumer on the mock cluster` {
    let cluster: MockCluster
    let place: Place

    init() throws {
        cluster = try MockCluster(brokers: 1)
        place = Place(cluster.bootstrapServers)
    }

    private func topic(partitions: Int = 1) throws -> String {
        let name = place.name("topic")
        try cluster.createTopic(name, partitions: partitions)
        return name
    }

    private func write(_ records: [ProducerRecord]) async throws {
        let producer = try Producer(ProducerConfiguration(place.client))
        _ = try await producer.send(records)
        #expect(await producer.close() == .closed)
    }

    @Test func `gives every byte back, and null is not empty`() async throws {
        let name = try topic()
        let headers = [
            RecordHeader(name: Array("k".utf8), value: nil), RecordHeader(name: Array("k".utf8), value: []),
            RecordHeader(name: Array("k".utf8), value: [0xff, 0x00, 0xfe]),
            RecordHeader(name: [0xc3, 0x28], value: [1]),
        ]
        let records = [
            ProducerRecord(
                topic: name, partition: 0, key: [0xff, 0xfe], value: nil, headers: headers, timestamp: 1_234),
            ProducerRecord(topic: name, partition: 0, key: nil, value: []),
            ProducerRecord(topic: name, partition: 0, key: [], value: [0]),
        ]
        try await write(records)
        let member = try place.consumer(name) { $0.assignor = .range }
        try await member.opened(1)
        let read = try await member.take(3)
        #expect(read.map(\.key) == [[0xff, 0xfe], nil, []])
        #expect(read.map(\.value) == [nil, [], [0]])
        #expect(read[0].headers == headers)
        #expect(read[0].timestamp == 1_234)
        #expect(read.map(\.offset) == [0, 1, 2])
        #expect(await member.leave() == .closed)
    }

    @Test func `delivers nothing of a partition that is not open, and all when it is`() async throws {
        let name = try topic(partitions: 2)
        try await write((0..<20).map { ProducerRecord(name, nil, "\($0)", partition: Int32($0 % 2)) })
        let member = try place.consumer(name) { $0.assignor = .range }
        let owned = try await member.assignment(of: 2)
        member.consumer.open(owned[1])
        #expect(Set(try await member.take(10).map(\.partition)) == [1])
        member.consumer.open(owned[0])
        #expect(try await member.take(10).map(\.offset) == Array(0..<10))
        #expect(await member.leave() == .closed)
    }

    @Test func `holds records back while nobody takes them, and loses none`() async throws {
        let name = try topic()
        try await write((0..<5_000).map { ProducerRecord(name, nil, "\($0)") })
        let member = try place.consumer(name) {
            $0.assignor = .range
            $0.maxBufferedRecords = 64
            $0.client.properties = ["queued.min.messages": "100"]
        }
        try await member.opened(1)
        var offsets: [Int64] = []
        while offsets.count < 5_000, let batch = try await member.consumer.nextBatch(max: 7) {
            offsets += batch.map(\.offset)
        }
        #expect(offsets == Array(0..<5_000))
        #expect(await member.leave() == .closed)
    }

    @Test func `that lost its membership comes back with new epochs`() async throws {
        let name = try topic()
        let member = try place.consumer(name) { $0.assignor = .range }
        let before = try await member.opened(1)
        cluster.push([.unknownMember], for: .heartbeat)
        let after = try await eventually("a new epoch") {
            let now = member.consumer.assignment
            return now.count == 1 && now != before ? now : nil
        }
        #expect(after[0].epoch > before[0].epoch)
        #expect(member.events.contains(.lost(before)) || member.events.contains(.revoking(before)))
        #expect(!member.consumer.owns(before[0]))
        let error = #expect(throws: KafkaError.self) { _ = try member.consumer.groupMetadata(for: before).generation }
        #expect(error?.code == .assignmentLost)
        #expect(try member.consumer.groupMetadata(for: after).generation >= 0)
        #expect(await member.leave() == .closed)
    }

    @Test func `has no metadata to commit with before it joined`() async throws {
        let member = try place.consumer(try topic())
        let error = #expect(throws: KafkaError.self) { _ = try member.consumer.groupMetadata(for: []).generation }
        #expect(error?.code == .assignmentLost)
        #expect(await member.leave() == .closed)
    }

    @Test(arguments: ConsumerConfiguration.Assignor.allCases)
    func `closes during a rebalance`(assignor: ConsumerConfiguration.Assignor) async throws {
        let name = try topic(partitions: 4)
        let first = try place.consumer(name) { $0.assignor = assignor }
        let owned = try await first.assignment(of: 4)
        let second = try place.consumer(name) { $0.assignor = assignor }
        #expect(await first.leave() == .closed)
        #expect(first.events.contains { if case .revoking(let gone) = $0 { gone == owned } else { false } })
        #expect(await second.leave() == .closed)
    }

    @Test func `ends its reader when it is closed`() async throws {
        let member = try place.consumer(try topic()) { $0.assignor = .range }
        try await member.opened(1)
        async let batch = member.consumer.nextBatch()
        #expect(await member.consumer.close() == .closed)
        #expect(try await batch == nil)
    }

    @Test func `lets a cancelled reader go`() async throws {
        let member = try place.consumer(try topic()) { $0.assignor = .range }
        let consumer = member.consumer
        let task = Task { try await consumer.nextBatch() }
        task.cancel()
        #expect(try await task.value == [])
        #expect(await member.leave() == .closed)
    }

    @Test func `says so when its offsets are gone, rather than to begin again`() async throws {
        let name = try topic()
        // The mock keeps 5 MiB of a partition.
        let large = String(repeating: "x", count: 500_000)
        var configuration = ProducerConfiguration(place.client)
        configuration.compression = .none
        let producer = try Producer(configuration)
        for _ in 0..<4 { _ = try await producer.send((0..<5).map { _ in ProducerRecord(name, nil, large) }) }
        let reader = try PartitionReader(place.client)
        let error = await #expect(throws: KafkaError.self) {
            try await reader.read(TopicPartition(topic: name, partition: 0), from: 1, patience: .seconds(20)) { _ in }
        }
        #expect(error?.code == .autoOffsetReset || error?.code == .offsetOutOfRange)
        await reader.close()
        _ = await producer.close()
    }
}
