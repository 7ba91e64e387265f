import Crawl

/// Job messages that no worker can use, from a seed: what a topic that anyone may write to has to bear.
struct Noise {
    var generator: SplitMix64

    init(seed: UInt64) { generator = SplitMix64(seed: seed) }

    /// A kind of noise, with what makes one.
    static let kinds: [(name: String, make: @Sendable (inout SplitMix64) -> [UInt8]?)] = [
        ("null", { _ in nil }),
        ("empty", { _ in [] }),
        ("random bytes", { randomBytes(&$0) }),
        ("bad UTF-8", { badUTF8(&$0) }),
        ("truncated", { truncated(&$0) }),
        ("deep nesting", { deep(&$0) }),
        ("wrong type", { wrongType(&$0) }),
        ("unknown field", { unknownField(&$0) }),
        ("unknown source", { unknownSource(&$0) }),
        ("not an object", { notAnObject(&$0) }),
        ("huge", { huge(&$0) }),
    ]

    /// The next message, with the name of its kind. Huge ones are rare.
    mutating func next() -> (kind: String, value: [UInt8]?) {
        let kinds = generator.next() % 100 == 0 ? Self.kinds[...] : Self.kinds.dropLast()
        let kind = kinds[Int(generator.next() % UInt64(kinds.count))]
        return (kind.name, kind.make(&generator))
    }

    private static func randomBytes(_ generator: inout SplitMix64) -> [UInt8] {
        // The first byte begins no JSON value, so that the rest cannot happen to be one.
        [0xFF] + (0..<Int(generator.next() % 200)).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
    }

    private static func badUTF8(_ generator: inout SplitMix64) -> [UInt8] {
        let bad: [[UInt8]] = [[0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80], [0x80], [0xE2, 0x82]]
        let pick = bad[Int(generator.next() % UInt64(bad.count))]
        return Array(#"{"source":""#.utf8) + pick + Array(#""}"#.utf8)
    }

    private static func truncated(_ generator: inout SplitMix64) -> [UInt8] {
        let whole = Array(#"{"source":"pages","params":{"a":"b"},"limits":{"max_pages":3},"follow":true}"#.utf8)
        return Array(whole.prefix(1 + Int(generator.next() % UInt64(whole.count - 1))))
    }

    private static func deep(_ generator: inout SplitMix64) -> [UInt8] {
        let depth = 1_000 + Int(generator.next() % 50_000)
        let open = generator.next() % 2 == 0 ? "[" : #"{"params":"#
        return Array(String(repeating: open, count: depth).utf8)
    }

    private static func wrongType(_ generator: inout SplitMix64) -> [UInt8] {
        let names = wrongValues.keys.sorted()
        let name = names[Int(generator.next() % UInt64(names.count))]
        let values = wrongValues[name]!
        let value = values[Int(generator.next() % UInt64(values.count))]
        let source = name == "source" ? "" : #""source":"pages","#
        return Array("{\(source)\"\(name)\":\(value)}".utf8)
    }

    /// Values that each field cannot have.
    private static let wrongValues = [
        "source": ["[]", "1", "true", "null", "{}", #""""#],
        "params": ["[]", "1", "true", #""x""#, #"{"a":1}"#, #"{"a":["b"]}"#],
        "follow": ["[]", "1", #""true""#, "{}"],
        "limits": ["[]", "1", "true", #""x""#, #"{"max_pages":"3"}"#, #"{"max_pages":1e999}"#],
        "from": ["[]", "1", "true", #""x""#, #"{"page":"1"}"#],
        "action": ["[]", "1", "true", #""begin""#, #""next""#],
    ]

    private static func unknownField(_ generator: inout SplitMix64) -> [UInt8] {
        let names = ["sorce", "limit", "parms", "page", "Source", "run", "step", "__proto__", "max_pages"]
        let name = names[Int(generator.next() % UInt64(names.count))]
        return Array(#"{"source":"pages","\#(name)":"1"}"#.utf8)
    }

    private static func unknownSource(_ generator: inout SplitMix64) -> [UInt8] {
        Array(#"{"source":"pagse\#(generator.next() % 1_000)"}"#.utf8)
    }

    private static func notAnObject(_ generator: inout SplitMix64) -> [UInt8] {
        let values = ["[]", "1", #""pages""#, "true", "null", "{}", "  ", "{}{}", #"[{"source":"pages"}]"#]
        return Array(values[Int(generator.next() % UInt64(values.count))].utf8)
    }

    private static func huge(_ generator: inout SplitMix64) -> [UInt8] {
        let size = 300_000 + Int(generator.next() % 600_000)
        return Array(#"{"source":""#.utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: size) + Array(#""}"#.utf8)
    }
}
