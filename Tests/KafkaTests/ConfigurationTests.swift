import Testing

@testable import Kafka

@Suite struct `Client properties` {
    private func problems(_ properties: [String: String]) -> [String] {
        ClientConfiguration(bootstrapServers: "localhost:1", properties: properties).problems()
    }

    @Test(arguments: [
        "enable.auto.commit", "enable.auto.offset.store", "isolation.level", "transactional.id", "enable.idempotence",
        "auto.offset.reset", "group.id", "acks", "max.in.flight.requests.per.connection", "transaction.timeout.ms",
        "message.timeout.ms", "enable.partition.eof", "group.protocol",
    ])
    func `that the guarantee rests on are refused with a reason`(key: String) throws {
        let problem = try #require(problems([key: "1"]).first)
        #expect(problem.hasPrefix("\(key) cannot be set: "))
    }

    @Test(arguments: [
        ("security.protocl", "security.protocol"), ("sasl.user.name", "sasl.username"),
        ("fetch.wait.max", "fetch.wait.max.ms"), ("compresion.type", "compression.type"),
    ])
    func `that are unknown name the nearest one`(key: String, nearest: String) {
        #expect(problems([key: "x"]) == ["\(key) is not a property of librdkafka; did you mean \(nearest)?"])
    }

    @Test func `that resemble nothing are not guessed at`() {
        #expect(problems(["quetzalcoatl": "x"]) == ["quetzalcoatl is not a property of librdkafka"])
    }

    @Test func `with bad values are all reported at once`() {
        let found = problems(["socket.timeout.ms": "soon", "linger.ms": "5", "security.protocol": "carrier_pigeon"])
        #expect(found.map { $0.prefix { $0 != ":" } } == ["security.protocol", "socket.timeout.ms"])
    }

    @Test func `a client id that old releases crash on is refused`() {
        let client = ClientConfiguration(bootstrapServers: "a:1", clientId: String(repeating: "x", count: 100))
        #expect(client.problems() == ["the client id is longer than 99 bytes"])
    }

    @Test func `a session longer than the poll interval is refused`() {
        var configuration = ConsumerConfiguration(ClientConfiguration(bootstrapServers: "a:1"), group: "g")
        configuration.sessionTimeout = .seconds(400)
        #expect(throws: KafkaError.self) { try configuration.settings() }
    }

    @Test(arguments: [Duration.milliseconds(500), .seconds(901)])
    func `a transaction time-out that brokers refuse is refused`(timeout: Duration) async {
        var configuration = TransactionConfiguration(
            ProducerConfiguration(ClientConfiguration(bootstrapServers: "a:1")), identity: .slot("s"))
        configuration.transactionTimeout = timeout
        await #expect(throws: KafkaError.self) { try await TransactionalProducer.start(configuration) }
    }
}

@Suite struct `Errors` {
    @Test(arguments: [
        (KafkaError.Code.localFenced, KafkaError.Disposition.fenced), (.producerFenced, .fenced),
        (.invalidProducerEpoch, .fenced), (.fencedInstance, .fenced), (.fatal, .fatal), (.timedOut, .retriable),
        (.transport, .retriable), (.illegalGeneration, .abortable), (.unknownMember, .abortable),
        (.unstableOffsetCommit, .retriable), (.topicAuthorizationFailed, .permanent), (.messageTooLarge, .permanent),
    ])
    func `say what can be done`(code: KafkaError.Code, disposition: KafkaError.Disposition) {
        #expect(KafkaError(code, "").disposition == disposition)
    }

    @Test func `have the protocol's names`() {
        #expect(KafkaError(.illegalGeneration, "why").description == "ILLEGAL_GENERATION: why")
        #expect(KafkaError.Code(rawValue: 31_000).name.contains("31000"))
    }
}

@Suite struct `Group metadata` {
    private func parse(_ bytes: [UInt8]) -> (generation: Int32, member: String)? {
        bytes.withUnsafeBytes { GroupMetadata.parse($0) }
    }

    @Test func `is read from its serialised form`() throws {
        let generation = withUnsafeBytes(of: Int32(7)) { Array($0) }
        let bytes = Array("CGMDv2:".utf8) + generation + Array("group\0member\0".utf8) + [1, 0]
        let parsed = try #require(parse(bytes))
        #expect(parsed == (7, "member"))
    }

    @Test(arguments: ["", "CGMDv2:", "CGMDv3:....group\0member\0\0", "CGMDv2:....group"])
    func `of an unknown form is not guessed at`(text: String) {
        #expect(parse(Array(text.utf8)) == nil)
    }
}

@Suite struct `A cluster that cannot be reached` {
    private let client = ClientConfiguration(
        bootstrapServers: "127.0.0.1:1", properties: ["reconnect.backoff.max.ms": "100"])

    @Test func `is named with the cause, and not with a time-out alone`() async throws {
        let admin = try Admin(client, limit: .seconds(1))
        let error = await #expect(throws: KafkaError.self) { try await admin.partitionCounts(["t"]) }
        #expect(error?.reason.contains("127.0.0.1:1") == true && error?.reason.contains("refused") == true)
        await admin.close()
    }

    @Test func `ends the start of a producer in time`() async {
        let configuration = TransactionConfiguration(ProducerConfiguration(client), identity: .slot("s"))
        let error = await #expect(throws: KafkaError.self) {
            try await TransactionalProducer.start(configuration, within: .seconds(1))
        }
        #expect(error?.reason.contains("refused") == true)
    }
}
