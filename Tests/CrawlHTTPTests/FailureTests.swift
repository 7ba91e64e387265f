import Crawl
import Foundation
import HTTPServer
import Testing

@testable import CrawlHTTP

@Suite struct FailureTests {
    static let statuses: [(Int, [(String, String)], SourceError.Class)] = [
        (429, [], .throttled), (503, [("Retry-After", "1")], .throttled), (503, [], .unavailable),
        (403, [("X-RateLimit-Remaining", "0")], .throttled), (403, [("RateLimit", "\"a\";r=0;t=5")], .throttled),
        (403, [("Retry-After", "60")], .throttled), (403, [("X-RateLimit-Remaining", "7")], .rejected),
        (403, [], .rejected), (401, [], .unauthorized), (408, [], .unavailable), (425, [], .unavailable),
        (500, [], .unavailable), (502, [], .unavailable), (504, [], .unavailable), (400, [], .rejected),
        (404, [], .rejected), (410, [], .rejected), (414, [], .rejected), (418, [], .rejected),
        (202, [("Retry-After", "5")], .notReady), (204, [("Retry-After", "5")], .notReady), (304, [], .rejected),
        (302, [], .rejected),
    ]

    @Test(arguments: statuses)
    func `the status says what kind of failure it is`(
        status: Int, headers: [(String, String)], expected: SourceError.Class
    ) async throws {
        let upstream = try Upstream { _ in
            // JSON in the body changes nothing: the status comes first.
            .json(
                status == 204 || status == 304 ? "" : #"{"items":[1]}"#, status: status,
                headers: headers.map { (name: $0.0, value: $0.1) })
        }
        let error = try await failure(try openSource(url: upstream.url))
        #expect(error.kind == expected)
        #expect(error.status == status)
        #expect(error.cost.requests == 1)
    }

    @Test(arguments: [
        (429, "Retry-After", "7", 7_000), (503, "Retry-After", "Tue, 14 Nov 2023 22:13:30 GMT", 10_000),
        (429, "X-RateLimit-Reset", "1699999995", 0), (403, "Retry-After", "0", 0),
        (500, "Retry-After", "3", 3_000), (202, "Retry-After", "2", 2_000), (429, "X-Nothing", "1", nil),
        (404, "Retry-After", "3", nil),
    ])
    func `the wait that is asked for`(status: Int, name: String, value: String, milliseconds: Int64?) async throws {
        let upstream = try Upstream { _ in .text("", status: status, headers: [(name, value)]) }
        let error = try await failure(try openSource(url: upstream.url))
        #expect(error.retryAfter == milliseconds.map(Duration.milliseconds))
    }

    @Test func `no content is a page without items`() async throws {
        for response in [ServerResponse(status: 204), ServerResponse(status: 200), ServerResponse(status: 202)] {
            let upstream = try Upstream { _ in response }
            let page = try await fetch(try openSource(url: upstream.url))
            #expect(page.items.isEmpty)
            #expect(page.status == response.status)
        }
    }

