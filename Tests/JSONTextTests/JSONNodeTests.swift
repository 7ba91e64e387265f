import JSONText
import Testing

struct JSONNodeTests {
    @Test func `a tree keeps order, duplicates, number texts and places`() throws {
        let bytes = Array(#" {"b":[1.0,{"x":null}],"a":true,"b":"\u0041\n"} "#.utf8)
        let node = try JSONNode.parse(bytes)
        guard case .object(let fields) = node.content else { throw JSONError(.unexpected, "no object") }
        #expect(fields.map(\.key) == ["b", "a", "b"])
        #expect(fields.map { $0.value.text(in: bytes) } == [#"[1.0,{"x":null}]"#, "true", #""\u0041\n""#])
        guard case .array(let list) = fields[0].value.content else { throw JSONError(.unexpected, "no array") }
        #expect(list[0].content == .number("1.0"))
        #expect(list[1].kind == .object)
        #expect(fields[1].value.content == .bool(true))
        #expect(fields[2].value.content == .string("A\n"))
        #expect(String(decoding: bytes[fields[2].keyRange], as: UTF8.self) == "\"b\"")
        #expect(node.range == 1..<bytes.count - 1)
    }

    @Test(arguments: [
        (#""\ud83d\ude00""#, "😀", false), (#""\ud800""#, "\u{FFFD}", true),
        (#""\udc00\ud800""#, "\u{FFFD}\u{FFFD}", true),
        (#""\ud800\ud83d\ude00""#, "\u{FFFD}😀", true), (#""\ud800\n""#, "\u{FFFD}\n", true),
        (#""\b\f\n\r\t\"\\\/""#, "\u{08}\u{0C}\n\r\t\"\\/", false), (#""\u00E9\u0000""#, "é\0", false),
    ])
    func `escapes are read, and a lone surrogate is told`(text: String, string: String, isLone: Bool) throws {
        let node = try JSONNode.parse(Array(text.utf8))
        #expect(node.content == .string(string))
        #expect(node.hasLoneSurrogate == isLone)
    }

    @Test func `depth and size are limited`() throws {
        let deep = Array((String(repeating: "[", count: 65) + String(repeating: "]", count: 65)).utf8)
        #expect(throws: JSONError.self) { try JSONNode.parse(deep) }
        #expect(try JSONNode.parse(deep, maxDepth: 65).kind == .array)
        let error = #expect(throws: JSONError.self) { try JSONNode.parse(Array("[1,2,3]".utf8), maxBytes: 6) }
        #expect(error?.kind == .tooLarge)
    }

    @Test func `the deepest text that is allowed does not exhaust the stack`() throws {
        let deep = Array((String(repeating: "{\"a\":[", count: 512) + String(repeating: "]}", count: 512)).utf8)
        #expect(try JSONNode.parse(deep, maxDepth: 5_000).kind == .object)
    }
}

struct JSONWriterTests {
    @Test func `what is written is read back the same`() throws {
        let texts = ["", "plain", "q\"b\\s/", "\u{00}\u{01}\u{1F}\n\r\t\u{08}\u{0C}\u{7F}", "ü 😀 \u{2028}", "{{name}}"]
        var writer = JSONWriter(capacity: 8)
        writer.beginObject()
        for text in texts {
            writer.key(text)
            writer.string(text)
        }
        writer.endObject()
        guard case .object(let fields) = try JSONNode.parse(writer.bytes).content else {
            throw JSONError(.unexpected, "no object")
        }
        #expect(fields.map(\.key) == texts)
        #expect(fields.map(\.value.content) == texts.map { .string($0) })
    }

    @Test func `commas stand between values and nowhere else`() {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("a")
        writer.beginArray()
        writer.int(.min)
        writer.int(.max)
        writer.int(0)
        writer.beginArray()
        writer.endArray()
        writer.beginObject()
        writer.endObject()
        writer.bool(true)
        writer.bool(false)
        writer.null()
        writer.endArray()
        writer.key("b")
        writer.raw("1.0")
        writer.key("c")
        writer.raw(Array("x[2]y".utf8)[1..<4])
        writer.key("d")
        writer.string("\u{1B}")
        writer.endObject()
        #expect(
            String(decoding: writer.bytes, as: UTF8.self)
                == #"{"a":[-9223372036854775808,9223372036854775807,0,[],{},true,false,null],"b":1.0,"c":[2],"d":"\u001b"}"#
        )
    }
}
