/// The header fields of a response: every line in the order received, names compared without regard to ASCII case.
///
/// A value that is valid UTF-8 is read as such, any other as ISO-8859-1 (RFC 9110 §5.5), so that no byte is lost.
public struct HTTPHeaders: Sendable {
    public private(set) var lines: [(name: String, value: String)]

    public init(_ lines: [(name: String, value: String)] = []) { self.lines = lines }

    /// The value of the first line of that name.
    public func first(_ name: String) -> String? { lines.first { HTTPHeaders.matches($0.name, name) }?.value }

    /// The values of all lines of that name. They are not split at commas.
    public func all(_ name: String) -> [String] {
        lines.compactMap { HTTPHeaders.matches($0.name, name) ? $0.value : nil }
    }

    private static func matches(_ left: String, _ right: String) -> Bool {
        left.utf8.count == right.utf8.count && left.utf8.elementsEqual(right.utf8) { lower($0) == lower($1) }
    }

    private static func lower(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    mutating func append(_ name: String, _ value: String) { lines.append((name, value)) }

    /// Joins a folded line (RFC 9112 §5.2) to the value before it.
    mutating func fold(_ value: String) {
        guard !lines.isEmpty else { return }
        lines[lines.count - 1].value += " " + value
    }

    /// The elements of a comma-separated list over all lines of that name, trimmed and in lower case.
    func list(_ name: String) -> [String] {
        all(name).flatMap { $0.utf8.split(separator: UInt8(ascii: ",")) }.map { element in
            String(decoding: trimmed(element).map(HTTPHeaders.lower), as: UTF8.self)
        }.filter { !$0.isEmpty }
    }
}

/// Without the spaces, tabs and line ends around it.
func trimmed<Bytes: BidirectionalCollection>(_ bytes: Bytes) -> Bytes.SubSequence where Bytes.Element == UInt8 {
    let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A }
    guard let first = bytes.firstIndex(where: { !isSpace($0) }),
        let last = bytes.lastIndex(where: { !isSpace($0) })
    else { return bytes[bytes.endIndex...] }
    return bytes[first...last]
}
