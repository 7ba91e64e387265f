import CrawlTesting
import HTTP
import HTTPServer
import Testing

@Suite struct `The server` {
    @Test func `tells path and query decoded, and the target as sent`() async throws {
        let server = try HTTPServer { request in
            let query = request.query.map { "\($0.name)=\($0.value)" }.joined(separator: "|")
            return .text("\(request.target)\n\(request.path)\n\(query)")
        }
        defer { server.stop() }
        let client = HTTPClient()
        defer { client.shutdown() }
        let target = "/a%2Fb+c//%C3%A9/%zz?q=1+2%2B3&q=&flag&x=a=b;c&%41=%FF"
        let text = try await client.send(HTTPRequest(url: "http://127.0.0.1:\(server.port)\(target)")).text
        #expect(text == "\(target)\n/a/b+c//\u{E9}/%zz\nq=1 2+3|q=|flag=|x=a=b;c|A=\u{FFFD}")
    }

    @Test func `hands over method, headers and body`() async throws {
        let server = try HTTPServer { request in
            let headers = request.headers.filter { $0.name.hasPrefix("X-") }.map(\.value).joined()
            return ServerResponse(
                status: 202, headers: [("X-Method", request.method), ("X-Seen", headers)], body: request.body)
        }
        defer { server.stop() }
        let client = HTTPClient()
        defer { client.shutdown() }
        let body = [UInt8](repeating: 7, count: 300_000)
        let response = try await client.send(
            HTTPRequest(
                url: "http://127.0.0.1:\(server.port)/", method: "PUT", headers: [("X-A", "1"), ("X-A", "2")],
                body: body))
        #expect(response.status == 202)
        #expect(response.headers.first("x-method") == "PUT")
        #expect(response.headers.first("x-seen") == "12")
        #expect(response.body == body)
    }

    @Test(arguments: [1000, 1001])
    func `refuses a body over the limit`(_ count: Int) async throws {
        let server = try HTTPServer(maxBodyBytes: 1000) { request in .text("\(request.body.count)") }
        defer { server.stop() }
        let client = HTTPClient()
        defer { client.shutdown() }
        let response = try await client.send(
            HTTPRequest(
                url: "http://127.0.0.1:\(server.port)/", method: "POST",
                body: [UInt8](repeating: 1, count: count)))
        #expect(response.status == (count == 1000 ? 200 : 413))
    }

    @Test func `answers 500 to a header that would break the response`() async throws {
        let server = try HTTPServer { _ in .text("x", headers: [("X-Bad", "a\r\nX-Evil: b")]) }
        defer { server.stop() }
        let client = HTTPClient()
        defer { client.shutdown() }
        let response = try await client.send(HTTPRequest(url: "http://127.0.0.1:\(server.port)/"))
        #expect(response.status == 500)
        #expect(response.headers.first("x-evil") == nil)
    }

    @Test func `answers many at once`() async throws {
        let server = try HTTPServer { request in .text(request.path) }
        defer { server.stop() }
        let client = HTTPClient()
        defer { client.shutdown() }
        try await withThrowingTaskGroup { group in
            for number in 1...200 {
                group.addTask {
                    let url = "http://127.0.0.1:\(server.port)/\(number)"
                    let response = try await client.send(HTTPRequest(url: url))
                    #expect(response.text == "/\(number)")
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func `survives what is not HTTP`() async throws {
        let server = try HTTPServer { request in .text(request.path) }
        defer { server.stop() }
        let client = HTTPClient()
        defer { client.shutdown() }
        _ = await failure(client, HTTPRequest(url: "https://127.0.0.1:\(server.port)/"))
        #expect(try await client.send(HTTPRequest(url: "http://127.0.0.1:\(server.port)/ok")).text == "/ok")
    }

    @Test func `does not start on a port that is taken or an address that is none`() async throws {
        let server = try HTTPServer { _ in .text("") }
        defer { server.stop() }
        #expect(refusal(address: "127.0.0.1", port: server.port) == .cannotListen)
        #expect(refusal(address: "localhost", port: 0) == .invalidAddress)
    }

    private func refusal(address: String, port: UInt16) -> HTTPServerError.Kind? {
        do throws(HTTPServerError) {
            try HTTPServer(address: address, port: port) { _ in .text("") }.stop()
            return nil
        } catch { return error.kind }
    }

    @Test func `listens on IPv6 and stops`() async throws {
        let server: HTTPServer
        do {
            server = try HTTPServer(address: "::1") { _ in .text("six") }
        } catch {
            try Test.cancel("no IPv6 here: \(error)")
        }
        let client = HTTPClient()
        defer { client.shutdown() }
        let url = "http://[::1]:\(server.port)/"
        #expect(try await client.send(HTTPRequest(url: url)).text == "six")
        server.stop()
        server.stop()
        #expect(await failure(client, HTTPRequest(url: url))?.kind == .connect)
    }
}
