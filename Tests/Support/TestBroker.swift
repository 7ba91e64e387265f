import Foundation
import Testing

/// What a broker can prove. Suites name what they need, and are skipped, visibly, on a broker without it.
public enum BrokerCapability: String, Sendable, CaseIterable {
    /// Aborted records are hidden from committed readers.
    case readCommitted
    /// A transaction with group metadata of an older generation is refused.
    case staleGenerationRefused
    /// A new owner's offset fetch waits for open transactions.
    case waitsForOpenTransactions
    /// A transaction that is open for too long is aborted by the coordinator.
    case timesOutTransactions
    /// What was acknowledged survives SIGKILL.
    case durableOnKill
    /// Group instance ids are known, and fence.
    case staticMembers
    /// Nodes can be killed, frozen and started again.
    case canKillNodes
}

/// A real broker for tests: Apache Kafka from KAFKA_HOME, or the cluster at KAFKA_BOOTSTRAP_SERVERS, or `noida-db`.
public final class TestBroker: Sendable {
    /// What there is to test against.
    public enum Kind: Sendable, Hashable {
        /// A folder whose `libs` holds Kafka's jars; needs Java 17.
        case apacheKafka(home: String)
        /// A cluster that someone else runs.
        case external(servers: String)
        /// One binary that speaks Kafka, less strictly.
        case noidaDB(program: String)
    }

    public let kind: Kind
    public let bootstrapServers: String
    /// The nodes that can be killed; none of a broker that someone else runs.
    public let nodes: [BrokerNode]
    private let directory: URL?

    init(_ kind: Kind, bootstrapServers: String, nodes: [BrokerNode], directory: URL?) {
        self.kind = kind
        self.bootstrapServers = bootstrapServers
        self.nodes = nodes
        self.directory = directory
    }

    /// What the environment offers; `nil` for nothing.
    public static let available: Kind? = {
        let environment = ProcessInfo.processInfo.environment
        if let home = environment["KAFKA_HOME"] { return .apacheKafka(home: home) }
        if let servers = environment["KAFKA_BOOTSTRAP_SERVERS"] { return .external(servers: servers) }
        if let program = environment["NOIDA_DB"] { return .noidaDB(program: program) }
        let folders = (environment["PATH"] ?? "").split(separator: ":")
        return folders.map { "\($0)/noida-db" }.first(where: FileManager.default.isExecutableFile)
            .map { .noidaDB(program: $0) }
    }()

    public static let capabilities: Set<BrokerCapability> =
        switch available {
        case .apacheKafka: Set(BrokerCapability.allCases)
        case .external: Set(BrokerCapability.allCases).subtracting([.canKillNodes])
        case .noidaDB: [.readCommitted, .staticMembers]
        case nil: []
        }

    public static func offers(_ needs: [BrokerCapability]) -> Bool {
        available != nil && capabilities.isSuperset(of: needs)
    }

    /// Why a suite cannot run here, and the command that would run it.
    public static func reason(lacking needs: [BrokerCapability]) -> String {
        let missing = needs.filter { !capabilities.contains($0) }.map(\.rawValue).joined(separator: ", ")
        let cause =
            available == nil ? "there is no broker" : "the broker at hand does not offer: \(missing)"
        return "\(cause). Run it with: KAFKA_HOME=<a folder whose libs holds Apache Kafka's jars> swift test"
    }

    /// The broker that all suites of a test process share: one node, started when the first asks for it.
    public static func shared() async throws -> TestBroker { try await SharedBroker.instance.get() }

    /// A broker of a test's own.
    public static func start(nodes: Int = 1, settings: [String: String] = [:]) async throws -> TestBroker {
        switch available {
        case .apacheKafka(let home): return try await startKafka(home, nodes: nodes, settings)
        case .external(let servers):
            return TestBroker(.external(servers: servers), bootstrapServers: servers, nodes: [], directory: nil)
        case .noidaDB(let program): return try await startNoidaDB(program)
        case nil: throw BrokerFailure(TestBroker.reason(lacking: []))
        }
    }

    /// Node 1 is the first.
    public func node(_ number: Int) -> BrokerNode { nodes[number - 1] }

    /// Kills all nodes and removes their data.
    public func stop() async {
        for node in nodes { await node.kill() }
        if let directory { try? FileManager.default.removeItem(at: directory) }
    }
}

/// A broker did not do what a test needs.
public struct BrokerFailure: Error, CustomStringConvertible {
    public var description: String
    init(_ description: String) { self.description = description }
}

private actor SharedBroker {
    static let instance = SharedBroker()
    private var start: Task<TestBroker, any Error>?

    func get() async throws -> TestBroker {
        if let start { return try await start.value }
        let task = Task { try await TestBroker.start() }
        start = task
        return try await task.value
    }
}

extension Trait where Self == ConditionTrait {
    /// Runs only on a broker that offers all of this; the skip says what is missing and how to get it.
    public static func broker(_ needs: BrokerCapability...) -> Self {
        .enabled(if: TestBroker.offers(needs), "\(TestBroker.reason(lacking: needs))")
    }
}
