import Crawl
import HTTP

/// How long an upstream asks to wait, read from its headers.
///
/// `Retry-After` (RFC 9110, section 10.2.3) comes first, then the reset fields, of which there are many dialects. A
/// number is told by its magnitude, since upstreams do not agree on a unit: under 10^9 it is seconds from now, from
/// there on a moment since 1970 in seconds, milliseconds, microseconds or nanoseconds. A moment in the past is no
/// wait. How long a wait may be is the retry policy's business.
enum RequestedWait {
    private static let resetNames = ["ratelimit-reset", "x-ratelimit-reset", "x-rate-limit-reset"]
    private static let remainingNames = ["ratelimit-remaining", "x-ratelimit-remaining", "x-rate-limit-remaining"]

    /// `nil` if no header says so, or none that can be read.
    static func read(_ headers: HTTPHeaders, now: Timestamp) -> Duration? {
        if let text = headers.first("retry-after"), let wait = parse(text, now: now) { return wait }
        for name in resetNames {
            if let text = headers.first(name), let wait = parse(text, now: now) { return wait }
        }
        return headers.first("ratelimit").flatMap { parameter("t", of: $0) }.flatMap { parse($0, now: now) }
    }

    /// The upstream says that no request is left in the window.
    static func nothingRemains(_ headers: HTTPHeaders) -> Bool {
        if remainingNames.contains(where: { headers.first($0)?.trimmed == "0" }) { return true }
        return headers.first("ratelimit").flatMap { parameter("r", of: $0) } == "0"
    }

    /// A number by its magnitude, or an HTTP date.
    static func parse(_ text: String, now: Timestamp) -> Duration? {
        let text = text.trimmed
        guard let milliseconds = milliseconds(text, now: now) ?? date(text, now: now) else { return nil }
        return .milliseconds(max(0, milliseconds))
    }

    private static func date(_ text: String, now: Timestamp) -> Int64? {
        HTTPDate.parse(text, now: now).map { ($0 - now).milliseconds }
    }

    /// Milliseconds from now.
    private static func milliseconds(_ text: String, now: Timestamp) -> Int64? {
        guard text.utf8.contains(where: { (48...57).contains($0) }),
            text.utf8.allSatisfy({ (48...57).contains($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }),
            let value = Double(text), value < 1e19
        else { return nil }
        switch value {
        case ..<0: return 0
        case ..<1e9: return Int64((value * 1_000).rounded(.up))
        case ..<1e11: return Int64(value * 1_000) - now.milliseconds
        case ..<1e14: return Int64(value) - now.milliseconds
        case ..<1e17: return Int64(value / 1_000) - now.milliseconds
        default: return Int64(value / 1_000_000) - now.milliseconds
        }
    }

    /// A parameter of the structured `RateLimit` field: `"default";r=0;t=30`. Of several windows, the first.
    private static func parameter(_ name: String, of field: String) -> String? {
        for piece in field.split(whereSeparator: { $0 == ";" || $0 == "," }) {
            let pair = piece.split(separator: "=", maxSplits: 1)
            if pair.count == 2, String(pair[0]).trimmed == name { return String(pair[1]).trimmed }
        }
        return nil
    }
}

extension String {
    /// Without the blanks around a header's value (RFC 9110, section 5.5).
    var trimmed: String {
        let bytes = utf8.drop { $0 == 32 || $0 == 9 }
        let end = bytes.lastIndex { $0 != 32 && $0 != 9 }.map { bytes.index(after: $0) } ?? bytes.startIndex
        return String(self[bytes.startIndex..<end])
    }
}
