/// What is wrong with a JSON text, or with a request to it.
public struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Kind: Sendable, Hashable {
        /// The bytes are not UTF-8 (RFC 8259, section 8.1).
        case notUTF8
        /// Not one JSON value: truncated, something behind it, a bad number, a bad escape …
        case malformed
        /// Nested deeper than allowed.
        case tooDeep
        /// Larger than allowed.
        case tooLarge
        /// Well-formed, but not what was asked for.
        case unexpected
        /// A text that is not a JSON Pointer.
        case badPointer
        /// No memory was left.
        case noMemory
    }

    public var kind: Kind
    /// For people, without the offset.
    public var message: String
    /// Where it is, in bytes from the beginning of the text; `nil` if it is nowhere in particular.
    public var offset: Int?

    public init(_ kind: Kind, _ message: String, offset: Int? = nil) {
        self.kind = kind
        self.message = message
        self.offset = offset
    }

    public var description: String {
        guard let offset else { return message }
        return "\(message) at byte \(offset)"
    }
}

/// The six kinds of JSON values.
public enum JSONKind: String, Sendable, Hashable, CaseIterable {
    case null, bool, number, string, array, object

    /// With an article, for messages: "an array".
    public var phrase: String {
        switch self {
        case .null: "null"
        case .array, .object: "an \(rawValue)"
        case .bool: "true or false"
        case .number, .string: "a \(rawValue)"
        }
    }
}
