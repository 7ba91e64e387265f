/// Where something is in a file, counted from 1. Columns count characters (Unicode scalars).
public struct YAMLPlace: Sendable, Hashable, CustomStringConvertible {
    public var line: Int
    public var column: Int

    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    public var description: String { "\(line):\(column)" }
}

/// A text that is not the YAML that is wanted here.
public struct YAMLError: Error, Sendable, Hashable, CustomStringConvertible {
    public var message: String
    public var place: YAMLPlace

    public init(_ message: String, at place: YAMLPlace) {
        self.message = message
        self.place = place
    }

    public var line: Int { place.line }
    public var column: Int { place.column }
    public var description: String { "\(place): \(message)" }
}

/// A value of a YAML document, with its place.
///
/// Scalars stay text: whoever reads one says what it should be, so that `no` is a country where a string is wanted.
public struct YAMLNode: Sendable, Hashable {
    public indirect enum Content: Sendable, Hashable {
        case scalar(YAMLScalar)
        case sequence([YAMLNode])
        /// In the order of the file; no key is there twice.
        case mapping([YAMLEntry])
    }

    public var content: Content
    public var place: YAMLPlace

    public init(_ content: Content, at place: YAMLPlace) {
        self.content = content
        self.place = place
    }

    /// True for an empty plain scalar, `~` and `null`.
    public var isNull: Bool {
        guard case .scalar(let scalar) = content else { return false }
        return scalar.isNull
    }

    /// What it is, with an article, for messages.
    public var phrase: String {
        switch content {
        case .scalar(let scalar): scalar.isNull ? "nothing" : "\"\(scalar.text)\""
        case .sequence: "a list"
        case .mapping: "a mapping"
        }
    }

    /// The same document with each value of a scalar replaced, for example to fill in variables. Keys stay.
    public func mapScalars<Failure: Error>(
        _ replace: (YAMLScalar, YAMLPlace) throws(Failure) -> YAMLScalar
    ) throws(Failure) -> YAMLNode {
        switch content {
        case .scalar(let scalar):
            return YAMLNode(.scalar(try replace(scalar, place)), at: place)
        case .sequence(let elements):
            var replaced: [YAMLNode] = []
            for element in elements { replaced.append(try element.mapScalars(replace)) }
            return YAMLNode(.sequence(replaced), at: place)
        case .mapping(let entries):
            var replaced: [YAMLEntry] = []
            for entry in entries {
                let value = try entry.value.mapScalars(replace)
                replaced.append(YAMLEntry(key: entry.key, keyPlace: entry.keyPlace, value: value))
            }
            return YAMLNode(.mapping(replaced), at: place)
        }
    }
}

/// Text, and whether it was written bare or as text on purpose.
public struct YAMLScalar: Sendable, Hashable {
    public enum Style: Sendable, Hashable {
        /// `abc`: may stand for null, a number, true or false.
        case plain
        /// `"abc"`, `'abc'`, `|` and `>` blocks, `!!str`: text and nothing else.
        case quoted
    }

    public var text: String
    public var style: Style

    public init(_ text: String, style: Style = .plain) {
        self.text = text
        self.style = style
    }

    public var isNull: Bool {
        style == .plain && (text.isEmpty || text == "~" || text == "null" || text == "Null" || text == "NULL")
    }
}

/// One `key: value` of a mapping.
public struct YAMLEntry: Sendable, Hashable {
    public var key: String
    public var keyPlace: YAMLPlace
    public var value: YAMLNode

    public init(key: String, keyPlace: YAMLPlace, value: YAMLNode) {
        self.key = key
        self.keyPlace = keyPlace
        self.value = value
    }
}
