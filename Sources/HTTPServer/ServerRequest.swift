/// A request as the server received it, whole.
public struct ServerRequest: Sendable {
    public var method: String
    /// The request target as it was sent: path and query, nothing decoded.
    public var target: String
    /// The path of the target, percent-decoded; invalid UTF-8 is repaired.
    public var path: String
    /// The query of the target in its order: split at `&`, `+` read as a space, percent-decoded.
    public var query: [(name: String, value: String)]
    /// All header lines in the order received.
    public var headers: [(name: String, value: String)]
    public var body: [UInt8]

    init(method: String, target: String, headers: [(name: String, value: String)], body: [UInt8]) {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
        let parts = target.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        path = percentDecoded(parts[0], plusIsSpace: false)
        query = (parts.count < 2 ? [] : parts[1].split(separator: UInt8(ascii: "&"))).map { pair in
            let sides = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            return (
                percentDecoded(sides[0], plusIsSpace: true),
                sides.count < 2 ? "" : percentDecoded(sides[1], plusIsSpace: true)
            )
        }
    }

    /// The value of the first header line of that name, in any ASCII case.
    public func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// The first value of that name in the query.
    public func query(_ name: String) -> String? { query.first { $0.name == name }?.value }
}

/// A `%` without two hex digits stands for itself.
private func percentDecoded(_ text: Substring.UTF8View, plusIsSpace: Bool) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count)
    var rest = text[...]
    while let byte = rest.popFirst() {
        if byte == UInt8(ascii: "%"), rest.count >= 2, let value = hexByte(rest.prefix(2)) {
            bytes.append(value)
            rest.removeFirst(2)
        } else {
            bytes.append(plusIsSpace && byte == UInt8(ascii: "+") ? 0x20 : byte)
        }
    }
    return String(decoding: bytes, as: UTF8.self)
}

private func hexByte(_ digits: Substring.UTF8View) -> UInt8? {
    let values = digits.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
    return values.count == 2 ? UInt8(values[0] << 4 | values[1]) : nil
}
