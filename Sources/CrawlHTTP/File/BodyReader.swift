import YAML

/// Turns the YAML under `request.body` into JSON: bare `10`, `1.5`, `true`, `false` and `null` are what they look like,
/// quoted text is text.
struct BodyReader {
    let template: (String, YAMLPlace) -> Template?
    let problems: YAMLProblems

    func read(_ node: YAMLNode) -> BodyTemplate? {
        if case .scalar = node.content {
            problems.report("\"request.body\" must be a mapping or a list, which is sent as JSON", at: node.place)
            return nil
        }
        return value(node)
    }

    private func value(_ node: YAMLNode) -> BodyTemplate {
        switch node.content {
        case .sequence(let elements): return .array(elements.map(value))
        case .mapping(let entries): return .object(entries.map { .init(name: $0.key, value: value($0.value)) })
        case .scalar(let scalar):
            if node.isNull { return .raw("null") }
            if scalar.style == .plain {
                if ["true", "false"].contains(scalar.text) || Self.isNumber(scalar.text) { return .raw(scalar.text) }
            }
            return template(scalar.text, node.place).map(BodyTemplate.string) ?? .raw("null")
        }
    }

    /// The grammar of a JSON number (RFC 8259, section 6).
    static func isNumber(_ text: String) -> Bool {
        var rest = text.utf8[...]
        func digits() -> Int {
            let count = rest.prefix { (48...57).contains($0) }.count
            rest = rest.dropFirst(count)
            return count
        }
        if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
        let startsWithZero = rest.first == UInt8(ascii: "0")
        let whole = digits()
        guard whole > 0, !(startsWithZero && whole > 1) else { return false }
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            guard digits() > 0 else { return false }
        }
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            rest = rest.dropFirst()
            if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
            guard digits() > 0 else { return false }
        }
        return rest.isEmpty
    }
}
