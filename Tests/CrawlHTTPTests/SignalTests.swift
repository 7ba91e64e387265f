import Crawl
import HTTP
import Testing

@testable import CrawlHTTP

@Suite struct SignalTests {
    private static func file(_ pagination: String, items: String = "/items") throws -> SourceFile {
        try readSource(
            """
            name: s
            request: {url: "https://api.example/v1/items"}
            pagination: \(pagination)
            extract: {items_path: "\(items)"}
            """)
    }

    private static func read(
        _ pagination: String, _ body: String, headers: [(String, String)] = [], page: Int64 = 1,
        items: String = "/items"
    ) throws -> (items: Items, signals: Signals) {
        let response = HTTPResponse(
            status: 200, headers: HTTPHeaders(headers.map { (name: $0.0, value: $0.1) }), body: Array(body.utf8),
            wireBytes: 0, url: "")
        let url = URLReference("https://api.example/v1/items?page=1")
        return try PageReader(try file(pagination, items: items)).read(response, at: url, page: page)
    }

    private static let byTotal = "{type: offset, offset: {in: query, name: o}, total_items_path: /total}"
    private static let byPages = "{type: page_number, page: {in: query, name: p}, total_pages_path: header:X-Pages}"
    private static let byMore = "{type: offset, offset: {in: query, name: o}, has_more_path: /more}"
    private static let byCursor = "{type: cursor, cursor: {in: query, name: c}, cursor_path: /next}"
    private static let byLink = "{type: json_link, next_path: /next}"
    private static let byLastItem = "{type: cursor, cursor: {in: query, name: c}, cursor_path: /items/-1/id}"

