/// A string of a source file with places in it: `{{param}}` for a value that the job brings, `${NAME}` for one of the
/// environment, `${file:/path}` for the text of a file. `$${` stands for `${` itself.
///
/// A template is never changed by rendering it: each page renders it anew, so that no page sees the values of another.
struct Template: Sendable, Hashable {
    enum Part: Sendable, Hashable {
        case literal(String)
        case param(String)
        case secret(Secret)
    }

    let parts: [Part]

    init(literal: String) { parts = [.literal(literal)] }

    init(_ text: String) throws(TemplateProblem) {
        var parts: [Part] = []
        var literal = ""
        var rest = text[...]
        while let character = rest.first {
            if rest.hasPrefix("$${") {
                literal += "${"
                rest = rest.dropFirst(3)
            } else if rest.hasPrefix("{{") || rest.hasPrefix("${") {
                if !literal.isEmpty { parts.append(.literal(literal)) }
                literal = ""
                parts.append(rest.hasPrefix("{{") ? try Self.takeParam(&rest) : try Self.takeSecret(&rest))
            } else {
                literal.append(character)
                rest = rest.dropFirst()
            }
        }
        if !literal.isEmpty { parts.append(.literal(literal)) }
        self.parts = parts
    }

    /// The names in `{{ }}`.
    var params: Set<String> {
        Set(parts.compactMap { if case .param(let name) = $0 { name } else { nil } })
    }

    var secrets: Set<Secret> {
        Set(parts.compactMap { if case .secret(let secret) = $0 { secret } else { nil } })
    }

    var holdsSecret: Bool { !secrets.isEmpty }

    /// The text with all values in their places.
    func render(_ values: TemplateValues) throws(RequestProblem) -> String {
        if parts.count == 1, case .literal(let text) = parts[0] { return text }
        var text = ""
        for part in parts {
            switch part {
            case .literal(let literal): text += literal
            case .param(let name): text += values.params[name] ?? ""
            case .secret(let secret): text += try values.secrets.value(of: secret)
            }
        }
        return text
    }

    private static func takeParam(_ rest: inout Substring) throws(TemplateProblem) -> Part {
        guard let end = rest.firstRange(of: "}}") else {
            throw TemplateProblem("\"{{\" has no \"}}\"; a param is written {{name}}")
        }
        let name = String(rest[rest.index(rest.startIndex, offsetBy: 2)..<end.lowerBound]).trimmed
        guard !name.isEmpty, name.utf8.allSatisfy({ PercentEncoding.isUnreserved($0) && $0 != UInt8(ascii: "~") })
        else {
            throw TemplateProblem("{{\(name)}} is not a param: its name is letters, digits, \"_\", \"-\" and \".\"")
        }
        rest = rest[end.upperBound...]
        return .param(name)
    }

    private static func takeSecret(_ rest: inout Substring) throws(TemplateProblem) -> Part {
        guard let end = rest.firstIndex(of: "}") else {
            throw TemplateProblem(
                "\"${\" has no \"}\"; write ${NAME}, ${file:/path}, or $${ for the characters themselves")
        }
        let name = String(rest[rest.index(rest.startIndex, offsetBy: 2)..<end])
        rest = rest[rest.index(after: end)...]
        if name.hasPrefix("file:") {
            let path = String(name.dropFirst(5))
            guard path.hasPrefix("/") else { throw TemplateProblem("${\(name)} needs an absolute path") }
            return .secret(.file(path))
        }
        let isName = name.utf8.allSatisfy { PercentEncoding.isUnreserved($0) && ![45, 46, 126].contains($0) }
        guard isName, let first = name.utf8.first, !(48...57).contains(first) else {
            throw TemplateProblem("${\(name)} is not a variable's name; write ${NAME} or ${file:/path}")
        }
        return .secret(.environment(name))
    }
}

/// What is wrong with a template, in words.
struct TemplateProblem: Error, Sendable, Hashable {
    let message: String
    init(_ message: String) { self.message = message }
}

/// What a template is rendered with.
struct TemplateValues: Sendable {
    var params: [String: String]
    var secrets: SecretReader
}
