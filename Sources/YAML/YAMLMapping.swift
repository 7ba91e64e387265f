/// Reads a mapping key by key. What is wrong goes to the problems, and reading goes on as if the key was not there.
///
/// A key that was asked for is a valid key; `finish` reports the others. A key without a value (`name:`) is the same as
/// no key. Numbers, durations and the like may be quoted.
public final class YAMLMapping {
    public let place: YAMLPlace
    public let problems: YAMLProblems
    /// The keys that lead here, for messages: `pagination.page`; "" for the whole file.
    public let path: String

    private let entries: [YAMLEntry]
    /// What is missing from something that is no mapping need not be said.
    private let isMapping: Bool
    private var asked: [String] = []

    /// - Parameter node: a mapping; anything else is reported.
    public init(_ node: YAMLNode, problems: YAMLProblems, path: String = "") {
        place = node.place
        self.problems = problems
        self.path = path
        switch node.content {
        case .mapping(let entries):
            self.entries = entries
            isMapping = true
        case .scalar where node.isNull:
            entries = []
            isMapping = true
        case .scalar, .sequence:
            entries = []
            isMapping = false
            let subject = path.isEmpty ? "the file" : "\"\(path)\""
            problems.report("\(subject) must be a mapping of keys and values, not \(node.phrase)", at: place)
        }
    }

    /// The keys in the order of the file.
    public var keys: [String] { entries.map(\.key) }

    /// True if the key is there and has a value. Does not make it a valid key.
    public func contains(_ key: String) -> Bool { entries.contains { $0.key == key && !$0.value.isNull } }

    /// The place of a key, or of the mapping if it is not there.
    public func place(of key: String) -> YAMLPlace { entries.first { $0.key == key }?.keyPlace ?? place }

    /// Reports a problem with a key, at its value.
    public func report(_ key: String, _ message: String) {
        let place = entries.first { $0.key == key }?.value.place ?? place
        problems.report("\"\(pathTo(key))\" \(message)", at: place)
    }

    /// Any value. Reports a missing one if it is required.
    public func node(_ key: String, required: Bool = false) -> YAMLNode? {
        if !asked.contains(key) { asked.append(key) }
        if let entry = entries.first(where: { $0.key == key }), !entry.value.isNull { return entry.value }
        if required, isMapping {
            let hasKey = entries.contains { $0.key == key }
            problems.report("\"\(pathTo(key))\" \(hasKey ? "has no value" : "is missing")", at: place(of: key))
        }
        return nil
    }

    /// Makes keys valid that are read by other means, or not at all.
    public func allow(_ keys: String...) {
        for key in keys where !asked.contains(key) { asked.append(key) }
    }

    /// Reports the keys that nobody asked for, with the nearest valid one.
    public func finish() {
        for entry in entries where !asked.contains(entry.key) {
            let advice = problems.advice(for: entry.key, among: asked)
            problems.report("unknown key \"\(pathTo(entry.key))\"; \(advice)", at: entry.keyPlace)
        }
    }

    func pathTo(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    /// Reads a scalar with `read`, which returns `nil` for a text that is not `expected`.
    func scalar<Value>(
        _ key: String, required: Bool, expected: String, _ read: (String) -> Value?
    ) -> Value? {
        guard let node = node(key, required: required) else { return nil }
        if case .scalar(let scalar) = node.content, let value = read(scalar.text) { return value }
        report(key, "must be \(expected), not \(node.phrase)")
        return nil
    }
}

extension YAMLMapping {
    public func string(_ key: String, required: Bool = false) -> String? {
        scalar(key, required: required, expected: "text") { $0 }
    }

    /// - Parameter range: what is valid.
    public func int(_ key: String, in range: ClosedRange<Int> = .min ... .max, required: Bool = false) -> Int? {
        let number = scalar(key, required: required, expected: "a whole number") { Int($0) }
        guard let number, !range.contains(number) else { return number }
        report(key, "must be \(Self.words(range)), not \(number)")
        return nil
    }

