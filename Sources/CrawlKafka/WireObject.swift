import Crawl
import JSONText

/// A message that is not what its topic should hold: names the field, what was found, and the nearest valid name.
public struct WireError: Error, Sendable, Hashable, CustomStringConvertible {
    public var reason: String

    public init(_ reason: String) { self.reason = reason }

    public var description: String { reason }
}

/// The fields of one JSON object, read one by one by what they should be.
struct WireObject {
    let bytes: [UInt8]
    /// Where it stands, for messages: `limits.`; "" at the top.
    let path: String
    private let fields: [String: JSONNode]

    /// - Parameter valid: the names of all fields that may be there; `nil` if others are passed over.
    /// - Throws: if it is no object, or a field is unknown or there twice.
    init(_ node: JSONNode, in bytes: [UInt8], path: String = "", valid: [String]?) throws(WireError) {
        guard case .object(let fields) = node.content else {
            let subject = path.isEmpty ? "the value" : String(path.dropLast())
            throw WireError("\(subject): must be an object, not \(Self.found(node, in: bytes))")
        }
        var named: [String: JSONNode] = [:]
        for field in fields {
            let isUnknown = field.keyHasLoneSurrogate || valid?.contains(field.key) == false
            if isUnknown, let valid {
                let near = nearestName(to: field.key, among: valid).map { "; did you mean \"\($0)\"?" }
                let advice = near ?? (valid.isEmpty ? "" : "; known are \(valid.joined(separator: ", "))")
                throw WireError("\(path)\(Self.shortened(bytes[field.keyRange])): unknown field\(advice)")
            }
            guard named.updateValue(field.value, forKey: field.key) == nil else {
                throw WireError("\(path)\(Self.shortened(bytes[field.keyRange])): is there twice")
            }
        }
        self.bytes = bytes
        self.path = path
        self.fields = named
    }

    var names: [String] { fields.keys.sorted() }

    func contains(_ name: String) -> Bool { fields[name] != nil }

    func node(_ name: String) -> JSONNode? { fields[name] }

    /// A field that may also be null, which is the same as absent.
    func value(_ name: String) -> JSONNode? {
        guard let node = fields[name], node.kind != .null else { return nil }
        return node
    }

    func required<Value>(_ name: String, _ value: Value?) throws(WireError) -> Value {
        guard let value else { throw WireError("\(path)\(name): missing") }
        return value
    }

    func text(_ name: String) throws(WireError) -> String? {
        guard let node = fields[name] else { return nil }
        guard case .string(let text) = node.content, !node.hasLoneSurrogate else {
            throw wrong(name, node, "a string")
        }
        return text
    }

    func flag(_ name: String) throws(WireError) -> Bool? {
        guard let node = fields[name] else { return nil }
        guard case .bool(let flag) = node.content else { throw wrong(name, node, "true or false") }
        return flag
    }

    /// A whole number that is written as one: `3`, not `3.0`, `3e0` or `"3"`.
    ///
    /// - Parameter range: counts, by default; they stay so far below the end of Int64 that adding to them cannot overflow.
    func integer(_ name: String, in range: ClosedRange<Int64> = 0...maxCount) throws(WireError) -> Int64? {
        guard let node = fields[name] else { return nil }
        guard case .number(let digits) = node.content, let number = Int64(digits), number >= range.lowerBound else {
            let least = range.lowerBound == .min ? "" : " of at least \(range.lowerBound)"
            throw wrong(name, node, "a whole number" + least)
        }
        guard number <= range.upperBound else { throw wrong(name, node, "at most \(range.upperBound)") }
        return number
    }

    /// The largest count, page number or offset that is believed: 2^40.
    static let maxCount: Int64 = 1 << 40

    func moment(_ name: String) throws(WireError) -> Timestamp? {
        guard let node = fields[name] else { return nil }
        guard case .string(let text) = node.content, let moment = Timestamp(rfc3339: text) else {
            throw wrong(name, node, "a date-time by RFC 3339 such as \"2026-03-01T12:00:00Z\"")
        }
        return moment
    }

    func object(_ name: String, valid: [String]?) throws(WireError) -> WireObject? {
        guard let node = fields[name] else { return nil }
        return try WireObject(node, in: bytes, path: "\(path)\(name).", valid: valid)
    }

    func wrong(_ name: String, _ node: JSONNode, _ wanted: String) -> WireError {
        WireError("\(path)\(name): must be \(wanted), not \(Self.found(node, in: bytes))")
    }

    // MARK: Words

    private static func found(_ node: JSONNode, in bytes: [UInt8]) -> String {
        switch node.kind {
        case .object, .array: node.kind.phrase
        case .null, .bool, .number, .string: shortened(bytes[node.range])
        }
    }

    /// As it was written, so that control characters stay escaped; a long one is cut.
    static func shortened(_ json: ArraySlice<UInt8>) -> String {
        let text = String(decoding: json, as: UTF8.self)
        return text.count <= 64 ? text : "\(text.prefix(64))…"
    }
}