    @Test(arguments: [
        ("120", 120), (#""120""#, 120), ("0", 0), ("null", nil), ("9223372036854775807", .max), (#""007""#, 7),
    ])
    func `totals that can be read`(json: String, expected: Int64?) throws {
        let signals = try Self.read(Self.byTotal, #"{"items":[],"total":\#(json)}"#).signals
        #expect(signals == Signals(total: expected.map(Signals.Total.items)))
    }

    @Test(arguments: [
        #""about 120""#, #""1,200""#, #""""#, "-1", "1.5", "1e3", "9223372036854775808", "true", "[120]", #"{"n":1}"#,
        #"" 12""#,
        #""+12""#,
    ])
    func `totals that cannot be read are named`(json: String) throws {
        let signals = try Self.read(Self.byTotal, #"{"items":[],"total":\#(json)}"#).signals
        #expect(signals.total == nil)
        #expect(signals.unreadable == "/total is \(json), not a number of items or pages")
    }

    @Test func `a total that is not there is unknown`() throws {
        #expect(try Self.read(Self.byTotal, #"{"items":[]}"#).signals == Signals())
    }

    @Test func `a total in a header`() throws {
        #expect(try Self.read(Self.byPages, #"{"items":[]}"#, headers: [("x-pages", "3")]).signals.total == .pages(3))
        #expect(try Self.read(Self.byPages, #"{"items":[]}"#, headers: [("x-pages", "")]).signals == Signals())
        #expect(try Self.read(Self.byPages, #"{"items":[]}"#).signals == Signals())
        let signals = try Self.read(Self.byPages, #"{"items":[]}"#, headers: [("x-pages", "many")]).signals
        #expect(signals.unreadable == #"header:X-Pages is "many", not a number of items or pages"#)
    }

    @Test(arguments: [("true", true), ("false", false), (#""true""#, true), (#""False""#, false), ("null", nil)])
    func `has_more in its shapes`(json: String, expected: Bool?) throws {
        let signals = try Self.read(Self.byMore, #"{"items":[],"more":\#(json)}"#).signals
        #expect(signals == Signals(hasMore: expected))
    }

    @Test(arguments: ["1", "0", #""yes""#, #""""#, "[]", "{}"])
    func `has_more that is neither true nor false`(json: String) throws {
        let signals = try Self.read(Self.byMore, #"{"items":[],"more":\#(json)}"#).signals
        #expect(signals.hasMore == nil)
        #expect(signals.unreadable == "/more is \(json), neither true nor false")
    }

    @Test(arguments: [
        "0", "false", "1.0", "18446744073709551616", #"" abc ""#, #""PnM6Mg%3D%3D""#, #"[123,"abc",null]"#, "[]", "{}",
        #"{"b": 1, "a":"x"}"#, #""\u0061\/""#, #""\ud800""#,
    ])
    func `a cursor is any JSON value, as it was written`(json: String) throws {
        let signals = try Self.read(Self.byCursor, #"{"items":[],"next": \#(json) }"#).signals
        #expect(signals == Signals(next: .token(json: json)))
    }

    @Test(arguments: [#"{"items":[]}"#, #"{"items":[],"next":null}"#, #"{"items":[],"next":""}"#])
    func `no cursor`(body: String) throws { #expect(try Self.read(Self.byCursor, body).signals == Signals()) }

    @Test func `a cursor in the last item`() throws {
        let body = #"{"items":[{"id":1},{"id":"z"}]}"#
        #expect(try Self.read(Self.byLastItem, body).signals.next == .token(json: #""z""#))
        #expect(try Self.read(Self.byLastItem, #"{"items":[]}"#).signals.next == nil)
    }

    @Test(arguments: [
        ("https://api.example/v1/items?page=2", "https://api.example/v1/items?page=2"),
        ("?page=2", "https://api.example/v1/items?page=2"), ("/p?c=a+b/c==", "https://api.example/p?c=a+b/c=="),
        ("items?page=2", "https://api.example/v1/items?page=2"), ("//evil.example/x", "https://evil.example/x"),
        ("/a b", "https://api.example/a%20b"), ("HTTPS://API.example:443/x", "HTTPS://API.example:443/x"),
        ("\\/v1\\/items?page=3", "https://api.example/v1/items?page=3"),
    ])
    func `a link is resolved and otherwise left alone`(link: String, expected: String) throws {
        let signals = try Self.read(Self.byLink, #"{"items":[],"next":"\#(link)"}"#).signals
        #expect(signals == Signals(next: .url(expected)))
    }

    @Test(arguments: ["5", "false", "{}", #""/x\ny""#, #""\ud800""#])
    func `a link that is none`(json: String) throws {
        let signals = try Self.read(Self.byLink, #"{"items":[],"next":\#(json)}"#).signals
        #expect(signals.next == nil)
        #expect(signals.unreadable != nil)
    }

    @Test(arguments: [
        ("/prospects?p=2", "https://api.example/api/v2/prospects?p=2"),
        ("prospects", "https://api.example/api/v2/prospects"),
        ("?p=2", "https://api.example/api/v2/?p=2"), ("https://x/y", "https://x/y"), ("//x/y", "https://x/y"),
    ])
    func `links that lack the path of a gateway get it`(link: String, expected: String) throws {
        let pagination = #"{type: json_link, next_path: /next, next_url_base: "https://api.example/api/v2/"}"#
        let signals = try Self.read(pagination, #"{"items":[],"next":"\#(link)"}"#).signals
        #expect(signals.next == .url(expected))
    }

    @Test(arguments: [
        (
            #"{"items":[1, 2.0 ,"x",{"b":1,"b":2},18446744073709551616,0.1000000000000000055,1E5]}"#,
            ["1", "2.0", #""x""#, #"{"b":1,"b":2}"#, "18446744073709551616", "0.1000000000000000055", "1E5"]
        ),
        (#"{"items":null}"#, []), (#"{"items":[]}"#, []), (#"{"items":{"id": 1}}"#, [#"{"id": 1}"#]),
        ("", []), (" \r\n", []), ("\u{FEFF}{\"items\":[\"é\"]}", [#""é""#]),
    ])
    func `items are the upstream's own bytes`(body: String, expected: [String]) throws {
        #expect(try Self.read(Self.byTotal, body).items.texts == expected)
    }

    @Test func `missing items are an error on page 1 and none later`() throws {
        let missing = PageReader.Problem(message: #"it has nothing at "/items", where the items should be"#)
        #expect(throws: missing) { try Self.read(Self.byTotal, "{}") }
        #expect(try Self.read(Self.byTotal, "{}", page: 2).items.isEmpty)
    }

    @Test func `missing items as the source file says`() throws {
        for (word, isAccepted) in [("error", false), ("empty", true)] {
            let file = try readSource(
                """
                name: s
                request: {url: "https://api.example/"}
                pagination: {type: single_page}
                extract: {items_path: /items, missing_items: \(word)}
                """)
            #expect(file.extraction.acceptsMissingItems(onPage: 1) == isAccepted)
            #expect(file.extraction.acceptsMissingItems(onPage: 2) == isAccepted)
        }
    }

    @Test(arguments: [
        #"{"data":null,"errors":[{"message":"x"}]}"#, #"{"items":null,"error":"down"}"#, #"{"items":[],"error":true}"#,
        #"{"errors":{"a":1}}"#, #"{"items":[],"error":7}"#,
    ])
    func `a page without items that reports errors is not an empty page`(body: String) throws {
        #expect(throws: PageReader.Problem.self) { try Self.read(Self.byCursor, body, page: 2) }
    }

    @Test(arguments: [
        #"{"items":[1],"errors":[{"message":"x"}]}"#, #"{"items":[],"errors":[ ]}"#, #"{"items":[],"error":null}"#,
        #"{"items":[],"error":false}"#, #"{"items":[],"error":""}"#, #"{"items":[],"error":0.0}"#, #"[{"errors":1}]"#,
    ])
    func `a page that has items, or no error, is a page`(body: String) throws {
        _ = try Self.read(Self.byCursor, body, page: 2)
    }

    @Test func `a cursor that is too large for a job is named`() throws {
        let cursor = String(repeating: "x", count: 64 << 10)
        let signals = try Self.read(Self.byCursor, #"{"items":[],"next":"\#(cursor)"}"#).signals
        #expect(signals == Signals(unreadable: "the next cursor has 65538 bytes, more than 65536"))
    }

    @Test(arguments: [
        "<html>", "{\"items\":[1,2", "{\"items\":[1]} x", "[1,]", "{\"items\":5}", "{\"items\":\"x\"}", "nonsense",
    ])
    func `what is not the JSON that was promised`(body: String) throws {
        #expect(throws: PageReader.Problem.self) { try Self.read(Self.byTotal, body) }
    }
}

@Suite struct TextEncodingTests {
    private func decode(_ bytes: [UInt8], _ type: String?) throws -> String {
        String(decoding: try TextEncoding.utf8(bytes, contentType: type), as: UTF8.self)
    }

    @Test func `text in the charset that is declared`() throws {
        #expect(try decode(Array("é".utf8), nil) == "é")
        #expect(try decode(Array("é".utf8), "application/json; charset=UTF-8") == "é")
        #expect(try decode([0xE9], "application/json;charset=\"ISO-8859-1\"") == "é")
        #expect(try decode(Array("plain".utf8), "text/json; charset=gb2312") == "plain")
        #expect(try decode([0x7B, 0, 0x7D, 0], "application/json; charset=utf-16le") == "{}")
        #expect(try decode([0, 0x7B, 0, 0x7D], "application/json; charset=utf-16") == "{}")
    }

    @Test func `a byte order mark is stronger`() throws {
        #expect(try decode([0xFF, 0xFE, 0x3D, 0xD8, 0x00, 0xDE], "application/json; charset=utf-8") == "😀")
        #expect(try decode([0xFE, 0xFF, 0, 0x7B], nil) == "{")
    }

    @Test(
        arguments: [
            ([0xFF, 0xFE, 0x7B], nil), ([0xFF, 0xFE, 0x00, 0xD8], nil),
            ([0xB0, 0xA1], "application/json; charset=gb2312"),
            ([0xD8, 0x00], "application/json; charset=utf-16be"),
        ] as [([UInt8], String?)])
    func `nothing is ever replaced`(bytes: [UInt8], type: String?) {
        #expect(throws: TextEncoding.Problem.self) { try decode(bytes, type) }
    }
}
