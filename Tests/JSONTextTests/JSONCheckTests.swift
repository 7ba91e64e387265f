import Glibc
import JSONText
import Testing

/// Whether a text is JSON is decided for all of it, before anything is taken from it.
struct JSONCheckTests {
    private let extractor = JSONExtractor(items: nil)

    private func error(_ bytes: [UInt8]) -> JSONError? {
        do throws(JSONError) {
            _ = try extractor.extract(from: bytes)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        "[1,2", "[1,2]]", "[1,2] 3", "{\"a\":1}{", "[1,]", "[,1]", "[1 2]", "{\"a\" 1}", "{\"a\":}", "{a:1}", "{1:2}",
        "{\"a\":1,}", "[tru]", "[truee]", "[nul", "[+1]", "[01]", "[-]", "[1.]", "[.5]", "[1e]", "[1e+]", "[0x10]",
        "[1_000]", "[NaN]", "[Infinity]", "[\"a]", "[\"\\x\"]", "[\"\\u12\"]", "[\"\\u12g4\"]", "[\"a\nb\"]", "]", "}",
        "{]", "[}", ":", ",", "[\"a\"b]", "[\"a\"\"b\"]", "[1\"a\"]", "[abc\"d\"]", "[1]\0", "'a'", "[1,/*x*/2]",
        "\u{0C}[1]", "[1\u{1A}2]", "[\u{0C}1]", "<html>", "{\"items\":[{\"a\":1},{\"a\":tru}],\"ok\":true}",
    ])
    func `what is not one JSON value is malformed, with the place`(text: String) {
        let error = error(Array(text.utf8))
        #expect(error?.kind == .malformed)
        #expect(error?.offset != nil)
    }

    @Test(arguments: ["", " ", "\n\t \r", "\u{FEFF}", "\u{FEFF} "])
    func `nothing is malformed`(text: String) {
        #expect(error(Array(text.utf8))?.kind == .malformed)
    }

    @Test(arguments: [
        "1", "-0.0e-0", "\"\"", " null ", "[]", "{}", "[[],{}]", "\"\\ud800\"", "\"\\u0000\"", "{\"\":{\"\":\"\"}}",
        "\u{FEFF}[1]", "123456789012345678901234567890e999999",
    ])
    func `what is JSON is accepted`(text: String) {
        #expect(error(Array(text.utf8)) == nil)
    }

    @Test(arguments: [
        ([0x22, 0xFF, 0x22], 1), ([0x5B, 0x22, 0xC3, 0x28, 0x22, 0x5D], 2), ([0x22, 0xED, 0xA0, 0x80, 0x22], 1),
        ([0x22, 0xC0, 0x80, 0x22], 1), ([0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], 1), ([0x22, 0xE2, 0x82], 1),
        ([0xFF, 0xFE, 0x5B, 0x00, 0x5D, 0x00], 0), ([0xFF, 0x00], 0),
    ])
    func `what is not UTF-8 is called so, with the place`(bytes: [UInt8], offset: Int) {
        let error = error(bytes)
        #expect(error?.kind == .notUTF8)
        #expect(error?.offset == offset)
    }

    @Test func `nesting is limited`() {
        func nested(_ depth: Int) -> [UInt8] {
            [UInt8](repeating: UInt8(ascii: "["), count: depth) + [UInt8](repeating: UInt8(ascii: "]"), count: depth)
        }
        #expect(error(nested(1_024)) == nil)
        #expect(error(nested(1_025))?.kind == .tooDeep)
        #expect(error([UInt8](repeating: UInt8(ascii: "["), count: 1_000_000))?.kind == .tooDeep)
        #expect(throws: JSONError.self) { try JSONExtractor(items: nil, maxDepth: 3).extract(from: nested(4)) }
    }

    @Test func `each cut of a text is refused`() {
        let text = Array(#"{"items":[{"id":1,"n":"\u00e9x\\"},[true,false,null,-1.5e+3]],"next":"ab"}"#.utf8)
        #expect(error(text) == nil)
        for end in text.indices {
            #expect(error(Array(text[..<end]))?.kind == .malformed, "cut at \(end)")
        }
    }

    /// Bytes that matter to a JSON reader, more often than others.
    private static let alphabet: [UInt8] =
        Array(#"{}[]:,""\\ud80/bfnrt trufalsenull0123456789.eE+-"#.utf8) + [
            0x00, 0x0A, 0x0C, 0x1A, 0x80, 0xC3, 0xA9, 0xFF,
        ]

    @Test(arguments: 0..<8)
    func `changed texts are judged as a plain reader judges them`(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let seeds = [
            #"{"items":[{"id":1,"name":"a\u00e9\\\"b"},{"id":-2.5e10}],"next":null,"more":true}"#,
            #"[[[]],{"a":{"b":["x","y\n",false]}}," long string with spaces , and ] brackets } inside it \ud83d\ude00 "]"#,
            #"  "just a string" "#, "-12.5E-3",
            #"{"k":"0123456789012345678901234567890123456789012345678901234567890123456"}"#,
        ]
        var accepted = 0
        for _ in 0..<4_000 {
            var text = Array(seeds.randomElement(using: &random)!.utf8)
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                let at = Int.random(in: 0..<text.count, using: &random)
                let byte = Self.alphabet.randomElement(using: &random)!
                switch Int.random(in: 0..<4, using: &random) {
                case 0: text[at] = byte
                case 1: text.insert(byte, at: at)
                case 2: text.remove(at: at)
                default: text.insert(contentsOf: [UInt8](repeating: 0x20, count: 61), at: at)
                }
                if text.isEmpty { text = [byte] }
            }
            let expected = PlainReader.accepts(text)
            accepted += expected ? 1 : 0
            #expect((error(text) == nil) == expected, "\(String(decoding: text, as: UTF8.self))")
        }
        #expect(accepted > 100)
    }

    @Test func `no byte behind the text is read`() throws {
        let page = Int(sysconf(Int32(_SC_PAGESIZE)))
        let memory = mmap(nil, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        let start = try #require(memory == MAP_FAILED ? nil : memory)
        defer { munmap(start, 2 * page) }
        try #require(mprotect(start + page, page, PROT_NONE) == 0)
        for count in 1...300 {
            for ending in ["1", "\"a\"", "]", "tru", "\"\\u12", "\"a"] {
                let text = Array(repeating: UInt8(ascii: " "), count: count) + Array(ending.utf8)
                let place = (start + page - text.count).assumingMemoryBound(to: UInt8.self)
                place.update(from: text, count: text.count)
                let inPlace = UnsafeBufferPointer(start: place, count: text.count)
                let outcome = Result { try extractor.extract(from: inPlace) }
                #expect(((try? outcome.get()) != nil) == PlainReader.accepts(text))
            }
        }
    }
}
