import Crawl
import HTTPServer
import Testing

@testable import CrawlHTTP

/// Who gets which credentials.
@Suite struct CredentialTests {
    static let secrets = ["TOKEN": "t0k+en/secret", "KEY": "k3y+/=", "USER": "ann", "PASS": "pa:ss wörd"]

    private static let request = """
        headers: {X-Api-Key: literal-key, X-Tenant: t1, Accept-Language: de, X-Env: "${KEY}"}
        query: {region: eu, sig: "${KEY}"}
        auth: {type: bearer, token: "${TOKEN}"}
        """

    private func open(_ upstream: Upstream, _ pagination: String = "type: single_page", path: String = "/a") throws -> (
        source: Source, opened: any PageSource
    ) {
        try openSource(
            url: upstream.url + path, request: Self.request, pagination: pagination, environment: Self.secrets)
    }

    private static func redirect(_ status: Int, to location: String) -> ServerResponse {
        .text("", status: status, headers: [("Location", location)])
    }

    private static let empty = ServerResponse.json(#"{"items":[]}"#)

    @Test(arguments: [
        ("{type: bearer, token: \"${TOKEN}\"}", "authorization", "Bearer t0k+en/secret"),
        ("{type: basic, username: \"${USER}\", password: \"${PASS}\"}", "authorization", "Basic YW5uOnBhOnNzIHfDtnJk"),
        ("{type: api_key, in: header, name: X-Key, value: \"k-${KEY}\"}", "x-key", "k-k3y+/="),
    ])
    func `credentials in a header`(auth: String, name: String, value: String) async throws {
        let upstream = try Upstream { _ in Self.empty }
        _ = try await fetch(
            try openSource(url: upstream.url, request: "auth: \(auth)", environment: Self.secrets))
        #expect(upstream.requests.first?.header(name) == value)
    }

    @Test func `credentials in the query are encoded, and shown nowhere`() async throws {
        let upstream = try Upstream { _ in Self.empty }
        let source = try openSource(
            url: upstream.url + "/a?x=1", request: "auth: {type: api_key, in: query, name: key, value: \"${KEY}\"}",
            environment: Self.secrets)
        let page = try await fetch(source)
        #expect(upstream.targets == ["/a?x=1&key=k3y%2B%2F%3D"])
        #expect(page.url == upstream.url + "/a?x=1")
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `a redirect on the same origin keeps them`(status: Int) async throws {
        let upstream = try Upstream { request in
            request.path == "/a" ? Self.redirect(status, to: "b/c?d=e#f") : Self.empty
        }
        let page = try await fetch(try open(upstream))
        #expect(upstream.targets == ["/a?region=eu&sig=k3y%2B%2F%3D", "/b/c?d=e&sig=k3y%2B%2F%3D"])
        #expect(upstream.requests.last?.header("authorization") == "Bearer t0k+en/secret")
        #expect(upstream.requests.last?.header("x-api-key") == "literal-key")
        #expect(page.url == upstream.url + "/b/c?d=e")
        #expect(page.cost.requests == 2)
    }

    @Test(arguments: [
        "%@/b", "//localhost:%p/b", "http://user:pass@localhost:%p/b", "https://127.0.0.1:%p/b", "file:///etc/passwd",
    ])
    func `a redirect to another origin is not followed`(location: String) async throws {
        let other = try Upstream { _ in Self.empty }
        let port = other.url.split(separator: ":").last.map(String.init) ?? ""
        let target = location.replacing("%@", with: other.url).replacing("%p", with: port)
        let upstream = try Upstream { _ in Self.redirect(302, to: target) }
        let error = try await failure(try open(upstream))
        #expect(error.kind == .rejected)
        #expect(other.requests.isEmpty)
        #expect(error.cost.requests == 1)
        #expect(!error.message.contains("pass@"))
    }

    @Test func `an allowed host gets none of them, and the own origin gets them again`() async throws {
        let upstream = try Upstream { request in
            switch request.path {
            case "/a":
                Self.redirect(
                    307, to: "http://localhost:\(request.header("host")?.split(separator: ":").last ?? "")/b?x=1")
            case "/b":
                Self.redirect(302, to: "http://127.0.0.1:\(request.header("host")?.split(separator: ":").last ?? "")/c")
            default: Self.empty
            }
        }
        let port = upstream.url.split(separator: ":").last ?? ""
        _ = try await fetch(try open(upstream, "type: single_page\nallow_hosts: [\"localhost:\(port)\"]"))
        #expect(upstream.targets == ["/a?region=eu&sig=k3y%2B%2F%3D", "/b?x=1", "/c?sig=k3y%2B%2F%3D"])
        let foreign = upstream.requests[1]
        let names = Set(foreign.headers.map { $0.name.lowercased() })
        #expect(names == ["host", "accept", "accept-encoding", "accept-language", "user-agent"])
        #expect(upstream.requests[2].header("x-api-key") == "literal-key")
    }

    @Test(arguments: [
        (301, "GET", ""), (302, "GET", ""), (303, "GET", ""), (307, "POST", #"{"a":1}"#), (308, "POST", #"{"a":1}"#),
    ])
    func `a redirected POST`(status: Int, method: String, body: String) async throws {
        let upstream = try Upstream { request in
            request.path == "/a" ? Self.redirect(status, to: "/b") : Self.empty
        }
        _ = try await fetch(try openSource(url: upstream.url + "/a", request: "body: {a: 1}"))
        let last = try #require(upstream.requests.last)
        #expect(last.method == method)
        #expect(String(decoding: last.body, as: UTF8.self) == body)
        #expect((last.header("content-type") != nil) == (method == "POST"))
    }

    @Test func `a body that holds a secret stays at home`() async throws {
        let upstream = try Upstream { request in
            Self.redirect(307, to: "http://localhost:\(request.header("host")?.split(separator: ":").last ?? "")/b")
        }
        let port = upstream.url.split(separator: ":").last ?? ""
        let source = try openSource(
            url: upstream.url, request: "body: {token: \"${TOKEN}\"}",
            pagination: "type: single_page\nallow_hosts: [\"localhost:\(port)\"]", environment: Self.secrets)
        let error = try await failure(source)
        #expect(error.kind == .rejected)
        #expect(upstream.requests.count == 1)
    }

    @Test func `a cursor in a header goes along to an allowed host`() async throws {
        let upstream = try Upstream { request in
            guard request.path == "/a" else { return Self.empty }
            return Self.redirect(
                307, to: "http://localhost:\(request.header("host")?.split(separator: ":").last ?? "")/b")
        }
        let port = upstream.url.split(separator: ":").last ?? ""
        let source = try openSource(
            url: upstream.url + "/a",
            pagination: """
                type: header_cursor
                cursor: {in: header, name: X-After}
                cursor_path: header:X-Next
                allow_hosts: ["localhost:\(port)"]
                """)
        _ = try await fetch(source, .token(json: "7"), page: 2)
        #expect(upstream.requests.map { $0.header("x-after") } == ["7", "7"])
    }

    @Test func `five redirects are followed, a sixth is not`() async throws {
        for (count, isFollowed) in [(5, true), (6, false)] {
            let upstream = try Upstream { request in
                let step = Int(request.path.dropFirst()) ?? 0
                return step < count ? Self.redirect(302, to: "/\(step + 1)") : Self.empty
            }
            let source = try openSource(url: upstream.url + "/0")
            if isFollowed {
                #expect(try await fetch(source).cost.requests == 6)
            } else {
                let error = try await failure(source)
                #expect(error.kind == .rejected)
                #expect(error.cost.requests == 6)
            }
        }
    }

    @Test func `a next link keeps credentials at home, and does not carry them`() async throws {
        let upstream = try Upstream { request in
            switch request.target {
            // This server builds its links from the whole request (cloudflare/serverless-registry #75).
            case "/a?region=eu&sig=k3y%2B%2F%3D":
                .json(##"{"items":[1],"next":"/a?page=2&s%69g=k3y%2B%2F%3D&region=eu#x"}"##)
            case "/a?page=2&region=eu&sig=k3y%2B%2F%3D": .json(#"{"items":[2]}"#)
            default: .text(request.target, status: 404)
            }
        }
        let source = try open(upstream, "type: json_link\nnext_path: /next")
        let crawled = try await crawl(source)
        #expect(crawled.items == [["1"], ["2"]])
        #expect(crawled.pages[0].signals.next == .url(upstream.url + "/a?page=2&region=eu#x"))
        #expect(upstream.requests.last?.header("authorization") == "Bearer t0k+en/secret")
    }

    @Test(arguments: [
        "http://evil.invalid/x", "//evil.invalid/x", "http://127.0.0.1:1/", "http://169.254.169.254/",
        "ftp://127.0.0.1/x",
    ])
    func `a next link to another origin is rejected when its page is asked for`(link: String) async throws {
        let upstream = try Upstream { _ in .json(#"{"items":[1],"next":"\#(link)"}"#) }
        let source = try open(upstream, "type: json_link\nnext_path: /next")
        let page = try await fetch(source)
        #expect(page.items.texts == ["1"])
        let error = try await failure(source, page.signals.next, page: 2)
        #expect(error.kind == .rejected)
        #expect(error.cost == Cost())
        #expect(upstream.requests.count == 1)
    }

    @Test func `parameters are merged into a next link only if asked for, and only those it lacks`() async throws {
        for (word, expected) in [("never", "/n?region=us"), ("missing", "/n?region=us&limit=5")] {
            let upstream = try Upstream { _ in Self.empty }
            let source = try openSource(
                url: upstream.url, request: "query: {region: eu}",
                pagination: """
                    type: json_link
                    next_path: /next
                    merge_params: \(word)
                    limit: {in: query, name: limit, value: 5}
                    """)
            _ = try await fetch(source, .url(upstream.url + "/n?region=us"), page: 2)
            #expect(upstream.targets == [expected])
        }
    }

    @Test func `a message shows no secret, even if the upstream does`() async throws {
        let upstream = try Upstream { request in
            .text("\(request.target) \(request.header("authorization") ?? "")", status: 500)
        }
        let message = try await failure(try open(upstream)).message
        #expect(
            message
                == #"products: GET \#(upstream.url)/a?region=eu answered 500 with "/a?region=eu&sig=*** Bearer ***""#)
    }

    @Test func `a secret at the edge of an excerpt leaves no part of itself`() async throws {
        let upstream = try Upstream { _ in .text(String(repeating: "x", count: 115) + #"t0k+en\/secret"#, status: 500) }
        let message = try await failure(try open(upstream)).message
        #expect(!message.contains("t0k"))
    }

    @Test func `an allowed host is not asked without encryption if the source is encrypted`() async throws {
        let upstream = try Upstream { _ in Self.empty }
        let port = upstream.url.split(separator: ":").last ?? ""
        let source = try openSource(
            url: "https://127.0.0.1:1/", pagination: "type: header_link\nallow_hosts: [\"localhost:\(port)\"]")
        let error = try await failure(source, .url(upstream.otherURL), page: 2)
        #expect(error.kind == .rejected)
        #expect(upstream.requests.isEmpty)
    }

    @Test func `a token file is read for each request`() async throws {
        let upstream = try Upstream { _ in Self.empty }
        let count = Counter()
        let secrets = SecretReader(environment: [:]) { _ in Array("token-\(count.increment())\r\n".utf8) }
        let sources = HTTPSources(secrets: secrets, now: { testTime })
        let yaml = """
            name: s
            request: {url: "\(upstream.url)", auth: {type: bearer, token: "${file:/t}"}}
            pagination: {type: single_page}
            extract: {items_path: /items}
            """
        let source = sources.source(try sources.read(Array(yaml.utf8), file: "s.yaml"))
        let opened = try source.open([:])
        for _ in 0..<2 { _ = try await fetch((source, opened)) }
        let tokens = upstream.requests.compactMap { $0.header("authorization") }
        #expect(Set(tokens).count == 2)
        #expect(tokens.allSatisfy { $0.hasPrefix("Bearer token-") && !$0.hasSuffix("\r") })
    }

    @Test func `the trace of a job is sent on`() async throws {
        let upstream = try Upstream { _ in Self.empty }
        let source = try open(upstream)
        let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        _ = try await source.opened.fetch(PageRequest(crawl: "c", page: 1, cursor: nil, traceparent: trace))
        #expect(upstream.requests.first?.header("traceparent") == trace)
    }
}
