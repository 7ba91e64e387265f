import CSimdjson

// Whether the tokens are one JSON value (RFC 8259). UTF-8, unclosed strings and control characters in strings were
// looked at before; what is left is the grammar of the tokens, of numbers, literals and escapes.
//
// An escaped lone surrogate ("\ud800") is allowed: RFC 8259, section 8.2, leaves it to the reader, and who passes items
// on does not read them.

extension JSONTokens {
    private enum Expected { case value, valueOrEnd, key, keyOrEnd, colon, separator, nothing }

    /// Checks all tokens and fills `partners`.
    /// - Parameter open: room for `maxDepth` numbers.
    func check(maxDepth: Int, open: UnsafeMutablePointer<UInt32>) throws(JSONError) {
        var walk = Walk(tokens: self, open: open, maxDepth: maxDepth)
        for token in 0..<count { try walk.take(token) }
        guard walk.expected == .nothing else {
            throw error("the text ends before its value does", at: size)
        }
    }

    func error(_ message: String, at offset: Int, _ kind: JSONError.Kind = .malformed) -> JSONError {
        JSONError(kind, message, offset: origin + offset)
    }

    private struct Walk {
        let tokens: JSONTokens
        /// The opening brackets of the containers around the token at hand.
        let open: UnsafeMutablePointer<UInt32>
        let maxDepth: Int
        var depth = 0
        var expected = Expected.value
        var escapes: Escapes

        init(tokens: JSONTokens, open: UnsafeMutablePointer<UInt32>, maxDepth: Int) {
            self.tokens = tokens
            self.open = open
            self.maxDepth = maxDepth
            escapes = Escapes(tokens: tokens)
        }

        @inline(__always)
        mutating func take(_ token: Int) throws(JSONError) {
            let byte = tokens.byte(token)
            switch expected {
            case .value, .valueOrEnd: try takeValue(token, byte)
            case .key, .keyOrEnd: try takeKey(token, byte)
            case .colon:
                guard byte == UInt8(ascii: ":") else { throw unexpected(token, "a colon") }
                expected = .value
            case .separator: try takeSeparator(token, byte)
            case .nothing: throw unexpected(token, "the end")
            }
        }

        @inline(__always)
        private mutating func takeValue(_ token: Int, _ byte: UInt8) throws(JSONError) {
            switch byte {
            case UInt8(ascii: "\""):
                try escapes.checkString(token)
                leaveValue()
            case UInt8(ascii: "{"): try enter(token, .keyOrEnd)
            case UInt8(ascii: "["): try enter(token, .valueOrEnd)
            case UInt8(ascii: "]") where expected == .valueOrEnd: leave(token)
            case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "-"), 0x30...0x39:
                guard tokens.isNumberOrLiteral(token) else {
                    throw tokens.error("\(tokens.quoted(token)) is not a JSON value", at: Int(tokens.positions[token]))
                }
                leaveValue()
            default: throw unexpected(token, "a value")
            }
        }

        @inline(__always)
        private mutating func takeKey(_ token: Int, _ byte: UInt8) throws(JSONError) {
            if byte == UInt8(ascii: "\"") {
                try escapes.checkString(token)
                expected = .colon
            } else if byte == UInt8(ascii: "}"), expected == .keyOrEnd {
                leave(token)
            } else {
                throw unexpected(token, "a key")
            }
        }

        @inline(__always)
        private mutating func takeSeparator(_ token: Int, _ byte: UInt8) throws(JSONError) {
            let isObject = tokens.byte(Int(open[depth - 1])) == UInt8(ascii: "{")
            if byte == UInt8(ascii: ",") {
                expected = isObject ? .key : .value
            } else if byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
                leave(token)
            } else {
                throw unexpected(token, isObject ? "a comma or \"}\"" : "a comma or \"]\"")
            }
        }

        private mutating func enter(_ token: Int, _ next: Expected) throws(JSONError) {
            guard depth < maxDepth else {
                let message = "nested deeper than \(maxDepth) levels"
                throw tokens.error(message, at: Int(tokens.positions[token]), .tooDeep)
            }
            open[depth] = UInt32(truncatingIfNeeded: token)
            depth += 1
            expected = next
        }

        private mutating func leave(_ token: Int) {
            depth -= 1
            let opening = open[depth]
            tokens.partners[Int(opening)] = UInt32(truncatingIfNeeded: token)
            tokens.partners[token] = opening
            leaveValue()
        }

        private mutating func leaveValue() { expected = depth == 0 ? .nothing : .separator }

        private func unexpected(_ token: Int, _ wanted: String) -> JSONError {
            tokens.error("\(tokens.quoted(token)) where \(wanted) is expected", at: Int(tokens.positions[token]))
        }
    }

    /// The beginning of a token, for messages.
    func quoted(_ token: Int) -> String {
        let span = scalar(token)
        let head = UnsafeBufferPointer(start: bytes + span.lowerBound, count: min(span.count, 20))
        return "`\(String(decoding: head, as: UTF8.self))\(span.count > 20 ? "…" : "")`"
    }
}