    public func double(_ key: String, required: Bool = false) -> Double? {
        scalar(key, required: required, expected: "a number") { text in
            Double(text).flatMap { $0.isFinite && text.utf8.allSatisfy("+-.0123456789eE".utf8.contains) ? $0 : nil }
        }
    }

    /// `true` or `false`; the `yes`, `on` and `n` of YAML 1.1 are refused.
    public func bool(_ key: String, required: Bool = false) -> Bool? {
        scalar(key, required: required, expected: "true or false") { Bool($0) }
    }

    /// See ``YAMLUnits/duration(_:)``.
    public func duration(_ key: String, required: Bool = false) -> Duration? {
        scalar(key, required: required, expected: "a duration such as 250ms, 10s, 5m or 1h", YAMLUnits.duration)
    }

    /// See ``YAMLUnits/bytes(_:)``.
    public func bytes(_ key: String, required: Bool = false) -> Int? {
        scalar(key, required: required, expected: "a size such as 512, 64KiB or 4MiB", YAMLUnits.bytes)
    }

    /// One of several words.
    public func choice(_ key: String, among valid: [String], required: Bool = false) -> String? {
        guard let text = string(key, required: required) else { return nil }
        if valid.contains(text) { return text }
        let words = valid.joined(separator: ", ")
        let advice = problems.nearestName(to: text, among: valid).map { "; did you mean \"\($0)\"?" } ?? ""
        report(key, "must be one of \(words), not \"\(text)\"\(advice)")
        return nil
    }

    /// One of the raw values of an enum.
    public func choice<Value: RawRepresentable & CaseIterable>(
        _ key: String, as type: Value.Type, required: Bool = false
    ) -> Value? where Value.RawValue == String {
        choice(key, among: type.allCases.map(\.rawValue), required: required).flatMap(Value.init(rawValue:))
    }

    public func mapping(_ key: String, required: Bool = false) -> YAMLMapping? {
        node(key, required: required).map { YAMLMapping($0, problems: problems, path: pathTo(key)) }
    }

    public func sequence(_ key: String, required: Bool = false) -> [YAMLNode]? {
        guard let node = node(key, required: required) else { return nil }
        if case .sequence(let elements) = node.content { return elements }
        report(key, "must be a list, not \(node.phrase)")
        return nil
    }

    /// A list of mappings; each is finished by the caller.
    public func mappings(_ key: String, required: Bool = false) -> [YAMLMapping]? {
        sequence(key, required: required)?.enumerated().map { index, node in
            YAMLMapping(node, problems: problems, path: "\(pathTo(key))[\(index)]")
        }
    }

    /// A list of texts, or one text in place of a list of one.
    public func strings(_ key: String, required: Bool = false) -> [String]? {
        guard let node = node(key, required: required) else { return nil }
        if case .scalar(let scalar) = node.content { return [scalar.text] }
        return sequence(key)?.enumerated().compactMap { index, element in
            if case .scalar(let scalar) = element.content, !element.isNull { return scalar.text }
            problems.report("\"\(pathTo(key))[\(index)]\" must be text, not \(element.phrase)", at: element.place)
            return nil
        }
    }

    /// A mapping of any names to texts, in the order of the file. A name without a value has "".
    public func texts(_ key: String, required: Bool = false) -> [(name: String, text: String)]? {
        mapping(key, required: required)?.texts()
    }

    /// All entries as texts; every key is valid.
    public func texts() -> [(name: String, text: String)] {
        entries.compactMap { entry in
            allow(entry.key)
            if case .scalar(let scalar) = entry.value.content {
                return (entry.key, entry.value.isNull ? "" : scalar.text)
            }
            report(entry.key, "must be text, not \(entry.value.phrase)")
            return nil
        }
    }

    private static func words(_ range: ClosedRange<Int>) -> String {
        switch (range.lowerBound, range.upperBound) {
        case (.min, let most): "at most \(most)"
        case (let least, .max): "at least \(least)"
        case (let least, let most): "between \(least) and \(most)"
        }
    }
}
