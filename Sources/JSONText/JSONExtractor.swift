/// Finds the items of a page and what it says about the rest, in one go over bytes that are not copied.
///
/// The whole text is checked before anything is returned, so items are never taken from a text that is truncated or
/// wrong somewhere else. They are slices: big numbers, `1.0`, duplicate keys, key order and escaped lone surrogates
/// inside them are as the upstream wrote them.
public struct JSONExtractor: Sendable, Hashable {
    public let items: JSONPointer?
    public let signals: [JSONPointer]
    /// Texts nested deeper than this are refused. Defaults to 1024; more than 1088 is 1088.
    public let maxDepth: Int

    /// - Parameters:
    ///   - items: where the items are; `nil` if nobody asks for them.
    ///   - signals: other values to look for.
    public init(items: JSONPointer?, signals: [JSONPointer] = [], maxDepth: Int = 1_024) {
        self.items = items
        self.signals = signals
        self.maxDepth = maxDepth
    }

    /// - Parameter body: one JSON value in UTF-8; a byte order mark is passed over.
    /// - Throws: `notUTF8`, `malformed` or `tooDeep` for the text; `unexpected` if `items` leads to something that is
    ///   neither an array nor an object nor null.
    public func extract(from body: [UInt8]) throws(JSONError) -> JSONExtraction {
        try body.withUnsafeBufferPointer { (bytes) throws(JSONError) in try extract(from: bytes) }
    }

    /// The same for bytes that are not in an array of their own. Ranges count from the first of them.
    public func extract(from body: UnsafeBufferPointer<UInt8>) throws(JSONError) -> JSONExtraction {
        try JSONIndex.scan(body, maxDepth: maxDepth) { (tokens) throws(JSONError) in
            JSONExtraction(
                items: try items.map { (pointer) throws(JSONError) in try list(pointer, tokens) } ?? .missing,
                signals: signals.map { pointer in
                    tokens.find(pointer).map { JSONSlice(kind: tokens.kind($0), range: tokens.range($0)) }
                })
        }
    }

    private func list(_ pointer: JSONPointer, _ tokens: JSONTokens) throws(JSONError) -> JSONExtraction.Items {
        guard let value = tokens.find(pointer) else { return .missing }
        switch tokens.kind(value) {
        case .null: return .null
        case .object: return .found([tokens.range(value)])
        case .array:
            var ranges: [Range<Int>] = []
            // A scalar and its comma are two tokens; items are mostly objects, which are many more.
            ranges.reserveCapacity(min(1_024, (Int(tokens.partners[value]) - value) / 2))
            tokens.forEachElement(value) { ranges.append(tokens.range($0)) }
            return .found(ranges)
        case let kind:
            let place = pointer.tokens.isEmpty ? "the whole text" : "\"\(pointer)\""
            throw JSONError(
                .unexpected, "\(place) is \(kind.phrase), where a list of items is expected",
                offset: tokens.range(value).lowerBound)
        }
    }
}

/// What an extractor found.
public struct JSONExtraction: Sendable, Hashable {
    public enum Items: Sendable, Hashable {
        /// Where each item is in the bytes. One object in place of an array is one item.
        case found([Range<Int>])
        /// The value is there and is null.
        case null
        /// There is no such value, or it was not asked for.
        case missing
    }

    public var items: Items
    /// One for each signal, in their order; `nil` if there is no such value. If a key is there twice, the last one
    /// counts, as it does for nearly all JSON readers.
    public var signals: [JSONSlice?]

    public init(items: Items, signals: [JSONSlice?]) {
        self.items = items
        self.signals = signals
    }
}

/// A value in a JSON text: what it is and where.
public struct JSONSlice: Sendable, Hashable {
    public var kind: JSONKind
    /// In bytes, quotes and brackets included.
    public var range: Range<Int>

    public init(kind: JSONKind, range: Range<Int>) {
        self.kind = kind
        self.range = range
    }

    /// The value as JSON text, byte for byte.
    /// - Parameter bytes: the text that the slice was found in.
    public func text(in bytes: [UInt8]) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// What a string says; `nil` if the value is no string, or has a lone surrogate, which text cannot have.
    /// - Parameter bytes: the text that the slice was found in.
    public func string(in bytes: [UInt8]) -> String? {
        guard kind == .string else { return nil }
        return bytes[range].dropFirst().dropLast().withUnsafeBufferPointer { contents in
            let string = JSONStringText(contents)
            return string.hasLoneSurrogate ? nil : string.text
        }
    }
}

extension JSONTokens {
    /// The value that a pointer leads to.
    func find(_ pointer: JSONPointer) -> Int? {
        var value = 0
        for token in pointer.tokens {
            let next =
                switch byte(value) {
                case UInt8(ascii: "{"): field(token, of: value)
                case UInt8(ascii: "["): element(token, of: value)
                default: Int?.none
                }
            guard let next else { return nil }
            value = next
        }
        return value
    }

    private func field(_ name: String, of object: Int) -> Int? {
        var found: Int?
        var name = name
        name.withUTF8 { name in
            forEachField(object) { key, value in
                if isKey(key, name) { found = value }
            }
        }
        return found
    }

    private func isKey(_ key: Int, _ name: UnsafeBufferPointer<UInt8>) -> Bool {
        let contents = contents(key)
        if contents.count == name.count, contents.elementsEqual(name) { return true }
        // An escape is longer than what it stands for.
        guard contents.count > name.count, contents.contains(UInt8(ascii: "\\")) else { return false }
        let string = JSONStringText(contents)
        return !string.hasLoneSurrogate && string.text.utf8.elementsEqual(name)
    }

    private func element(_ token: String, of array: Int) -> Int? {
        let close = Int(partners[array])
        guard array + 1 < close else { return nil }
        if token == "-1" {
            let last = byte(close - 1)
            let isClosing = last == UInt8(ascii: "]") || last == UInt8(ascii: "}")
            return isClosing ? Int(partners[close - 1]) : close - 1
        }
        // Digits only, and no zero in front (RFC 6901, section 4).
        guard token.utf8.allSatisfy({ $0 &- 0x30 < 10 }), token == "0" || token.utf8.first != 0x30,
            var left = Int(token)
        else { return nil }
        var element = array + 1
        while left > 0 {
            element = after(element) + 1
            guard element < close else { return nil }
            left -= 1
        }
        return element
    }
}
