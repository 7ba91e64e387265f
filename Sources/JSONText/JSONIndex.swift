import CSimdjson
import Threads

/// Memory for the token positions of one document at a time; the owner of simdjson's parser.
///
/// Sendable without a check: it is reached through `borrow` only, which gives it to one caller at a time.
final class JSONIndex: @unchecked Sendable {
    /// More levels than this are refused, whatever a caller allows. A little more than the default of an extractor, so
    /// that what was taken from one text can be put into another and read again.
    static let deepest = 1_088

    private let handle: OpaquePointer
    /// Room for the containers that are open while a document is checked.
    private let open = UnsafeMutablePointer<UInt32>.allocate(capacity: deepest)

    private init?() {
        guard let handle = csimdjson_open() else { return nil }
        self.handle = handle
    }

    deinit {
        csimdjson_close(handle)
        open.deallocate()
    }

    /// Checks the whole text and gives `body` the tokens. They are valid during the call only.
    static func scan<Result>(
        _ text: UnsafeBufferPointer<UInt8>, maxDepth: Int = deepest,
        _ body: (JSONTokens) throws(JSONError) -> Result
    ) throws(JSONError) -> Result {
        guard let index = borrow() else { throw JSONError(.noMemory, "no memory to read JSON") }
        defer { index.giveBack() }
        return try body(try index.tokens(of: text, maxDepth: min(maxDepth, deepest)))
    }

    private func tokens(of text: UnsafeBufferPointer<UInt8>, maxDepth: Int) throws(JSONError) -> JSONTokens {
        let origin = text.starts(with: Self.byteOrderMark) ? Self.byteOrderMark.count : 0
        guard let start = text.baseAddress.map({ $0 + origin }), text.count > origin else {
            throw JSONError(.malformed, "there is nothing: no JSON value", offset: origin)
        }
        let count = text.count - origin
        let outcome = csimdjson_scan(handle, start, count)
        guard outcome == CSIMDJSON_OK else {
            throw ScanFailure(outcome, UnsafeBufferPointer(start: start, count: count), origin: origin).error
        }
        let tokens = JSONTokens(
            bytes: start, size: count, origin: origin, positions: csimdjson_positions(handle),
            partners: csimdjson_partners(handle), count: csimdjson_count(handle))
        try tokens.check(maxDepth: maxDepth, open: open)
        return tokens
    }

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    // MARK: A few indexes are kept, so that a page costs no allocation.

    private static let kept = Monitor<[JSONIndex]>([])
    private static let mostKept = 16
    /// Larger ones are given back to the system: the positions take four bytes for each byte of text.
    private static let largestKept = 1 << 20

    private static func borrow() -> JSONIndex? { kept.withLock { $0.popLast() } ?? JSONIndex() }

    private func giveBack() {
        guard csimdjson_capacity(handle) <= Self.largestKept else { return }
        Self.kept.withLock { kept in
            if kept.count < Self.mostKept { kept.append(self) }
        }
    }
}

/// Finds out where a text is wrong that simdjson's first stage refused without saying where.
struct ScanFailure {
    let error: JSONError

    init(_ outcome: csimdjson_outcome, _ text: UnsafeBufferPointer<UInt8>, origin: Int) {
        // Unclosed strings are reported before bad UTF-8, but a text in another encoding is both: say the cause.
        if let offset = Self.firstInvalidUTF8(text) {
            error = JSONError(.notUTF8, "the text is not UTF-8", offset: origin + offset)
            return
        }
        switch outcome {
        case CSIMDJSON_EMPTY:
            error = JSONError(.malformed, "there is nothing: no JSON value", offset: origin)
        case CSIMDJSON_UNCLOSED_STRING:
            error = JSONError(.malformed, "the text ends inside a string", offset: origin + text.count)
        case CSIMDJSON_CONTROL_CHARACTER:
            error = JSONError(
                .malformed, "a control character stands in a string and is not escaped",
                offset: Self.firstControlCharacter(text).map { origin + $0 })
        case CSIMDJSON_TOO_LARGE:
            error = JSONError(.tooLarge, "the text has \(text.count) bytes, more than can be read")
        case CSIMDJSON_NO_MEMORY:
            error = JSONError(.noMemory, "no memory to read \(text.count) bytes of JSON")
        default:
            error = JSONError(.malformed, "the text is not JSON")
        }
    }

    private static func firstInvalidUTF8(_ text: UnsafeBufferPointer<UInt8>) -> Int? {
        var parser = Unicode.UTF8.ForwardParser()
        var bytes = text.makeIterator()
        var offset = 0
        while true {
            switch parser.parseScalar(from: &bytes) {
            case .valid(let scalar): offset += scalar.count
            case .emptyInput: return nil
            case .error: return offset
            }
        }
    }

    private static func firstControlCharacter(_ text: UnsafeBufferPointer<UInt8>) -> Int? {
        var inString = false
        var escaped = false
        for (offset, byte) in text.enumerated() {
            guard inString else {
                inString = byte == UInt8(ascii: "\"")
                continue
            }
            if byte < 0x20 { return offset }
            if escaped {
                escaped = false
            } else if byte == UInt8(ascii: "\\") {
                escaped = true
            } else if byte == UInt8(ascii: "\"") {
                inString = false
            }
        }
        return nil
    }
}
