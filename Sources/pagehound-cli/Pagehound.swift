import Glibc

@main
struct PagehoundCommand {
    static let commands: [any Command.Type] = [
        WorkerCommand.self, StartCommand.self, StatusCommand.self, TopicsCreateCommand.self, DemoCommand.self,
    ]

    static func main() async {
        StopSignal.block()
        Terminal.setUp()
        let code = await run(Array(CommandLine.arguments.dropFirst()))
        fflush(stdout)
        // What C libraries still have to tear down is not waited for: all that counts is committed or said.
        _exit(code.rawValue)
    }

    /// Finds the command, reads its arguments, runs it.
    static func run(_ words: [String]) async -> ExitCode {
        do {
            let (command, rest) = try find(words)
            guard let command else {
                Terminal.say(overview)
                return .success
            }
            let arguments = try Arguments(rest, for: command.usage)
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
        } catch {
            Terminal.log("pagehound: \(error)")
            return .failure
        }
    }

    /// The command that the first words name, and the words after them; no command for a plain `--help`.
    static func find(_ words: [String]) throws(UsageError) -> ((any Command.Type)?, ArraySlice<String>) {
        guard let first = words.first else { throw UsageError("no command; see pagehound --help") }
        if ["--help", "-h", "help"].contains(first) { return (nil, []) }
        for command in commands {
            let name = command.usage.command.split(separator: " ").map(String.init)
            if words.starts(with: name) { return (command, words[name.count...]) }
        }
        let names = commands.map(\.usage.command)
        let heads = names.map { String($0.prefix { $0 != " " }) }
        if let whole = zip(names, heads).first(where: { $1 == first && $0 != $1 }) {
            throw UsageError("\(first) alone is no command; did you mean pagehound \(whole.0)?")
        }
        throw .unknown("command", first, among: heads, of: "")
    }

    static var overview: String {
        """
        pagehound crawls paginated upstreams into Kafka, each page exactly once.

        usage: pagehound COMMAND [--help]

        \(table(commands.map { ($0.usage.command, $0.usage.summary) }))
        """
    }
}

/// One command of `pagehound`.
protocol Command {
    static var usage: Usage { get }
    static func run(_ arguments: Arguments) async throws -> ExitCode
}
