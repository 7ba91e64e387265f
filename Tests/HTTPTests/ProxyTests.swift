import CrawlTesting
import Testing

@testable import HTTP

@Suite struct `A proxy from the environment` {
    private func client(_ environment: [String: String]) -> HTTPClient {
        HTTPClient(limits: .init(), userAgent: "pagehound", environment: environment)
    }

    @Test func `gets requests for http, the URL untouched`() async throws {
        let proxy = try RawUpstream { request in whole(Array(request.target.utf8)) }
        defer { proxy.stop() }
        let client = client(["HTTP_PROXY": proxy.url])
        defer { client.shutdown() }
        let url = "http://upstream.invalid/a%2Bb//c/../d?e;f=%20"
        #expect(try await client.send(HTTPRequest(url: url)).text == url)
    }

    @Test func `is asked for a tunnel to https, and its refusal is a failure to connect`() async throws {
        let proxy = try RawUpstream { _ in whole([], status: "403 Forbidden") }
        defer { proxy.stop() }
        let client = client(["https_proxy": "http://user:s3cret@127.0.0.1:\(proxy.port)"])
        defer { client.shutdown() }
        let error = await failure(client, HTTPRequest(url: "https://upstream.invalid/x"))
        #expect(error?.kind == .connect, "\(error?.message ?? "")")
        #expect(error?.message.contains("s3cret") == false)
        var requests = proxy.requests.makeAsyncIterator()
        let head = String(decoding: await requests.next()?.head ?? [], as: UTF8.self)
        #expect(head.hasPrefix("CONNECT upstream.invalid:443 HTTP/1.1\r\n"))
        #expect(head.contains("Proxy-Authorization: Basic "))
    }

    @Test func `is passed by for the hosts of NO_PROXY`() async throws {
        let upstream = try RawUpstream { request in whole(Array(request.target.utf8)) }
        defer { upstream.stop() }
        let client = client(["http_proxy": "http://127.0.0.1:1", "NO_PROXY": "example.com,127.0.0.1"])
        defer { client.shutdown() }
        #expect(try await client.send(HTTPRequest(url: upstream.url + "/direct")).text == "/direct")
    }

    @Test func `that cannot be found is told`() async throws {
        let client = client(["ALL_PROXY": "http://proxy.invalid:1"])
        defer { client.shutdown() }
        #expect(await failure(client, HTTPRequest(url: "http://127.0.0.1/"))?.kind == .resolve)
    }

    static let choices: [(environment: [String: String], http: String?, https: String?)] = [
        ([:], nil, nil),
        (["http_proxy": "a", "HTTP_PROXY": "b", "https_proxy": "c", "HTTPS_PROXY": "d"], "a", "c"),
        (["HTTP_PROXY": "b", "HTTPS_PROXY": "d", "ALL_PROXY": "e"], "b", "d"),
        (["ALL_PROXY": "e"], "e", "e"),
        (["http_proxy": "", "all_proxy": "e"], "e", "e"),
        (["HTTP_PROXY": "b", "REQUEST_METHOD": "GET"], nil, nil),
    ]

    @Test(arguments: choices.indices)
    func `is chosen as other programs choose it`(_ index: Int) {
        let (environment, http, https) = Self.choices[index]
        let network = NetworkEnvironment(environment)
        #expect(network.proxy(for: "HTTP://host/") == http)
        #expect(network.proxy(for: "HTTPS://host/") == https)
    }
}
