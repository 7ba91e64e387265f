import Testing

@testable import pagehound_cli

@Suite struct `Command lines` {
    private let usage = Usage(
        command: "fetch", summary: "Fetches.",
        positionals: [
            .init(name: "WHAT", meaning: "What."), .init(name: "WHERE", isRequired: false, meaning: "Where."),
        ],
        options: [
            .init(name: "--from", value: "TIME", meaning: "When."),
            .init(name: "--param", value: "NAME=VALUE", mayRepeat: true, meaning: "Values."),
            .init(name: "--quick", meaning: "Soon."),
        ],
        examples: ["pagehound fetch tea --quick"])

    @Test func `options and positionals come in any order`() throws {
        let read = try Arguments(
            ["--quick", "tea", "--from=now", "--param", "a=1", "--param=b=2=3", "cup"], for: usage)
        #expect(read.positionals == ["tea", "cup"])
        #expect(read["--from"] == "now")
        #expect(read.contains("--quick"))
        #expect(try read.pairs("--param") == ["a": "1", "b": "2=3"])
    }

    @Test func `after two dashes all is positional`() throws {
        #expect(try Arguments(["--", "--quick", "-"], for: usage).positionals == ["--quick", "-"])
    }

    @Test(arguments: [
        (["tea", "--form", "now"], #"unknown option "--form"; did you mean --from?"#),
        (["tea", "--zzzzzz"], #"unknown option "--zzzzzz"; see pagehound fetch --help"#),
        (["tea", "--from"], "--from wants a value: --from TIME"),
        (["tea", "--from", "a", "--from", "b"], "--from is given twice"),
        (["tea", "--quick=yes"], "--quick takes no value"),
        ([], "WHAT is missing"),
        (["a", "b", "c"], #""c" is one too many"#),
    ])
    func `what cannot be understood is said in one line`(words: [String], message: String) {
        let error = #expect(throws: UsageError.self) { try Arguments(words, for: usage) }
        #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("\n") == false)
    }

    @Test func `numbers and pairs are checked`() throws {
        let read = try Arguments(["tea", "--from", "0", "--param", "novalue"], for: usage)
        #expect(throws: UsageError.self) { try read.integer("--from") }
        #expect(throws: UsageError.self) { try read.pairs("--param") }
        #expect(try read.integer("--from", atLeast: 0) == 0)
        let twice = try Arguments(["tea", "--param", "a=1", "--param", "a=2"], for: usage)
        #expect(throws: UsageError("--param gives \"a\" twice")) { try twice.pairs("--param") }
    }

    @Test func `help needs nothing else and shows all there is`() throws {
        let read = try Arguments(["--help"], for: usage)
        #expect(read.wantsHelp)
        for word in ["WHAT", "[WHERE]", "--from TIME", "--param NAME=VALUE", "--quick", "pagehound fetch tea --quick"] {
            #expect(usage.helpText.contains(word))
        }
    }

    @Test(arguments: PagehoundCommand.commands.map { $0.usage })
    func `each command has a summary and an example that it can read`(usage: Usage) throws {
        #expect(!usage.summary.isEmpty && !usage.examples.isEmpty)
        for example in usage.examples {
            let words = example.split(separator: " ").map(String.init)
            #expect(words.first == "pagehound")
            #expect(try PagehoundCommand.find(Array(words.dropFirst())).usage.command == usage.command)
            _ = try Arguments(words.dropFirst(1 + usage.words.count), for: usage)
        }
    }

    @Test(arguments: [
        (["wroker"], #"unknown command "wroker"; did you mean worker?"#),
        (["topics"], "topics alone is no command; did you mean pagehound topics create?"),
        ([], "no command; see pagehound --help"),
    ])
    func `an unknown command names the nearest`(words: [String], message: String) {
        let error = #expect(throws: UsageError.self) { _ = try PagehoundCommand.find(words) }
        #expect(error?.message == message)
    }
}
