import Crawl
import HTTPServer
import Testing

@testable import CrawlHTTP

/// Whole crawls against a real server, one for each strategy, from a page size of one on (airbytehq/airbyte #4284).
@Suite struct CrawlTests {
    private static func list(_ items: some Sequence<Int>, _ more: String = "") -> ServerResponse {
        .json(#"{"items":[\#(items.map(String.init).joined(separator: ","))]\#(more)}"#)
    }

    private static func expected(_ count: Int, by size: Int) -> [[String]] {
        stride(from: 0, to: count, by: size).map { start in
            (start..<min(start + size, count)).map(String.init)
        }
    }

    @Test(arguments: [1, 2, 3, 7, 50])
    func `page numbers until an empty page`(size: Int) async throws {
        let upstream = try Upstream { request in
            let page = Int(request.query("page") ?? "") ?? 99
            return Self.list((0..<7).dropFirst((page - 1) * size).prefix(size))
        }
        let source = try openSource(
            url: upstream.url + "/v1/items?sort=id",
            pagination: """
                type: page_number
                page: {in: query, name: page}
                limit: {in: query, name: per_page, value: \(size)}
                """)
        let crawled = try await crawl(source)
        #expect(crawled.summary == "complete: empty_page")
        #expect(crawled.items.filter { !$0.isEmpty } == Self.expected(7, by: size))
        #expect(upstream.targets.first == "/v1/items?sort=id&per_page=\(size)&page=1")
    }

    @Test(arguments: [1, 2, 3, 7, 50])
    func `offsets until the total, with a server that clamps the limit`(size: Int) async throws {
        let upstream = try Upstream { request in
            let offset = Int(request.query("offset") ?? "") ?? 99
            return Self.list((0..<7).dropFirst(offset).prefix(min(size, 3)), #","meta":{"total":"7"}"#)
        }
        let source = try openSource(
            url: upstream.url,
            pagination: """
                type: offset
                offset: {in: query, name: offset}
                limit: {in: query, name: limit, value: \(size)}
                total_items_path: /meta/total
                """)
        let crawled = try await crawl(source)
        #expect(crawled.summary == "complete: total_reached")
        #expect(crawled.items == Self.expected(7, by: min(size, 3)))
        #expect(upstream.targets.first == "/?limit=\(size)&offset=0")
    }

    @Test(arguments: [1, 2, 7])
    func `cursors until there is none`(size: Int) async throws {
        let upstream = try Upstream { request in
            let start = Int(request.query("after") ?? "0") ?? 99
            let next = start + size < 7 ? "\"\(start + size)\"" : "null"
            return Self.list((0..<7).dropFirst(start).prefix(size), #","next":\#(next),"more":\#(next != "null")"#)
        }
        let source = try openSource(
            url: upstream.url,
            pagination: """
                type: cursor
                cursor: {in: query, name: after}
                cursor_path: /next
                """)
        let crawled = try await crawl(source)
        #expect(crawled.summary == "complete: no_next_cursor")
        #expect(crawled.items == Self.expected(7, by: size))
        #expect(upstream.targets.first == "/")
    }

    @Test func `links in the body, relative and absolute`() async throws {
        let upstream = try Upstream { request in
            switch request.target {
            case "/v2/items?limit=2": Self.list(0..<2, #","links":{"next":"?page=2&limit=2"}"#)
            case "/v2/items?page=2&limit=2": Self.list(2..<4, #","links":{"next":"../v2/items;x?p=a,b"}"#)
            case "/v2/items;x?p=a,b": Self.list(4..<6, #","links":{"next":""}"#)
            default: .text("no such page", status: 404)
            }
        }
        let source = try openSource(
            url: upstream.url + "/v2/items",
            pagination: """
                type: json_link
                next_path: /links/next
                limit: {in: query, name: limit, value: 2}
                """)
        let crawled = try await crawl(source)
        #expect(crawled.summary == "complete: no_next_cursor")
        #expect(crawled.items == Self.expected(6, by: 2))
        #expect(crawled.pages.map(\.url) == upstream.targets.map { upstream.url + $0 })
    }

    @Test func `links in several header lines`() async throws {
        let upstream = try Upstream { request in
            switch request.target {
            case "/items":
                .json(
                    "[1]", headers: [("Link", "</items>; rel=prev"), ("Link", "</items?ids=1,2;x>; rel=\"next last\"")])
            case "/items?ids=1,2;x": .json("[2]", headers: [("Link", "</items>; rel=first")])
            default: .text("no such page", status: 404)
            }
        }
        let source = try openSource(url: upstream.url + "/items", pagination: "type: header_link", items: "")
        let crawled = try await crawl(source)
        #expect(crawled.summary == "complete: no_next_cursor")
        #expect(crawled.items == [["1"], ["2"]])
    }

    @Test func `a cursor in a header, a place in a header`() async throws {
        let upstream = try Upstream { request in
            switch request.header("x-after") {
            case nil: .json("[1]", headers: [("X-Next", "a b/\"c")])
            case "a b/\"c": .json("[2]")
            default: .text("no such page", status: 404)
            }
        }
        let source = try openSource(
            url: upstream.url,
            pagination: """
                type: header_cursor
                cursor: {in: header, name: X-After}
                cursor_path: header:X-Next
                """, items: "")
        let crawled = try await crawl(source)
        #expect(crawled.summary == "complete: no_next_cursor")
        #expect(crawled.items == [["1"], ["2"]])
        #expect(crawled.pages[0].signals.next == .token(json: #""a b/\"c""#))
    }

    @Test func `a body is rendered afresh for each page, inside arrays too`() async throws {
        let upstream = try Upstream { request in
            switch String(decoding: request.body, as: UTF8.self) {
            case #"{"q":"a\"b","n":1.50,"param":[{"page":0,"size":2}]}"#: Self.list(0..<2)
            case #"{"q":"a\"b","n":1.50,"param":[{"page":1,"size":2}]}"#: Self.list(2..<3)
            case #"{"q":"a\"b","n":1.50,"param":[{"page":2,"size":2}]}"#: Self.list([])
            default: .text("what?", status: 400)
            }
        }
        let source = try openSource(
            url: upstream.url,
            request: #"body: {q: "{{q}}", n: 1.50, param: [{page: 7}]}"#,
            pagination: """
                type: page_number
                page: {in: body, name: /param/0/page, first: 0}
                limit: {in: body, name: /param/0/size, value: 2}
                """, params: ["q": "a\"b"])
        for _ in 0..<2 {
            // The second crawl of the same source begins at its first page again (n8n #18841).
            let crawled = try await crawl(source)
            #expect(crawled.items == [["0", "1"], ["2"]])
        }
        #expect(Set(upstream.requests.map(\.method)) == ["POST"])
        #expect(upstream.requests.first?.header("content-type") == "application/json")
    }

    @Test func `page numbers in the path`() async throws {
        let upstream = try Upstream { request in
            switch request.target {
            case "/a%2Fb/page/1.json": Self.list([1])
            default: Self.list([])
            }
        }
        let source = try openSource(
            url: upstream.url + "/{{kind}}/page/{{n}}.json",
            pagination: """
                type: page_number
                page: {in: path, name: n}
                """, params: ["kind": "a/b"])
        #expect(try await crawl(source).items == [["1"]])
        #expect(upstream.targets == ["/a%2Fb/page/1.json", "/a%2Fb/page/2.json"])
    }

    @Test func `one page is one page, whatever the server says about others`() async throws {
        let upstream = try Upstream { _ in
            .json(#"{"items":[1],"next":"/x"}"#, headers: [("Link", "</x>; rel=next")])
        }
        let crawled = try await crawl(try openSource(url: upstream.url))
        #expect(crawled.summary == "complete: single_page")
        #expect(upstream.targets.count == 1)
    }

    @Test func `a first page without its number, if the upstream refuses it`() async throws {
        let upstream = try Upstream { request in request.query.isEmpty ? Self.list([1]) : Self.list([]) }
        let source = try openSource(
            url: upstream.url,
            pagination: """
                type: page_number
                page: {in: query, name: p}
                inject_on_first_request: false
                """)
        _ = try await crawl(source)
        #expect(upstream.targets == ["/", "/?p=2"])
    }
}
