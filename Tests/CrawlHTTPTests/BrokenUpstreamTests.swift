import Crawl
import CrawlTesting
import HTTPServer
import Testing

@testable import CrawlHTTP

/// Upstreams that break HTTP itself.
@Suite struct BrokenUpstreamTests {
    /// Asks an upstream that answers every request with a script, for a failure.
    private func failure(
        of script: [RawUpstream.Action], more: String = "", cursor: PageCursor? = nil
    ) async throws -> SourceError {
        let upstream = try RawUpstream { _ in script }
        defer { upstream.stop() }
        return try await CrawlHTTPTests.failure(try openSource(url: upstream.url + "/", more: more), cursor)
    }

    private static let cut: [(name: String, script: [RawUpstream.Action])] = [
        (
            "a body shorter than its Content-Length",
            [.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"items\":[1]}"), .close]
        ),
        ("a reset in the body", [.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"items\":[1]}"), .reset]),
        (
            "chunks without an end",
            [.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nd\r\n{\"items\":[1]}\r\n"), .close]
        ),
        ("no response", [.close]), ("a reset before the response", [.reset]),
        ("half a header", [.send("HTTP/1.1 200 OK\r\nConte"), .close]),
        ("gzip that is none", [.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}")]),
        ("no HTTP at all", [.send("SSH-2.0-OpenSSH_9.9\r\n\r\n"), .close]),
    ]

    @Test(arguments: cut.indices)
    func `what was cut off is unavailable, never a page`(index: Int) async throws {
        let error = try await failure(of: Self.cut[index].script)
        #expect(error.kind == .unavailable, "\(Self.cut[index].name): \(error)")
        #expect(error.status == nil)
        #expect(error.cost.requests == 1)
    }

    @Test func `an empty body is a page only if it is known to be whole`() async throws {
        let cut = try await failure(of: [.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"), .close])
        #expect(cut.kind == .malformed)
        for head in ["200 OK\r\nContent-Length: 0", "204 No Content", "200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0"] {
            let upstream = try RawUpstream { _ in [.send("HTTP/1.1 \(head)\r\n\r\n"), .close] }
            defer { upstream.stop() }
            #expect(try await fetch(try openSource(url: upstream.url + "/")).items.isEmpty)
        }
    }

    @Test func `silence is unavailable after the limit`() async throws {
        let error = try await failure(of: [.stall], more: "limits: {idle_timeout: 50ms}")
        #expect(error.kind == .unavailable)
    }

    @Test func `a body without end is malformed at the cap`() async throws {
        let script: [RawUpstream.Action] = [
            .send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"items\":[\""),
            .sendForever(Array(repeating: 0x78, count: 4_096)),
        ]
        let error = try await failure(of: script, more: "limits: {max_body: 64KiB}")
        #expect(error.kind == .malformed)
    }

    @Test func `headers without end are malformed`() async throws {
        let script: [RawUpstream.Action] = [
            .send("HTTP/1.1 200 OK\r\n"), .sendForever(Array("X-Filler: 0123456789\r\n".utf8)),
        ]
        let error = try await failure(of: script)
        #expect(error.kind == .malformed)
    }

    @Test func `a redirect that would split a header is rejected`() async throws {
        let error = try await failure(of: [
            .send("HTTP/1.1 302 Found\r\nLocation: /a\u{1}b\r\nContent-Length: 0\r\n\r\n")
        ])
        #expect(error.kind == .rejected)
        #expect(error.status == 302)
    }

    @Test func `a certificate that is not trusted is rejected`() async throws {
        // A plain server cannot complete a handshake: that is no question of trust, and worth another try.
        let upstream = try Upstream { _ in .json("[]") }
        let url = upstream.url.replacing("http://", with: "https://")
        #expect(try await CrawlHTTPTests.failure(try openSource(url: url)).kind == .unavailable)
        #expect(SourceError.Class(.tlsVerification) == .rejected)
    }

    @Test func `a link in the second of two header lines, as the bytes come`() async throws {
        let upstream = try RawUpstream { _ in
            [
                .send(
                    "HTTP/1.1 200 OK\r\nlink: </a>; rel=\"prev\"\r\nLINK: <https://x/é?ids=1,2>; Rel=Next\r\nContent-Length: 2\r\n\r\n[]"
                )
            ]
        }
        defer { upstream.stop() }
        let page = try await fetch(try openSource(url: upstream.url + "/", pagination: "type: header_link", items: ""))
        #expect(page.signals.next == .url("https://x/%C3%A9?ids=1,2"))
    }

    @Test func `the request line is what was meant, byte for byte`() async throws {
        let upstream = try RawUpstream { _ in [.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]")] }
        defer { upstream.stop() }
        let source = try openSource(url: upstream.url + "/", pagination: "type: header_link", items: "")
        let target = "/a//b/%2e%2F;v=1?x=ab+cd/e==&y=%2b&&z;'()*!$@:,[]"
        _ = try await fetch(source, .url(upstream.url + target + "#fragment"), page: 2)
        var requests = upstream.requests.makeAsyncIterator()
        #expect(await requests.next()?.target == target)
    }
}
