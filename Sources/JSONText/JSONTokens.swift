import CSimdjson

/// The tokens of a well-formed JSON text, for walking it without parsing it again.
///
/// A token is named by its number; a value is named by its first token.
struct JSONTokens {
    let bytes: UnsafePointer<UInt8>
    let size: Int
    /// Bytes before `bytes` that belong to the text: a byte order mark.
    let origin: Int
    /// Where each token begins, and behind the last one the size.
    let positions: UnsafePointer<UInt32>
    /// For a bracket, the token of its other half.
    let partners: UnsafeMutablePointer<UInt32>
    let count: Int

    /// The first byte of a token.
    func byte(_ token: Int) -> UInt8 { bytes[Int(positions[token])] }

    func kind(_ value: Int) -> JSONKind {
        switch byte(value) {
        case UInt8(ascii: "{"): .object
        case UInt8(ascii: "["): .array
        case UInt8(ascii: "\""): .string
        case UInt8(ascii: "n"): .null
        case UInt8(ascii: "t"), UInt8(ascii: "f"): .bool
        default: .number
        }
    }

    func isContainer(_ value: Int) -> Bool {
        // "[" is 0x5B and "{" is 0x7B.
        byte(value) | 0x20 == UInt8(ascii: "{")
    }

    /// The bytes of a string, number or literal: from its first byte to the last one before the next token that is not
    /// white space.
    func scalar(_ token: Int) -> Range<Int> {
        let start = Int(positions[token])
        var end = Int(positions[token + 1])
        while end > start + 1, Self.isSpace(bytes[end - 1]) { end -= 1 }
        return start..<end
    }

    /// The bytes of a value, counted from `bytes`.
    func span(_ value: Int) -> Range<Int> {
        guard isContainer(value) else { return scalar(value) }
        return Int(positions[value])..<Int(positions[Int(partners[value])]) + 1
    }

    /// The bytes of a value, counted from the beginning of the text.
    func range(_ value: Int) -> Range<Int> {
        let span = span(value)
        return span.lowerBound + origin..<span.upperBound + origin
    }

    /// The bytes between the quotes of a string.
    func contents(_ string: Int) -> UnsafeBufferPointer<UInt8> {
        let span = scalar(string)
        return UnsafeBufferPointer(start: bytes + span.lowerBound + 1, count: span.count - 2)
    }

    /// The token behind a value: a comma or the closing bracket.
    func after(_ value: Int) -> Int { isContainer(value) ? Int(partners[value]) + 1 : value + 1 }

    func forEachElement(_ array: Int, _ body: (Int) -> Void) {
        let close = Int(partners[array])
        var element = array + 1
        while element < close {
            body(element)
            element = after(element) + 1
        }
    }

    /// Gives `body` the tokens of each key and its value.
    func forEachField<Failure: Error>(_ object: Int, _ body: (Int, Int) throws(Failure) -> Void) throws(Failure) {
        let close = Int(partners[object])
        var key = object + 1
        while key < close {
            try body(key, key + 2)
            key = after(key + 2) + 1
        }
    }

    @inline(__always)
    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }
}
