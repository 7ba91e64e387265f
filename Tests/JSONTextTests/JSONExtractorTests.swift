import JSONText
import Testing

struct JSONExtractorTests {
    private func extract(
        _ text: String, items: String? = "/items", signals: [String] = []
    ) throws -> (JSONExtraction, [UInt8]) {
        let bytes = Array(text.utf8)
        let extractor = try JSONExtractor(
            items: items.map { try JSONPointer($0) }, signals: signals.map { try JSONPointer($0) })
        return (try extractor.extract(from: bytes), bytes)
    }

    private func items(_ text: String, at pointer: String = "/items") throws -> [String]? {
        let (extraction, bytes) = try extract(text, items: pointer)
        guard case .found(let ranges) = extraction.items else { return nil }
        return ranges.map { String(decoding: bytes[$0], as: UTF8.self) }
    }

    @Test func `items are the upstream's own bytes`() throws {
        let list = [
            "18446744073709551616", "1.0", "1E5", "-0", "0.1000000000000000055", #"{"a":1,"a":2}"#,
            #"{ "z" : 1 , "a" : [ ] }"#, #""\ud800""#, #""\u00e9\/\\\"""#, "null", "true", "[]", "{}", #""ü😀""#,
            #""a,]b""#,
        ]
        #expect(try items(#"{"n":0,"items":[ \#(list.joined(separator: " ,\n\t")) ],"m":1}"#) == list)
    }

    @Test func `an object where a list is expected is one item`() throws {
        #expect(try items(#"{"items":{"id":1}}"#) == [#"{"id":1}"#])
    }

    @Test func `an empty list, null and nothing at all are three things`() throws {
        #expect(try extract(#"{"items":[ ]}"#).0.items == .found([]))
        #expect(try extract(#"{"items":null}"#).0.items == .null)
        #expect(try extract(#"{}"#).0.items == .missing)
        #expect(try extract(#"[1]"#, items: nil).0.items == .missing)
    }

    @Test func `the whole text can be the list`() throws {
        #expect(try items(" [1,2 ]\n", at: "") == ["1", "2"])
    }

    @Test(arguments: ["7", #""x""#, "true"])
    func `a list that is something else is an error that says what it is`(value: String) {
        let error = #expect(throws: JSONError.self) { try items(#"{"items":\#(value)}"#) }
        #expect(error?.kind == .unexpected)
        #expect(error?.message.contains("\"/items\" is ") == true)
        #expect(error?.offset == 9)
    }

    @Test func `signals come with their kind and their bytes`() throws {
        let (extraction, bytes) = try extract(
            #"{"items":[],"total": 12e0 ,"next":"a\"b+\/","more":false,"o":{"x":[1,{"y":null}]},"e":""}"#,
            signals: ["/total", "/next", "/more", "/o/x/1/y", "/o/x", "/o", "/e", "/none"])
        #expect(extraction.signals.map { $0?.kind } == [.number, .string, .bool, .null, .array, .object, .string, nil])
        #expect(
            extraction.signals.map { $0?.text(in: bytes) } == [
                "12e0", #""a\"b+\/""#, "false", "null", #"[1,{"y":null}]"#, #"{"x":[1,{"y":null}]}"#, #""""#, nil,
            ])
        #expect(extraction.signals[1]?.string(in: bytes) == "a\"b+/")
        #expect(extraction.signals[0]?.string(in: bytes) == nil)
    }

    @Test(arguments: [#"[{"t":1},{"t":"last"}]"#, #"[[1],"last"]"#, #"[{},[[["last"]]] , "last" ]"#, #"["last"]"#])
    func `minus one is the last element`(list: String) throws {
        let (extraction, bytes) = try extract(#"{"items":\#(list)}"#, signals: ["/items/-1", "/items/-1/t"])
        let found = extraction.signals.compactMap { $0 }.last
        #expect(found?.string(in: bytes) == "last")
    }

    @Test func `minus one of an empty list is nothing`() throws {
        #expect(try extract(#"{"items":[ ]}"#, signals: ["/items/-1"]).0.signals == [nil])
    }

    @Test func `of two fields with one name the last counts`() throws {
        let (extraction, bytes) = try extract(#"{"n":1,"items":[1],"\u006e":2,"items":[2]}"#, signals: ["/n"])
        #expect(extraction.signals[0]?.text(in: bytes) == "2")
        #expect(try items(#"{"items":[1],"items":[2]}"#) == ["2"])
    }

    @Test func `a name with escapes is found, one with a lone surrogate is passed over`() throws {
        let (extraction, bytes) = try extract(
            #"{"\ud800":0,"n\u00e9\ud83d\ude00\t":1}"#, signals: ["/né😀\t", "/\u{FFFD}"])
        #expect(extraction.signals.map { $0?.text(in: bytes) } == ["1", nil])
    }

    @Test func `a byte order mark is passed over and ranges count it`() throws {
        #expect(try items("\u{FEFF}{\"items\":[10,{\"a\":1}]}") == ["10", "{\"a\":1}"])
        let error = #expect(throws: JSONError.self) { try items("\u{FEFF}[1,]", at: "") }
        #expect(error?.offset == 6)
    }

    @Test func `a lone surrogate in a signal has bytes and no text`() throws {
        let (extraction, bytes) = try extract(#"{"next":"\udc00\ud800x"}"#, signals: ["/next"])
        #expect(extraction.signals[0]?.text(in: bytes) == #""\udc00\ud800x""#)
        #expect(extraction.signals[0]?.string(in: bytes) == nil)
    }

    @Test func `an item of a slice can be read in place`() throws {
        let bytes = Array(#"xx{"id":"k1"}yy"#.utf8)
        let extractor = try JSONExtractor(items: nil, signals: [JSONPointer("/id")])
        let found = try bytes[2..<bytes.count - 2].withUnsafeBufferPointer { try extractor.extract(from: $0) }
        #expect(found.signals[0]?.range == 6..<10)
    }

    @Test func `many pages are read side by side`() async throws {
        let extractor = try JSONExtractor(items: JSONPointer("/items"), signals: [JSONPointer("/n")])
        await withTaskGroup(of: Bool.self) { group in
            for page in 0..<64 {
                group.addTask {
                    let list = (0...page).map { #"{"id":\#(page * 1_000 + $0)}"# }
                    let bytes = Array(#"{"items":[\#(list.joined(separator: ","))],"n":\#(page)}"#.utf8)
                    guard let found = try? extractor.extract(from: bytes), case .found(let ranges) = found.items else {
                        return false
                    }
                    return ranges.map { String(decoding: bytes[$0], as: UTF8.self) } == list
                        && found.signals[0]?.text(in: bytes) == "\(page)"
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}
