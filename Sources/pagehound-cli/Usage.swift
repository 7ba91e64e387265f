/// What a command takes, as data: the parser reads it, and the help text is made of it.
struct Usage: Sendable {
    /// The words that call it, for example `topics create`.
    var command: String
    /// One sentence for the list of commands.
    var summary: String
    var positionals: [Positional] = []
    var options: [Option] = []
    /// Whole command lines that work as they stand.
    var examples: [String]

    struct Positional: Sendable {
        /// Upper case, as the help shows it.
        var name: String
        var isRequired = true
        var meaning: String
    }

    struct Option: Sendable {
        /// With its dashes.
        var name: String
        /// What stands for the value in the help; `nil` for a switch without one.
        var value: String?
        var mayRepeat = false
        var meaning: String
    }

    /// Options that every command has.
    static let help = Option(name: "--help", meaning: "Shows this.")

    var words: [String] { command.split(separator: " ").map(String.init) }

    var allOptions: [Option] { options + [Self.help] }

    /// `pagehound start SOURCE [--crawl ID] …`
    var synopsis: String {
        let names = positionals.map { $0.isRequired ? $0.name : "[\($0.name)]" }
        let switches = options.map { option in
            "[\(([option.name] + [option.value].compactMap(\.self)).joined(separator: " "))]"
                + (option.mayRepeat ? "…" : "")
        }
        return (["pagehound", command] + names + switches).joined(separator: " ")
    }

    var helpText: String {
        let rows =
            positionals.map { ($0.name, $0.meaning) }
            + allOptions.map { ([$0.name, $0.value].compactMap(\.self).joined(separator: " "), $0.meaning) }
        return """
            \(summary)

            usage: \(synopsis)

            \(table(rows))

            \(examples.count == 1 ? "example" : "examples"):
            \(examples.map { "  " + $0 }.joined(separator: "\n"))
            """
    }
}

/// Two columns, the second aligned.
func table(_ rows: [(String, String)]) -> String {
    let width = rows.map(\.0.count).max() ?? 0
    return rows.map { "  " + $0.0 + String(repeating: " ", count: width - $0.0.count + 2) + $0.1 }
        .joined(separator: "\n")
}
