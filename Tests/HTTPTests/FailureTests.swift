import CrawlTesting
import Foundation
import HTTP
import HTTPServer
import Testing

@Suite struct Failures {
    static let head = "HTTP/1.1 200 OK\r\n"

    /// What the upstream does, and what it is called.
    static let scripts: [(name: String, script: [RawUpstream.Action], kind: HTTPError.Kind)] = [
        ("body cut by FIN", [.send(head + "Content-Length: 9\r\n\r\n[1,2"), .close], .truncated),
        ("body cut before its first byte", [.send(head + "Content-Length: 9\r\n\r\n"), .close], .truncated),
        (
            "chunked body cut in a chunk", [.send(head + "Transfer-Encoding: chunked\r\n\r\n5\r\n[1"), .close],
            .truncated
        ),
        (
            "chunked body cut between chunks", [.send(head + "Transfer-Encoding: chunked\r\n\r\n2\r\n[1\r\n"), .close],
            .truncated
        ),
        (
            "chunked body without the last line", [.send(head + "Transfer-Encoding: chunked\r\n\r\n0\r\n"), .close],
            .truncated
        ),
        ("bad chunk size", [.send(head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n[1]\r\n0\r\n\r\n")], .truncated),
        ("chunk without end", [.send(head + "Transfer-Encoding: chunked\r\n\r\n2\r\n[1]]]]\r\n0\r\n\r\n")], .truncated),
        ("lengths that differ", [.send(head + "Content-Length: 3\r\nContent-Length: 2\r\n\r\n[1]")], .truncated),
        ("length with a sign", [.send(head + "Content-Length: -2\r\n\r\n[]"), .close], .other),
        ("closed without a word", [.close], .reset),
        ("reset without a word", [.reset], .reset),
        ("header section cut", [.send(head + "Content-Le"), .close], .reset),
        ("header section cut after a line", [.send(head + "Content-Type: a/b\r\n"), .close], .reset),
        ("header without colon", [.send(head + "nonsense\r\nContent-Length: 0\r\n\r\n")], .other),
        (
            "transfer coding that nobody asked for",
            [.send(head + "Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n[]\r\n0\r\n\r\n")], .badEncoding
        ),
        ("not HTTP", [.send("SSH-2.0-OpenSSH_9.2\r\n"), .close], .other),
        ("HTTP/0.9", [.send("<html></html>"), .close], .other),
        (
            "endless header line", [.send(head + "X: "), .sendForever(Array(repeating: 0x78, count: 4096))],
            .headersTooLarge
        ),
        ("endless headers", [.send(head), .sendForever(Array("X-Y: z\r\n".utf8))], .headersTooLarge),
        (
            "endless interim responses", [.sendForever(Array("HTTP/1.1 103 Early\r\nA: b\r\n\r\n".utf8))],
            .headersTooLarge
        ),
    ]

    @Test(arguments: scripts.indices)
    func `are told by their kind`(_ index: Int) async throws {
        let (name, script, kind) = Failures.scripts[index]
        let error = try await failure(of: script)
        #expect(error?.kind == kind, "\(name): \(error?.message ?? "")")
    }

    @Test func `a reset in mid-body is a reset or a cut`() async throws {
        // The kernel may discard what was sent before a reset.
        let error = try await failure(of: [.send(Failures.head + "Content-Length: 9\r\n\r\n[1,2"), .reset])
        #expect([.reset, .truncated].contains(error?.kind))
    }

    @Test(arguments: [1000, 1001])
    func `a body at the limit passes, one byte more does not`(_ count: Int) async throws {
        let body = [UInt8](repeating: 0x20, count: count)
        let limits = HTTPLimits(maxBodyBytes: 1000)
        let endings = [whole(body), [.send(Failures.head + "\r\n"), .send(body), .close]]
        for script in endings {
            if count == 1000 {
                #expect(try await answer(of: script, limits: limits).body == body)
            } else {
                #expect(try await failure(of: script, limits: limits)?.kind == .bodyTooLarge)
            }
        }
    }

    @Test func `an endless body is too large`() async throws {
        let endless: [RawUpstream.Action] = [
            .send(Failures.head + "\r\n"), .sendForever(Array(repeating: 0x20, count: 60_000)),
        ]
        #expect(try await failure(of: endless, limits: HTTPLimits(maxBodyBytes: 3 << 20))?.kind == .bodyTooLarge)
    }

    static let silences: [[RawUpstream.Action]] = [
        [.stall],
        [.send("HTTP/1.1 200"), .stall],
        [.send(head + "Content-Length: 9\r\n\r\n[1,2"), .stall],
    ]

    @Test(arguments: silences.indices)
    func `silence ends by the idle timeout`(_ index: Int) async throws {
        let error = try await failure(
            of: Failures.silences[index], limits: HTTPLimits(idleTimeout: .milliseconds(200)))
        #expect(error?.kind == .timeout)
        #expect(error?.message.contains("no byte for") == true)
    }

    @Test func `silence on a kept connection ends by the idle timeout`() async throws {
        let upstream = try RawUpstream { request in request.number == 1 ? whole([1]) : [.stall] }
        defer { upstream.stop() }
        let client = HTTPClient(limits: HTTPLimits(idleTimeout: .milliseconds(200)))
        defer { client.shutdown() }
        #expect(try await client.send(HTTPRequest(url: upstream.url)).body == [1])
        #expect(await failure(client, HTTPRequest(url: upstream.url))?.kind == .timeout)
        #expect(upstream.connectionCount == 1)
    }

    @Test func `a slow drip is not silence, and ends by the total timeout`() async throws {
        let drip = RawUpstream.Action.drip(Array(repeating: 0x20, count: 1000), pause: .milliseconds(50))
        let error = try await failure(
            of: [.send(Failures.head + "Content-Length: 1000\r\n\r\n"), drip],
            limits: HTTPLimits(idleTimeout: .seconds(20), totalTimeout: .milliseconds(400)))
        #expect(error?.kind == .timeout)
        #expect(error?.message.contains("no byte for") == false)
    }

    @Test func `a closed port is a failure to connect`() async throws {
        let upstream = try RawUpstream { _ in [.close] }
        upstream.stop()
        let client = HTTPClient()
        defer { client.shutdown() }
        #expect(await failure(client, HTTPRequest(url: upstream.url))?.kind == .connect)
    }

    @Test func `an unknown host is a failure to resolve`() async throws {
        let client = HTTPClient()
        defer { client.shutdown() }
        let error = await failure(client, HTTPRequest(url: "http://nowhere.invalid/"))
        #expect(error?.kind == .resolve)
    }

    @Test func `a TLS handshake without an answer ends by the connect timeout`() async throws {
        let upstream = try RawUpstream { _ in [] }
        defer { upstream.stop() }
        let client = HTTPClient(limits: HTTPLimits(connectTimeout: .milliseconds(300)))
        defer { client.shutdown() }
        let error = await failure(client, HTTPRequest(url: "https://127.0.0.1:\(upstream.port)/"))
        #expect(error?.kind == .timeout)
    }

    @Test func `a server without TLS is a TLS failure`() async throws {
        let server = try HTTPServer { _ in .text("hello") }
        defer { server.stop() }
        let client = HTTPClient()
        defer { client.shutdown() }
        #expect(await failure(client, HTTPRequest(url: "https://127.0.0.1:\(server.port)/"))?.kind == .tls)
    }

    @Test(arguments: [
        "", "127.0.0.1/x", "//127.0.0.1/x", "ftp://127.0.0.1/", "file:///etc/passwd", "http://", "http:///127.0.0.1/",
        "http://:80/", "http://a@b@127.0.0.1/", "http://a\\@127.0.0.1/",
        "http:/127.0.0.1/",
        "http://127.0.0.1:99999/", "http://127.0.0.1/a b", "http://127.0.0.1/\r\nX: y", "http://127.0.0.1/\u{0}",
    ])
    func `an unusable URL is never sent`(_ url: String) async throws {
        let client = HTTPClient()
        defer { client.shutdown() }
        #expect(await failure(client, HTTPRequest(url: url))?.kind == .invalidURL)
    }

    @Test func `a line break in a header or method is never sent`() async throws {
        let upstream = try RawUpstream { _ in whole([]) }
        defer { upstream.stop() }
        let client = HTTPClient()
        defer { client.shutdown() }
        let requests = [
            HTTPRequest(url: upstream.url, headers: [("X", "a\r\nAuthorization: b")]),
            HTTPRequest(url: upstream.url, headers: [("X", "a\u{0}")]),
            HTTPRequest(url: upstream.url, headers: [("X: y\r\nZ", "a")]),
            HTTPRequest(url: upstream.url, method: "GET / HTTP/1.1\r\nX: y\r\n\r\nGET"),
            HTTPRequest(url: upstream.url, method: ""),
        ]
        for request in requests { #expect(await failure(client, request)?.kind == .invalidURL) }
        #expect(upstream.requestCount == 0)
    }

    @Test func `tell the URL without its secrets`() async throws {
        let upstream = try RawUpstream { _ in [.close] }
        defer { upstream.stop() }
        let client = HTTPClient()
        defer { client.shutdown() }
        let url = "http://user:pass@127.0.0.1:\(upstream.port)/path?api_key=s3cret#f"
        let error = await failure(client, HTTPRequest(url: url))
        #expect(error?.message.hasPrefix("GET http://127.0.0.1:\(upstream.port)/path: ") == true)
        let broken = await failure(client, HTTPRequest(url: "http://u:s3cret@h /?k=s3cret"))
        #expect(broken?.kind == .invalidURL)
        #expect(broken?.message.contains("s3cret") == false)
    }
}
