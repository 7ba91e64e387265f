/// A JSON Pointer (RFC 6901): `""` is the whole document, `/items/0/id` goes down step by step.
///
/// One extension: the array index `-1` is the last element. (RFC 6901 knows `-` for the element behind the last one,
/// which never exists in a document that is read.)
public struct JSONPointer: Sendable, Hashable, CustomStringConvertible {
    /// The reference tokens, unescaped.
    public let tokens: [String]

    /// - Throws: `badPointer` if the text does not begin with `/`, or has a `~` that is not `~0` or `~1`.
    public init(_ text: String) throws(JSONError) {
        guard !text.isEmpty else {
            tokens = []
            return
        }
        guard text.hasPrefix("/") else {
            throw JSONError(
                .badPointer, "a JSON Pointer begins with \"/\" or is empty; \"\(text)\" is neither", offset: 0)
        }
        var tokens: [String] = []
        for escaped in text.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            tokens.append(try Self.unescape(escaped, in: text))
        }
        self.tokens = tokens
    }

    /// A pointer made of tokens that are not escaped.
    public init(tokens: [String]) { self.tokens = tokens }

    /// The pointer as text, escaped.
    public var description: String {
        var text = ""
        for token in tokens {
            text.append("/")
            for scalar in token.unicodeScalars {
                switch scalar {
                case "~": text.append("~0")
                case "/": text.append("~1")
                default: text.unicodeScalars.append(scalar)
                }
            }
        }
        return text
    }

    private static func unescape(_ token: Substring.UTF8View, in text: String) throws(JSONError) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(token.count)
        var rest = token.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "~") else {
                bytes.append(byte)
                continue
            }
            switch rest.next() {
            case UInt8(ascii: "0"): bytes.append(UInt8(ascii: "~"))
            case UInt8(ascii: "1"): bytes.append(UInt8(ascii: "/"))
            default:
                throw JSONError(
                    .badPointer, "in a JSON Pointer \"~\" is written \"~0\" and \"/\" inside a name \"~1\": \"\(text)\""
                )
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
