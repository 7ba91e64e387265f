import Foundation

extension TestBroker {
    /// Starts Apache Kafka in KRaft mode on loopback: every node is broker and controller.
    static func startKafka(_ home: String, nodes: Int, _ settings: [String: String]) async throws -> TestBroker {
        var failure: any Error = BrokerFailure("not started")
        for _ in 1...3 {
            let cluster = try KafkaCluster(home, nodes: nodes, settings)
            do { return try await cluster.start() } catch { failure = error }
            try? FileManager.default.removeItem(at: cluster.directory)
        }
        throw failure
    }

    static func startNoidaDB(_ program: String) async throws -> TestBroker {
        let directory = try makeTemporaryDirectory("broker")
        let port = freePorts(1)[0]
        let node = try BrokerNode(
            .init(
                program: program,
                arguments: [
                    "start", "--data-dir", directory.path(), "--only", "kafka", "--kafka-port", String(port),
                ],
                directory: directory, isReady: { _ in isListening(port) }))
        try await node.waitUntilReady()
        return TestBroker(
            .noidaDB(program: program), bootstrapServers: "127.0.0.1:\(port)", nodes: [node], directory: directory)
    }
}

/// The layout of a cluster before it runs.
private struct KafkaCluster {
    let directory: URL
    private let home: String
    private let brokerPorts: [Int]
    private let controllerPorts: [Int]
    private let settings: [String: String]

    init(_ home: String, nodes: Int, _ settings: [String: String]) throws {
        self.home = home
        self.settings = settings
        let ports = freePorts(2 * nodes)
        brokerPorts = Array(ports.prefix(nodes))
        controllerPorts = Array(ports.suffix(nodes))
        directory = try makeTemporaryDirectory("broker")
    }

    func start() async throws -> TestBroker {
        try log4j.write(to: directory.appending(path: "log4j2.properties"), atomically: true, encoding: .utf8)
        try log4j1.write(to: directory.appending(path: "log4j.properties"), atomically: true, encoding: .utf8)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...brokerPorts.count { group.addTask { try await format(number) } }
            try await group.waitForAll()
        }
        let nodes = try (1...brokerPorts.count).map { try BrokerNode(launch($0)) }
        do {
            for node in nodes { try await node.waitUntilReady() }
        } catch {
            for node in nodes { await node.kill() }
            throw error
        }
        let servers = brokerPorts.map { "127.0.0.1:\($0)" }.joined(separator: ",")
        return TestBroker(.apacheKafka(home: home), bootstrapServers: servers, nodes: nodes, directory: directory)
    }

    /// Writes the settings of a node and the first files of its data.
    private func format(_ number: Int) async throws {
        let folder = folder(number)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let lines = properties(number).merging(settings) { $1 }.map { "\($0.key)=\($0.value)" }
        try lines.joined(separator: "\n")
            .write(to: folder.appending(path: "server.properties"), atomically: true, encoding: .utf8)
        let tool = try ChildProcess(
            "java",
            java(
                "kafka.tools.StorageTool", "format", "-t", "5L6g3nShT-eMCtK--X86sw", "-c",
                folder.appending(path: "server.properties").path()),
            directory: folder)
        guard await tool.waitForExit(within: .seconds(60)) == .code(0) else {
            await tool.kill()
            throw BrokerFailure("formatting a Kafka node failed:\n\(tool.output)\(tool.errors)")
        }
    }

    private func launch(_ number: Int) -> BrokerNode.Launch {
        let folder = folder(number)
        let arguments = java("kafka.Kafka", folder.appending(path: "server.properties").path())
        return BrokerNode.Launch(
            program: "java", arguments: arguments, directory: folder,
            isReady: { $0.output.contains("Kafka Server started") })
    }

    private func folder(_ number: Int) -> URL {
        directory.appending(path: "node-\(number)", directoryHint: .isDirectory)
    }

    /// The settings of the machine that start fast and run slower.
    private func java(_ arguments: String...) -> [String] {
        [
            "-Xms384m", "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
            "-Dlog4j2.configurationFile=\(directory.appending(path: "log4j2.properties").path())",
            "-Dlog4j.configuration=file:\(directory.appending(path: "log4j.properties").path())",
            "-cp", "\(home)/libs/*",
        ] + arguments
    }

    private func properties(_ number: Int) -> [String: String] {
        let count = brokerPorts.count
        let voters = (1...count).map { "\($0)@127.0.0.1:\(controllerPorts[$0 - 1])" }.joined(separator: ",")
        let broker = "PLAINTEXT://127.0.0.1:\(brokerPorts[number - 1])"
        let replicas = String(count)
        let inSync = String(count > 1 ? 2 : 1)
        return [
            "process.roles": "broker,controller", "node.id": String(number), "controller.quorum.voters": voters,
            "listeners": "\(broker),CONTROLLER://127.0.0.1:\(controllerPorts[number - 1])",
            "advertised.listeners": broker,
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "controller.listener.names": "CONTROLLER", "inter.broker.listener.name": "PLAINTEXT",
            "log.dirs": folder(number).appending(path: "logs").path(),
            "num.partitions": "4", "default.replication.factor": replicas, "min.insync.replicas": inSync,
            "offsets.topic.replication.factor": replicas, "offsets.topic.num.partitions": "4",
            "transaction.state.log.replication.factor": replicas, "transaction.state.log.min.isr": inSync,
            "transaction.state.log.num.partitions": "4",
            "share.coordinator.state.topic.replication.factor": replicas,
            "share.coordinator.state.topic.min.isr": inSync,
            // A test does not wait for members that are not coming, nor 10 s for a scan of open transactions.
            "group.initial.rebalance.delay.ms": "0", "group.min.session.timeout.ms": "1000",
            "transaction.abort.timed.out.transaction.cleanup.interval.ms": "500",
            "auto.create.topics.enable": "false", "log.cleaner.dedupe.buffer.size": "16777216",
        ]
    }

    private var log4j: String {
        """
        status=error
        appender.out.type=Console
        appender.out.name=out
        appender.out.layout.type=PatternLayout
        appender.out.layout.pattern=[%d] %p %m (%c)%n
        rootLogger.level=WARN
        rootLogger.appenderRef.out.ref=out
        logger.raft.name=kafka.server.KafkaRaftServer
        logger.raft.level=INFO
        logger.server.name=org.apache.kafka.server
        logger.server.level=INFO
        """
    }

    /// For Kafka before 4.0.
    private var log4j1: String {
        """
        log4j.rootLogger=WARN,out
        log4j.appender.out=org.apache.log4j.ConsoleAppender
        log4j.appender.out.layout=org.apache.log4j.PatternLayout
        log4j.appender.out.layout.ConversionPattern=[%d] %p %m (%c)%n
        log4j.logger.kafka.server.KafkaRaftServer=INFO
        """
    }
}