    @Test func `HTML with a 200 is malformed, and the message says what came from where`() async throws {
        let upstream = try Upstream { _ in
            ServerResponse(
                status: 200, headers: [("Content-Type", "text/html")],
                body: Array("<html>\n<b>maintenance</b>\u{1}\u{7}".utf8) + [0xFF] + Array(repeating: 0x78, count: 500))
        }
        let error = try await failure(try openSource(url: upstream.url + "/a?b=c"))
        #expect(error.kind == .malformed)
        #expect(
            error.message.hasPrefix(
                "products: GET \(upstream.url)/a?b=c answered 200, but it is not usable JSON (\"text/html\"): "))
        #expect(error.message.contains(#"the body is "<html> <b>maintenance</b> .xxx"#))
        #expect(error.message.hasSuffix("x…\""))
        #expect(error.message.utf8.count < 400)
    }

    @Test func `a page in a charset that is not UTF-8 is never repaired`() async throws {
        let upstream = try Upstream { _ in
            ServerResponse(
                headers: [("Content-Type", "application/json; charset=utf-8")],
                body: Array(#"{"items":[""#.utf8) + [0xB0, 0xA1] + Array(#""]}"#.utf8))
        }
        let error = try await failure(try openSource(url: upstream.url))
        #expect(error.kind == .malformed)
    }

    @Test func `a body over the cap is malformed`() async throws {
        let upstream = try Upstream { _ in .json(#"{"items":["\#(String(repeating: "x", count: 5_000))"]}"#) }
        let error = try await failure(try openSource(url: upstream.url, more: "limits: {max_body: 4KiB}"))
        #expect(error.kind == .malformed)
        #expect(error.status == nil)
    }

    @Test func `a server that is not there is unavailable`() async throws {
        // Port 1 is reserved; nothing listens on it.
        let error = try await failure(try openSource(url: "http://127.0.0.1:1/x?page=1"))
        #expect(error.kind == .unavailable)
        #expect(error.message.hasPrefix("products: GET http://127.0.0.1:1/x?page=1 failed: "))
        #expect(error.message.components(separatedBy: "GET").count == 2, "\(error.message)")
    }

    @Test func `a secret that cannot be read is unavailable and costs nothing`() async throws {
        let files = Switch()
        let secrets = SecretReader(environment: [:]) { _ in files.isOn ? Array("t0ken\n".utf8) : nil }
        let sources = HTTPSources(secrets: secrets, now: { testTime })
        let yaml = """
            name: s
            request: {url: "http://127.0.0.1:1/", auth: {type: bearer, token: "${file:/run/secrets/t}"}}
            pagination: {type: single_page}
            extract: {items_path: ""}
            """
        files.isOn = true
        let source = sources.source(try sources.read(Array(yaml.utf8), file: "s.yaml"))
        let opened = try source.open([:])
        files.isOn = false
        let error = try await failure((source, opened))
        #expect(error == SourceError(.unavailable, "s: ${file:/run/secrets/t} cannot be read", cost: Cost()))
    }

    @Test(arguments: [
        ("type: single_page", PageCursor.page(2)),
        ("type: page_number\npage: {in: query, name: p}", .offset(3)),
        ("type: offset\noffset: {in: query, name: p}", .url("http://127.0.0.1:1/")),
        ("type: cursor\ncursor: {in: query, name: p}\ncursor_path: /n", .page(1)),
        ("type: json_link\nnext_path: /n", .token(json: "1")),
        ("type: cursor\ncursor: {in: query, name: p}\ncursor_path: /n", .token(json: #""\ud800""#)),
        ("type: cursor\ncursor: {in: header, name: p}\ncursor_path: /n", .token(json: #""a\r\nX-Evil: 1""#)),
    ])
    func `a cursor that the source cannot use is rejected`(pagination: String, cursor: PageCursor) async throws {
        let error = try await failure(try openSource(url: "http://127.0.0.1:1/", pagination: pagination), cursor)
        #expect(error.kind == .rejected)
        #expect(error.cost == Cost())
    }

    @Test func `a request that was cancelled ends`() async throws {
        let upstream = try Upstream { _ in .json(#"{"items":[]}"#) }
        let source = try openSource(url: upstream.url)
        let task = Task { try await fetch(source) }
        task.cancel()
        // It may have been answered before.
        if case .failure(let error) = await task.result { #expect(error is SourceError) }
    }
}

@Suite struct CursorPlacementTests {
    @Test(arguments: [
        (#""ab+cd/ef==""#, "ab%2Bcd%2Fef%3D%3D"), (#""a+b#c~d=""#, "a%2Bb%23c~d%3D"),
        (#""PnM6Mg%3D%3D""#, "PnM6Mg%253D%253D"), (#"" abc ""#, "%20abc%20"), ("0", "0"), ("false", "false"),
        ("18446744073709551616", "18446744073709551616"), (#"[123,"a b",null]"#, "%5B123%2C%22a%20b%22%2Cnull%5D"),
        (#""\u00e9\/""#, "%C3%A9%2F"), (#""a\r\nb""#, "a%0D%0Ab"), (#""😀""#, "%F0%9F%98%80"),
    ])
    func `a cursor in a query is encoded exactly once`(json: String, expected: String) async throws {
        let upstream = try Upstream { _ in .json(#"{"items":[]}"#) }
        let source = try openSource(
            url: upstream.url + "/x?after=old&b=1",
            pagination: "type: cursor\ncursor: {in: query, name: after}\ncursor_path: /next")
        _ = try await fetch(source, .token(json: json))
        #expect(upstream.targets == ["/x?b=1&after=\(expected)"])
    }

    @Test(arguments: ["0", #"" a\/b ""#, #"[123,"abc",null]"#, #"{"b": 1.0,"a":null}"#])
    func `a cursor in a body is its own text`(json: String) async throws {
        let upstream = try Upstream { _ in .json(#"{"items":[]}"#) }
        let source = try openSource(
            url: upstream.url, request: "body: {search: {after: null}}",
            pagination: "type: cursor\ncursor: {in: body, name: /search/after}\ncursor_path: /next")
        _ = try await fetch(source)
        _ = try await fetch(source, .token(json: json))
        let bodies = upstream.requests.map { String(decoding: $0.body, as: UTF8.self) }
        #expect(bodies == [#"{"search":{"after":null}}"#, #"{"search":{"after":\#(json)}}"#])
    }
}
