import Foundation
import Testing

@testable import HTTP

@Suite(.enabled(if: Command.openssl != nil, "the openssl command is not installed"))
struct `A TLS server` {
    @Test func `with a certificate of its own making is refused`() async throws {
        let server = try TLSServer(names: "IP:127.0.0.1")
        defer { server.stop() }
        let client = HTTPClient()
        defer { client.shutdown() }
        let error = await failure(client, HTTPRequest(url: server.url))
        #expect(error?.kind == .tlsVerification, "\(error?.message ?? "")")
    }

    @Test(arguments: ["SSL_CERT_FILE", "CURL_CA_BUNDLE"])
    func `is trusted if the environment says so`(_ variable: String) async throws {
        let server = try TLSServer(names: "IP:127.0.0.1")
        defer { server.stop() }
        let client = HTTPClient(limits: .init(), userAgent: "", environment: [variable: server.certificate])
        defer { client.shutdown() }
        #expect(try await client.send(HTTPRequest(url: server.url)).status == 200)
    }

    @Test func `for another host is refused`() async throws {
        let server = try TLSServer(names: "DNS:elsewhere.invalid")
        defer { server.stop() }
        let client = HTTPClient(limits: .init(), userAgent: "", environment: ["SSL_CERT_FILE": server.certificate])
        defer { client.shutdown() }
        let error = await failure(client, HTTPRequest(url: server.url))
        #expect(error?.kind == .tlsVerification, "\(error?.message ?? "")")
    }
}

@Suite(.enabled(if: Command.node != nil, "the node command, which brings a server for HTTP/2, is not installed"))
struct `An HTTP2 server` {
    @Test func `gets many requests over few connections`() async throws {
        let server = try TLSServer(names: "IP:127.0.0.1", http2: true)
        defer { server.stop() }
        let client = HTTPClient(limits: .init(), userAgent: "", environment: ["SSL_CERT_FILE": server.certificate])
        defer { client.shutdown() }
        try await withThrowingTaskGroup { group in
            for number in 1...50 {
                group.addTask { [url = server.url] in
                    let target = "/\(number)//a/../b?c=%2B"
                    let response = try await client.send(HTTPRequest(url: url + target))
                    #expect(response.text == target)
                    #expect(response.headers.first("x-version") == "2.0")
                    #expect(response.headers.first("x-connections") == "1")
                }
            }
            try await group.waitForAll()
        }
    }

    @Test(arguments: [
        ("/reset", HTTPError.Kind.reset), ("/lost", .truncated), ("/gzip-cut", .truncated),
    ])
    func `has its failures told by their kind`(_ target: String, _ kind: HTTPError.Kind) async throws {
        let server = try TLSServer(names: "IP:127.0.0.1", http2: true)
        defer { server.stop() }
        let client = HTTPClient(limits: .init(), userAgent: "", environment: ["SSL_CERT_FILE": server.certificate])
        defer { client.shutdown() }
        let error = await failure(client, HTTPRequest(url: server.url + target))
        #expect(error?.kind == kind, "\(error?.message ?? "")")
    }
}
