import JSONText
import Testing

struct JSONPointerTests {
    @Test(arguments: [
        ("", []), ("/", [""]), ("/items", ["items"]), ("/a/b/0", ["a", "b", "0"]), ("/a~1b", ["a/b"]),
        ("/m~0n", ["m~n"]), ("/~01", ["~1"]), ("/ü/é", ["ü", "é"]), ("/a//b", ["a", "", "b"]), ("/-1", ["-1"]),
    ])
    func `a pointer is split into unescaped tokens and written back the same`(text: String, tokens: [String]) throws {
        let pointer = try JSONPointer(text)
        #expect(pointer.tokens == tokens)
        #expect(pointer.description == text)
    }

    @Test(arguments: ["items", "$.items", "#/items", "/a~", "/a~2", "/~/b"])
    func `what is no pointer is refused with the reason`(text: String) {
        let error = #expect(throws: JSONError.self) { try JSONPointer(text) }
        #expect(error?.kind == .badPointer)
        #expect(error?.message.contains(text) == true)
    }

    private let example = Array(
        #"{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8}"#.utf8)

    @Test(arguments: [
        ("/foo", #"["bar","baz"]"#), ("/foo/0", #""bar""#), ("/", "0"), ("/a~1b", "1"), ("/c%d", "2"), ("/e^f", "3"),
        ("/g|h", "4"), ("/i\\j", "5"), ("/k\"l", "6"), ("/ ", "7"), ("/m~0n", "8"), ("/foo/-1", #""baz""#),
    ])
    func `the examples of RFC 6901 find their values`(text: String, value: String) throws {
        let found = try JSONExtractor(items: nil, signals: [JSONPointer(text)]).extract(from: example).signals[0]
        #expect(found?.text(in: example) == value)
    }

    @Test(arguments: [
        "/foo/2", "/foo/00", "/foo/-", "/foo/+1", "/foo/-2", "/foo/1/x", "/fo", "/foo/99999999999999999999",
    ])
    func `a pointer to nothing finds nothing`(text: String) throws {
        let found = try JSONExtractor(items: nil, signals: [JSONPointer(text)]).extract(from: example).signals[0]
        #expect(found == nil)
    }
}
