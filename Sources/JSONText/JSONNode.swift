/// A small JSON document as a tree, for messages that are read field by field.
///
/// Nothing is lost: numbers are their text, fields are in their order with duplicates, and each value knows its bytes.
public struct JSONNode: Sendable, Hashable {
    public indirect enum Content: Sendable, Hashable {
        case null
        case bool(Bool)
        /// The number as it is written: `1.0`, `1E5`, `18446744073709551616`.
        case number(String)
        case string(String)
        case array([JSONNode])
        case object([JSONField])
    }

    public let content: Content
    /// Where the value is in the text, in bytes, quotes and brackets included.
    public let range: Range<Int>
    /// A string with an escaped surrogate that has no partner; its text has U+FFFD in that place.
    public let hasLoneSurrogate: Bool

    /// Reads a whole text.
    /// - Parameters:
    ///   - maxDepth: levels of arrays and objects; more than 1088 is 1088.
    ///   - maxBytes: bytes of text.
    /// - Throws: `notUTF8`, `malformed`, `tooDeep` or `tooLarge`.
    public static func parse(
        _ text: [UInt8], maxDepth: Int = 64, maxBytes: Int = 1 << 20
    ) throws(JSONError) -> JSONNode {
        guard text.count <= maxBytes else {
            throw JSONError(.tooLarge, "the text has \(text.count) bytes, more than \(maxBytes)")
        }
        return try text.withUnsafeBufferPointer { (bytes) throws(JSONError) in
            try JSONIndex.scan(bytes, maxDepth: maxDepth) { (tokens) throws(JSONError) in JSONNode(tokens, 0) }
        }
    }

    public var kind: JSONKind {
        switch content {
        case .null: .null
        case .bool: .bool
        case .number: .number
        case .string: .string
        case .array: .array
        case .object: .object
        }
    }

    /// The value as JSON text, byte for byte.
    /// - Parameter bytes: the text that the node was read from.
    public func text(in bytes: [UInt8]) -> String { String(decoding: bytes[range], as: UTF8.self) }

    // The depth was limited when the tokens were checked, so this recursion is too.
    fileprivate init(_ tokens: JSONTokens, _ value: Int) {
        var hasLoneSurrogate = false
        switch tokens.kind(value) {
        case .null: content = .null
        case .bool: content = .bool(tokens.byte(value) == UInt8(ascii: "t"))
        case .number:
            let span = tokens.scalar(value)
            let digits = UnsafeBufferPointer(start: tokens.bytes + span.lowerBound, count: span.count)
            content = .number(String(decoding: digits, as: UTF8.self))
        case .string:
            let string = JSONStringText(tokens.contents(value))
            hasLoneSurrogate = string.hasLoneSurrogate
            content = .string(string.text)
        case .array:
            var elements: [JSONNode] = []
            tokens.forEachElement(value) { elements.append(JSONNode(tokens, $0)) }
            content = .array(elements)
        case .object:
            var fields: [JSONField] = []
            tokens.forEachField(value) { key, value in fields.append(JSONField(tokens, key, value)) }
            content = .object(fields)
        }
        self.hasLoneSurrogate = hasLoneSurrogate
        range = tokens.range(value)
    }
}

/// One field of a JSON object.
public struct JSONField: Sendable, Hashable {
    public let key: String
    public let value: JSONNode
    /// Where the key is in the text, in bytes, quotes included.
    public let keyRange: Range<Int>
    /// The key has an escaped surrogate without a partner; `key` has U+FFFD in that place.
    public let keyHasLoneSurrogate: Bool

    fileprivate init(_ tokens: JSONTokens, _ key: Int, _ value: Int) {
        let string = JSONStringText(tokens.contents(key))
        self.key = string.text
        keyHasLoneSurrogate = string.hasLoneSurrogate
        keyRange = tokens.range(key)
        self.value = JSONNode(tokens, value)
    }
}
