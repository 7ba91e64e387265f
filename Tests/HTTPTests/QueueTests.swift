import CrawlTesting
import HTTP
import Testing

@Suite struct `A request that waits for a connection` {
    @Test func `gets the one that a cancelled request leaves`() async throws {
        let upstream = try RawUpstream { request in request.target == "/stall" ? [.stall] : whole([1]) }
        defer { upstream.stop() }
        let client = HTTPClient(limits: HTTPLimits(maxConnectionsPerHost: 1))
        defer { client.shutdown() }
        let stalled = Task { await failure(client, HTTPRequest(url: upstream.url + "/stall")) }
        var requests = upstream.requests.makeAsyncIterator()
        _ = await requests.next()
        async let waiting = client.send(HTTPRequest(url: upstream.url + "/next"))
        stalled.cancel()
        #expect(try await waiting.body == [1])
        #expect(await stalled.value?.kind == .cancelled)
    }

    @Test func `waits no longer than the total timeout`() async throws {
        let upstream = try RawUpstream { _ in [.stall] }
        defer { upstream.stop() }
        let client = HTTPClient(limits: HTTPLimits(totalTimeout: .milliseconds(300), maxConnectionsPerHost: 1))
        defer { client.shutdown() }
        await withTaskGroup { group in
            for _ in 1...5 {
                group.addTask {
                    #expect(await failure(client, HTTPRequest(url: upstream.url))?.kind == .timeout)
                }
            }
        }
    }

    @Test func `does not count as idle`() async throws {
        // Each answer takes a good part of the idle timeout, and all of them together more than it.
        let upstream = try RawUpstream { _ in
            [.drip(Array("HTTP/1".utf8), pause: .milliseconds(100)), .send(".1 200 OK\r\nContent-Length: 0\r\n\r\n")]
        }
        defer { upstream.stop() }
        let client = HTTPClient(limits: HTTPLimits(idleTimeout: .seconds(2), maxConnectionsPerHost: 1))
        defer { client.shutdown() }
        try await withThrowingTaskGroup { group in
            for _ in 1...5 {
                group.addTask {
                    let response = try await client.send(HTTPRequest(url: upstream.url))
                    #expect(response.status == 200)
                }
            }
            try await group.waitForAll()
        }
        #expect(upstream.connectionCount == 1)
    }
}
