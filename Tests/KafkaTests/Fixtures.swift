import Foundation
import Threads

@testable import Kafka

/// Where a test works: a cluster, and names that no other test has.
struct Place: Sendable {
    let servers: String
    let unique = String(UInt32.random(in: .min ... .max), radix: 36)
    let reports = Reports()

    init(_ servers: String) { self.servers = servers }

    func name(_ word: String) -> String { "\(word)-\(unique)" }

    var client: ClientConfiguration {
        let reports = reports
        return ClientConfiguration(bootstrapServers: servers, clientId: "test") { reports.add($0) }
    }

    /// Makes a topic with a name of the test's own, and gives the name.
    func topic(_ word: String, partitions: Int = 1, _ settings: [String: String] = [:]) async throws -> String {
        let admin = try Admin(client)
        let name = name(word)
        for case .failed(let error) in try await admin.createTopics(
            [NewTopic(name, partitions: partitions, settings: settings)]
        ).values { throw error }
        await admin.close()
        return name
    }

    func consumer(_ topic: String, group: String = "group", _ change: (inout ConsumerConfiguration) -> Void = { _ in })
        throws -> Member
    {
        var configuration = ConsumerConfiguration(client, group: name(group))
        configuration.sessionTimeout = .seconds(6)
        configuration.heartbeatInterval = .seconds(1)
        change(&configuration)
        return try Member(configuration, topic: topic)
    }

    func transactions(
        _ identity: TransactionalIdentity, timeout: Duration = .seconds(10),
        reached: @escaping @Sendable (TransactionStep) throws(KafkaError) -> Void = { _ throws(KafkaError) in }
    ) -> TransactionConfiguration {
        var configuration = TransactionConfiguration(ProducerConfiguration(client), identity: identity)
        configuration.transactionTimeout = timeout
        configuration.reached = reached
        return configuration
    }

    /// Everything that a reader sees of a partition.
    func read(_ topic: String, partition: Int32 = 0, within limit: Duration = .seconds(30)) async throws
        -> [ConsumedRecord]
    {
        let reader = try PartitionReader(client)
        let records = Monitor<[ConsumedRecord]>([])
        try await reader.read(TopicPartition(topic: topic, partition: partition), patience: limit) { batch in
            records.withLock { $0 += batch }
        }
        await reader.close()
        return records.withLock { $0 }
    }
}

/// What the clients had to say.
final class Reports: Sendable {
    private let all = Monitor<[ClientReport]>([])
    func add(_ report: ClientReport) { all.withLock { $0.append(report) } }
    var list: [ClientReport] { all.withLock { $0 } }
}

/// A group member whose rebalances can be awaited.
final class Member: RebalanceHandler, Sendable {
    enum Event: Sendable, Hashable {
        case assigned([OwnedPartition])
        case revoking([OwnedPartition])
        case lost([OwnedPartition])
    }

    private struct State {
        var events: [Event] = []
        var onRevoking: @Sendable ([OwnedPartition]) -> Void = { _ in }
    }
    private let state = Monitor(State())
    private let box = Monitor<Consumer?>(nil)

    init(_ configuration: ConsumerConfiguration, topic: String) throws {
        let consumer = try Consumer(configuration, topic: topic, handler: self)
        box.withLock { $0 = consumer }
    }

    var consumer: Consumer { box.withLock { $0! } }
    var events: [Event] { state.withLock { $0.events } }

    func whenRevoking(_ body: @escaping @Sendable ([OwnedPartition]) -> Void) {
        state.withLock { $0.onRevoking = body }
    }

    func assigned(_ partitions: [OwnedPartition]) { state.withLock { $0.events.append(.assigned(partitions)) } }

    func revoking(_ partitions: [OwnedPartition], deadline: ContinuousClock.Instant) {
        let body = state.withLock { state in
            state.events.append(.revoking(partitions))
            return state.onRevoking
        }
        body(partitions)
    }

    func lost(_ partitions: [OwnedPartition]) { state.withLock { $0.events.append(.lost(partitions)) } }

    /// Waits until the member owns so many partitions, and gives them.
    func assignment(of count: Int) async throws -> [OwnedPartition] {
        try await eventually("\(count) partitions") { [self] in
            consumer.assignment.count == count ? consumer.assignment : nil
        }
    }

    /// Waits until the member owns so many partitions, opens them, and gives them.
    @discardableResult
    func opened(_ count: Int) async throws -> [OwnedPartition] {
        let owned = try await assignment(of: count)
        for partition in owned { consumer.open(partition) }
        return owned
    }

    /// The next records, so many.
    func take(_ count: Int) async throws -> [ConsumedRecord] {
        var records: [ConsumedRecord] = []
        while records.count < count, let batch = try await consumer.nextBatch() { records += batch }
        return records
    }

    /// Ends the consumer and forgets it, so that nothing keeps the member alive.
    func leave() async -> CloseOutcome {
        let outcome = await consumer.close(within: .seconds(20))
        box.withLock { $0 = nil }
        return outcome
    }
}

struct NeverHappened: Error { var what: String }

/// Looks every 10 ms until there is an answer.
func eventually<R>(
    _ what: String, within limit: Duration = .seconds(120), _ look: () async throws -> R?
) async throws -> R {
    let deadline = ContinuousClock.now + limit
    while ContinuousClock.now < deadline {
        if let found = try await look() { return found }
        try await Task.sleep(for: .milliseconds(10))
    }
    throw NeverHappened(what: what)
}

/// A gate that a thread of the client is held at.
final class Gate: Sendable {
    private let state = Monitor((isOpen: false, arrived: 0))

    func arriveAndWait() {
        state.update { $0.arrived += 1 }
        state.wait { $0.isOpen }
    }

    func open() { state.update { $0.isOpen = true } }
    var hasArrived: Bool { state.withLock { $0.arrived > 0 } }
    func arrival() async throws { _ = try await eventually("arrival at the gate") { hasArrived ? true : nil } }
}

extension ProducerRecord {
    init(_ topic: String, _ key: String? = nil, _ value: String?, partition: Int32? = 0) {
        self.init(
            topic: topic, partition: partition, key: key.map { Array($0.utf8) }, value: value.map { Array($0.utf8) })
    }
}

extension ConsumedRecord {
    var text: String? { value.map { String(decoding: $0, as: UTF8.self) } }
}
