/// Percent-encoding (RFC 3986, section 2) of what is placed into a URL.
enum PercentEncoding {
    /// Letters, digits, `-`, `.`, `_`, `~` (RFC 3986, section 2.3): all that is never encoded.
    static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// Encodes every byte that is not unreserved. `+`, `/`, `=` and `;` are encoded too: servers disagree on what they
    /// mean in a query. A `%` becomes `%25`: a value is opaque and is encoded exactly once.
    static func encode(_ text: String) -> String { encode(text, where: { !isUnreserved($0) }) }

    /// Encodes only bytes that no URL may hold (RFC 3986, appendix A), such as a space or `é`, which upstreams put
    /// into links all the same. A valid URL stays as it is, byte for byte. `nil` if there is a control character.
    static func repair(_ url: String) -> String? {
        if url.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) { return nil }
        return encode(url, where: isIllegal)
    }

    /// Decodes once; `+` is a space, as forms write it. Only for comparing the names of query parameters.
    static func decodeName(_ text: Substring) -> String {
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) else {
            return String(text)
        }
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2, let value = hexPair(rest.prefix(2)) {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func hexPair(_ digits: Substring.UTF8View.SubSequence) -> UInt8? {
        guard let text = String(digits), !text.hasPrefix("+"), !text.hasPrefix("-") else { return nil }
        return UInt8(text, radix: 16)
    }

    private static func encode(_ text: String, where mustEncode: (UInt8) -> Bool) -> String {
        if !text.utf8.contains(where: mustEncode) { return text }
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count * 3)
        for byte in text.utf8 {
            if mustEncode(byte) {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isIllegal(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"), UInt8(ascii: "^"),
            UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
            true
        default: byte <= 0x20 || byte >= 0x7F
        }
    }
}
