import CrawlTesting
import HTTP
import HTTPServer
import Testing

@Suite struct `An exchange` {
    @Test func `brings status, headers in their order and the body`() async throws {
        let server = try HTTPServer { request in
            .json(#"{"target":"\#(request.target)"}"#, status: 201, headers: [("X-One", "1"), ("x-two", "2")])
        }
        defer { server.stop() }
        let client = HTTPClient()
        defer { client.shutdown() }
        let url = "http://127.0.0.1:\(server.port)/a?b=c"
        let response = try await client.send(HTTPRequest(url: url))
        #expect(response.status == 201)
        #expect(response.text == #"{"target":"/a?b=c"}"#)
        #expect(response.wireBytes == 19)
        #expect(response.url == url)
        #expect(response.body.capacity >= response.body.count + 64)
        #expect(response.headers.first("content-type") == "application/json")
        #expect(response.headers.lines.map(\.name).filter { $0.lowercased().hasPrefix("x-") } == ["X-One", "x-two"])
    }

    @Test func `keeps its connection for the next`() async throws {
        let upstream = try RawUpstream { request in whole(Array("\(request.number)".utf8)) }
        defer { upstream.stop() }
        let client = HTTPClient()
        defer { client.shutdown() }
        for number in 1...50 {
            #expect(try await client.send(HTTPRequest(url: upstream.url)).text == "\(number)")
        }
        #expect(upstream.connectionCount == 1)
    }

    @Test func `is repeated on a new connection if the kept one was closed`() async throws {
        let upstream = try RawUpstream { request in whole([1]) + [.close] }
        defer { upstream.stop() }
        let client = HTTPClient()
        defer { client.shutdown() }
        for _ in 1...10 { #expect(try await client.send(HTTPRequest(url: upstream.url)).body == [1]) }
        #expect(upstream.connectionCount == 10)
    }

    @Test func `does not take bytes that came with a response for the next response`() async throws {
        let one = Array("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n".utf8)
        let upstream = try RawUpstream { request in
            request.target == "/evil" ? [.send(one + [1] + one + [2])] : [.send(one + [3])]
        }
        defer { upstream.stop() }
        let client = HTTPClient()
        defer { client.shutdown() }
        for _ in 1...10 {
            #expect(try await client.send(HTTPRequest(url: upstream.url + "/evil")).body == [1])
            #expect(try await client.send(HTTPRequest(url: upstream.url + "/good")).body == [3])
        }
    }

    @Test func `shares the connections with 199 others`() async throws {
        let upstream = try RawUpstream { request in whole(Array(request.target.utf8)) }
        defer { upstream.stop() }
        let client = HTTPClient(limits: HTTPLimits(maxConnectionsPerHost: 8))
        defer { client.shutdown() }
        try await withThrowingTaskGroup { group in
            for number in 1...200 {
                group.addTask {
                    let response = try await client.send(HTTPRequest(url: "\(upstream.url)/\(number)"))
                    #expect(response.text == "/\(number)")
                }
            }
            try await group.waitForAll()
        }
        #expect(upstream.requestCount == 200)
        #expect(upstream.connectionCount <= 8)
    }

    @Test(arguments: [
        "/", "/a%2Bb%2F", "/a;b=c,d", "//x//y", "/a/../b/./c", "/?q=%2B+;&q=a%20b&&=%", "/?", "/?x=/../y", "/%zz",
        "/a|b[c]{d}^`\"<>", "?no=path",
    ])
    func `sends the URL as it is`(_ target: String) async throws {
        let upstream = try RawUpstream { request in whole(Array(request.target.utf8)) }
        defer { upstream.stop() }
        let client = HTTPClient()
        defer { client.shutdown() }
        let response = try await client.send(HTTPRequest(url: upstream.url + target + "#fragment"))
        #expect(response.text == (target.hasPrefix("/") ? target : "/" + target))
    }

    @Test func `sends method, headers and body as they are`() async throws {
        let upstream = try RawUpstream { request in whole(request.head + request.body) }
        defer { upstream.stop() }
        let client = HTTPClient(userAgent: "crawler/1.0")
        defer { client.shutdown() }
        let body = #"{"query":"{ items }"}"#
        let sent = try await client.send(
            HTTPRequest(
                url: upstream.url + "/graphql", method: "PATCH",
                headers: [("X-B", "2"), ("x-a", "1"), ("X-Empty", ""), ("Cookie", "a=b"), ("Cookie", "c=d")],
                body: Array(body.utf8))
        ).text
        let lines = sent.split(separator: "\r\n", omittingEmptySubsequences: false).map(String.init)
        #expect(lines.first == "PATCH /graphql HTTP/1.1")
        #expect(lines.last == body)
        #expect(lines.filter { $0.lowercased().hasPrefix("x-") } == ["X-B: 2", "x-a: 1", "X-Empty:"])
        #expect(lines.filter { $0.hasPrefix("Cookie") } == ["Cookie: a=b", "Cookie: c=d"])
        #expect(lines.contains("Content-Length: \(body.utf8.count)"))
        #expect(lines.contains("User-Agent: crawler/1.0"))
        #expect(!lines.contains { $0.lowercased().hasPrefix("content-type") })
    }

    @Test(arguments: ["POST", "PUT", "DELETE", "GET"])
    func `may send an empty body`(_ method: String) async throws {
        let upstream = try RawUpstream { request in whole(request.head) }
        defer { upstream.stop() }
        let client = HTTPClient()
        defer { client.shutdown() }
        let sent = try await client.send(HTTPRequest(url: upstream.url, method: method, body: [])).text
        #expect(sent.hasPrefix("\(method) / HTTP/1.1\r\n"))
        #expect(sent.contains("Content-Length: 0\r\n"))
    }

    @Test func `of HEAD has no body, whatever its length says`() async throws {
        let server = try HTTPServer { _ in .text("hello") }
        defer { server.stop() }
        let client = HTTPClient()
        defer { client.shutdown() }
        let url = "http://127.0.0.1:\(server.port)/"
        let head = try await client.send(HTTPRequest(url: url, method: "HEAD"))
        #expect(head.body.isEmpty && head.headers.first("Content-Length") == "5")
        #expect(try await client.send(HTTPRequest(url: url)).text == "hello")
    }

    @Test func `does not follow a redirect`() async throws {
        let response = try await answer(of: whole([7], headers: "Location: /other\r\n", status: "302 Found"))
        #expect(response.status == 302)
        #expect(response.headers.first("location") == "/other")
        #expect(response.body == [7])
    }

    @Test func `takes a body that ends with the connection`() async throws {
        #expect(try await answer(of: [.send("HTTP/1.0 200 OK\r\n\r\nall"), .close]).text == "all")
    }
}
