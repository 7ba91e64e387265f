import HTTP
import HTTPServer
import Synchronization
import Testing

@Suite struct `An exchange` {
    @Test func `a GET brings status, headers and body`() async throws {
        let server = try HTTPServer { request in
            .json(#"{"target":"\#(request.target)"}"#, status: 201, headers: [("X-One", "1"), ("x-two", "2")])
        }
        defer { server.stop() }
        let client = HTTPClient()
        let response = try await client.send(HTTPRequest(url: "http://127.0.0.1:\(server.port)/a?b=c"))
        #expect(response.status == 201)
        #expect(String(decoding: response.body, as: UTF8.self) == #"{"target":"/a?b=c"}"#)
        #expect(response.wireBytes == 19)
        #expect(response.body.capacity >= response.body.count + 64)
        #expect(response.headers.first("content-type") == "application/json")
        #expect(response.headers.lines.map(\.name).filter { $0.lowercased().hasPrefix("x-") } == ["X-One", "x-two"])
        client.shutdown()
    }
}
