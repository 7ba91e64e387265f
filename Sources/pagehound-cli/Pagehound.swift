import Glibc
import Pagehound

/// One command of `pagehound`.
struct Command: Sendable {
    let usage: Usage
    let run: @Sendable (Arguments) async throws -> ExitCode
}

@main
struct PagehoundCommand {
    static let commands = [
        Command(usage: WorkerCommand.usage, run: WorkerCommand.run),
        Command(usage: StartCommand.usage, run: StartCommand.run),
        Command(usage: StatusCommand.usage, run: StatusCommand.run),
        Command(usage: TopicsCreateCommand.usage, run: TopicsCreateCommand.run),
        Command(usage: DemoCommand.usage, run: DemoCommand.run),
    ]

    static func main() async {
        let code = await run(Array(CommandLine.arguments.dropFirst()))
        // What C libraries still have to tear down is not waited for: all that counts is committed or said.
        _exit(code.rawValue)
    }

    /// Finds the command, reads its arguments, runs it.
    static func run(_ words: [String]) async -> ExitCode {
        do {
            if let first = words.first, ["--help", "-h", "help"].contains(first) {
                Terminal.say(overview)
                return .success
            }
            let command = try find(words)
            let arguments = try Arguments(words.dropFirst(command.usage.words.count), for: command.usage)
            if arguments.wantsHelp {
                Terminal.say(command.usage.helpText)
                return .success
            }
            return try await command.run(arguments)
        } catch let error as UsageError {
            Terminal.log("pagehound: \(error.message)")
            return .usage
        } catch let failure as CommandFailure {
            Terminal.log("pagehound: \(failure.message)")
            return failure.code
        } catch let error as ConfigurationError {
            Terminal.log("pagehound: \(error)")
            return .usage
        } catch {
            Terminal.log("pagehound: \(error)")
            return .failure
        }
    }

    /// The command that the first words name.
    static func find(_ words: [String]) throws(UsageError) -> Command {
        guard let first = words.first else { throw UsageError("no command; see pagehound --help") }
        if let command = commands.first(where: { words.starts(with: $0.usage.words) }) { return command }
        if let longer = commands.first(where: { $0.usage.words[0] == first }) {
            throw UsageError("\(first) alone is no command; did you mean pagehound \(longer.usage.command)?")
        }
        throw .unknown("command", first, among: commands.map { $0.usage.words[0] }, of: "")
    }

    static var overview: String {
        """
        pagehound crawls paginated upstreams into Kafka, each page exactly once.

        usage: pagehound COMMAND [--help]

        \(table(commands.map { ($0.usage.command, $0.usage.summary) }))
        """
    }
}
