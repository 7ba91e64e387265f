import Crawl

/// The arguments of one command, checked against its `Usage`.
struct Arguments: Sendable {
    private(set) var positionals: [String] = []
    private(set) var wantsHelp = false
    private var values: [String: [String]] = [:]

    /// Reads `--name value`, `--name=value` and positionals in any order; after `--` all is positional.
    init(_ words: some Sequence<String>, for usage: Usage) throws(UsageError) {
        var rest = Array(words)[...]
        while let word = rest.popFirst() {
            if word == "--" {
                positionals += rest
                break
            }
            guard word.hasPrefix("-"), word != "-" else {
                positionals.append(word)
                continue
            }
            try takeOption(word, from: &rest, usage: usage)
        }
        if !wantsHelp { try checkPositionals(usage) }
    }

    /// The last value given for an option.
    subscript(option: String) -> String? { values[option]?.last }

    /// All values of an option that may repeat.
    func all(_ option: String) -> [String] { values[option] ?? [] }

    func contains(_ option: String) -> Bool { values[option] != nil }

    /// The value of an option as a number of at least `minimum`.
    func integer(_ option: String, atLeast minimum: Int = 1) throws(UsageError) -> Int? {
        guard let text = self[option] else { return nil }
        guard let number = Int(text), number >= minimum else {
            throw UsageError("\(option) wants a number of at least \(minimum), not \(quoted(text))")
        }
        return number
    }

    /// The values of an option given as `name=value`, for example `--param category=tea`.
    func pairs(_ option: String) throws(UsageError) -> [String: String] {
        var pairs: [String: String] = [:]
        for text in all(option) {
            guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
                throw UsageError("\(option) wants NAME=VALUE, not \(quoted(text))")
            }
            let name = String(text[..<equals])
            guard pairs.updateValue(String(text[text.index(after: equals)...]), forKey: name) == nil else {
                throw UsageError("\(option) gives \(quoted(name)) twice")
            }
        }
        return pairs
    }

    private mutating func takeOption(
        _ word: String, from rest: inout ArraySlice<String>, usage: Usage
    ) throws(UsageError) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = parts[0] == "-h" ? "--help" : String(parts[0])
        guard let option = usage.allOptions.first(where: { $0.name == name }) else {
            throw .unknown("option", name, among: usage.allOptions.map(\.name), of: usage.command)
        }
        if name == Usage.help.name { wantsHelp = true }
        guard let placeholder = option.value else {
            guard parts.count == 1 else { throw UsageError("\(name) takes no value") }
            values[name] = []
            return
        }
        guard let value = parts.count == 2 ? String(parts[1]) : rest.popFirst(), !value.isEmpty else {
            throw UsageError("\(name) wants a value: \(name) \(placeholder)")
        }
        guard option.mayRepeat || values[name] == nil else { throw UsageError("\(name) is given twice") }
        values[name, default: []].append(value)
    }

    private func checkPositionals(_ usage: Usage) throws(UsageError) {
        let required = usage.positionals.prefix(while: \.isRequired)
        if positionals.count < required.count {
            throw UsageError("\(required[positionals.count].name) is missing; usage: \(usage.synopsis)")
        }
        if positionals.count > usage.positionals.count {
            throw UsageError(
                "\(quoted(positionals[usage.positionals.count])) is one too many; usage: \(usage.synopsis)")
        }
    }
}

/// The command line cannot be understood; one line that says what would be.
struct UsageError: Error, Hashable {
    var message: String

    init(_ message: String) { self.message = message }

    /// An unknown name, with the nearest that exists.
    static func unknown(_ what: String, _ name: String, among names: [String], of command: String) -> UsageError {
        let near = nearestName(to: name, among: names).map { "; did you mean \($0)?" }
        return UsageError(
            "unknown \(what) \(quoted(name))"
                + (near ?? "; see pagehound \(command.isEmpty ? "" : command + " ")--help"))
    }
}

func quoted(_ text: String) -> String { "\"" + text + "\"" }
