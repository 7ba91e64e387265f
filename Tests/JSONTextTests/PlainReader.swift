/// JSON by the letter of RFC 8259, one byte after the other: what the fast reader is compared with.
struct PlainReader {
    private let bytes: [UInt8]
    private var at = 0
    private var depth = 0
    private let maxDepth: Int

    static func accepts(_ bytes: [UInt8], maxDepth: Int = 1_024) -> Bool {
        guard String(validating: bytes, as: UTF8.self) != nil else { return false }
        var reader = PlainReader(bytes: bytes, maxDepth: maxDepth)
        return reader.value() && reader.isAtEnd()
    }

    private init(bytes: [UInt8], maxDepth: Int) {
        self.bytes = bytes
        self.maxDepth = maxDepth
    }

    private mutating func skipSpace() {
        while at < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[at]) { at += 1 }
    }

    private mutating func isAtEnd() -> Bool {
        skipSpace()
        return at == bytes.count
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard at < bytes.count, bytes[at] == UInt8(ascii: character) else { return false }
        at += 1
        return true
    }

    private mutating func value() -> Bool {
        skipSpace()
        guard at < bytes.count else { return false }
        switch bytes[at] {
        case UInt8(ascii: "{"): return container("{", "}") { $0.field() }
        case UInt8(ascii: "["): return container("[", "]") { $0.value() }
        case UInt8(ascii: "\""): return string()
        case UInt8(ascii: "t"): return word("true")
        case UInt8(ascii: "f"): return word("false")
        case UInt8(ascii: "n"): return word("null")
        default: return number()
        }
    }

    private mutating func container(
        _ open: Unicode.Scalar, _ close: Unicode.Scalar, _ member: (inout PlainReader) -> Bool
    ) -> Bool {
        guard take(open), depth < maxDepth else { return false }
        depth += 1
        defer { depth -= 1 }
        skipSpace()
        if take(close) { return true }
        repeat {
            guard member(&self) else { return false }
            skipSpace()
        } while take(",")
        return take(close)
    }

    private mutating func field() -> Bool {
        skipSpace()
        guard string() else { return false }
        skipSpace()
        return take(":") && value()
    }

    private mutating func word(_ word: String) -> Bool {
        guard bytes[at...].starts(with: word.utf8) else { return false }
        at += word.utf8.count
        return true
    }

    private mutating func string() -> Bool {
        guard take("\"") else { return false }
        while at < bytes.count {
            let byte = bytes[at]
            at += 1
            if byte == UInt8(ascii: "\"") { return true }
            if byte < 0x20 { return false }
            guard byte == UInt8(ascii: "\\") else { continue }
            guard at < bytes.count else { return false }
            let escape = bytes[at]
            at += 1
            if escape == UInt8(ascii: "u") {
                guard at + 4 <= bytes.count,
                    bytes[at..<at + 4].allSatisfy({ "0123456789abcdefABCDEF".utf8.contains($0) })
                else { return false }
                at += 4
            } else if !"\"\\/bfnrt".utf8.contains(escape) {
                return false
            }
        }
        return false
    }

    private mutating func digits() -> Bool {
        let start = at
        while at < bytes.count, (0x30...0x39).contains(bytes[at]) { at += 1 }
        return at > start
    }

    private mutating func number() -> Bool {
        _ = take("-")
        if !take("0"), !digits() { return false }
        if take("."), !digits() { return false }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            return digits()
        }
        return true
    }
}

/// SplitMix64: the same numbers for the same seed on every machine.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
