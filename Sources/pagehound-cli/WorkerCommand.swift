import Pagehound

/// `pagehound worker`: takes jobs until it is asked to stop.
enum WorkerCommand {
    static let usage = Usage(
        command: "worker",
        summary: "Takes jobs and crawls until SIGTERM or SIGINT.",
        options: [
            .config,
            Usage.Option(name: "--embedded", meaning: "Brings a broker of its own, in memory; for trying things out."),
            Usage.Option(
                name: "--slot", value: "NAME",
                meaning: "A name that one worker of the group has at a time; a restart with it goes on at once."),
        ],
        examples: ["pagehound worker --config config/worker.yaml --slot 0", "pagehound worker --embedded"])

    static func run(_ arguments: Arguments) async throws -> ExitCode {
        var configuration = try WorkerConfiguration(arguments)
        if let slot = arguments["--slot"] { configuration.slot = slot }
        let broker = arguments.contains("--embedded") ? try EmbeddedBroker(topics: configuration.topics) : nil
        if let broker {
            configuration.kafka = broker.settings
            Terminal.log("broker: \(configuration.kafka.bootstrapServers), in memory")
        }
        let sources = try sourceFiles(in: configuration.sourcesFolder)
        Terminal.log("sources: \(sources.map(\.name).joined(separator: ", "))")
        try await Pagehound.run(configuration, sources: sources)
        withExtendedLifetime(broker) {}
        return .success
    }
}