/// Checks the escapes in strings. Most texts have none, so the next backslash is looked for once, far ahead.
private struct Escapes {
    let tokens: JSONTokens
    private var next: Int

    init(tokens: JSONTokens) {
        self.tokens = tokens
        next = csimdjson_find(tokens.bytes, 0, tokens.size, UInt8(ascii: "\\"))
    }

    @inline(__always)
    mutating func checkString(_ token: Int) throws(JSONError) {
        // A backslash before the string is outside any string, where the walk refuses it.
        guard next < Int(tokens.positions[token + 1]) else { return }
        try checkEscapes(tokens.scalar(token))
    }

    private mutating func checkEscapes(_ span: Range<Int>) throws(JSONError) {
        let bytes = tokens.bytes
        var at = next
        while at < span.upperBound {
            switch bytes[at + 1] {
            case UInt8(ascii: "u"):
                guard at + 6 < span.upperBound, (at + 2..<at + 6).allSatisfy({ hexValue(bytes[$0]) != nil }) else {
                    throw tokens.error("\"\\u\" without four hexadecimal digits in a string", at: at)
                }
                at += 6
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
                UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
                at += 2
            default: throw tokens.error("a backslash before something that is no escape in a string", at: at)
            }
            at = csimdjson_find(bytes, at, tokens.size, UInt8(ascii: "\\"))
        }
        next = at
    }
}

extension JSONTokens {
    /// True if the token is `null`, `true`, `false` or a number by RFC 8259, section 6.
    func isNumberOrLiteral(_ token: Int) -> Bool {
        let span = scalar(token)
        var at = span.lowerBound
        let end = span.upperBound
        switch bytes[at] {
        case UInt8(ascii: "t"): return equals(span, "true")
        case UInt8(ascii: "f"): return equals(span, "false")
        case UInt8(ascii: "n"): return equals(span, "null")
        case UInt8(ascii: "-"): at += 1
        default: break
        }
        guard at < end else { return false }
        if bytes[at] == UInt8(ascii: "0") {
            at += 1
        } else if !skipDigits(&at, end) {
            return false
        }
        if at < end, bytes[at] == UInt8(ascii: ".") {
            at += 1
            guard skipDigits(&at, end) else { return false }
        }
        if at < end, bytes[at] | 0x20 == UInt8(ascii: "e") {
            at += 1
            if at < end, bytes[at] == UInt8(ascii: "+") || bytes[at] == UInt8(ascii: "-") { at += 1 }
            guard skipDigits(&at, end) else { return false }
        }
        return at == end
    }

    /// Goes past digits; false if there is none.
    @inline(__always)
    private func skipDigits(_ at: inout Int, _ end: Int) -> Bool {
        let start = at
        while at < end, bytes[at] &- 0x30 < 10 { at += 1 }
        return at > start
    }

    private func equals(_ span: Range<Int>, _ word: StaticString) -> Bool {
        let token = UnsafeBufferPointer(start: bytes + span.lowerBound, count: span.count)
        return token.elementsEqual(UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
    }
}

/// The value of a hexadecimal digit.
func hexValue(_ byte: UInt8) -> UInt16? {
    switch byte {
    case 0x30...0x39: UInt16(byte - 0x30)
    case 0x41...0x46: UInt16(byte - 0x41 + 10)
    case 0x61...0x66: UInt16(byte - 0x61 + 10)
    default: nil
    }
}
