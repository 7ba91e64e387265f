import CrawlTesting
import HTTP
import Testing

@Suite struct Cancellation {
    @Test func `aborts a transfer that is under way, and only that`() async throws {
        let upstream = try RawUpstream { request in request.target == "/stall" ? [.stall] : whole([1]) }
        defer { upstream.stop() }
        let client = HTTPClient()
        defer { client.shutdown() }
        let task = Task { await failure(client, HTTPRequest(url: upstream.url + "/stall")) }
        var requests = upstream.requests.makeAsyncIterator()
        _ = await requests.next()
        task.cancel()
        #expect(await task.value?.kind == .cancelled)
        #expect(try await client.send(HTTPRequest(url: upstream.url + "/")).body == [1])
    }

    @Test func `of a task before it sends keeps the request back`() async throws {
        let upstream = try RawUpstream { _ in whole([1]) }
        defer { upstream.stop() }
        let client = HTTPClient()
        defer { client.shutdown() }
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await failure(client, HTTPRequest(url: upstream.url))
        }
        #expect(await task.value?.kind == .cancelled)
        #expect(upstream.requestCount == 0)
    }

    @Test func `at any moment ends a request in one way`() async throws {
        let upstream = try RawUpstream { _ in whole([1]) }
        defer { upstream.stop() }
        let client = HTTPClient()
        defer { client.shutdown() }
        await withTaskGroup { group in
            for number in 0..<200 {
                group.addTask {
                    let task = Task { () throws(HTTPError) in try await client.send(HTTPRequest(url: upstream.url)) }
                    for _ in 0..<(number % 20) { await Task.yield() }
                    task.cancel()
                    do {
                        #expect(try await task.value.body == [1])
                    } catch {
                        #expect((error as? HTTPError)?.kind == .cancelled)
                    }
                }
            }
        }
    }

    @Test func `by shutdown ends what is under way and what comes later`() async throws {
        let upstream = try RawUpstream { _ in [.stall] }
        defer { upstream.stop() }
        let client = HTTPClient()
        let task = Task { await failure(client, HTTPRequest(url: upstream.url)) }
        var requests = upstream.requests.makeAsyncIterator()
        _ = await requests.next()
        client.shutdown()
        #expect(await task.value?.kind == .cancelled)
        #expect(await failure(client, HTTPRequest(url: upstream.url))?.kind == .cancelled)
        client.shutdown()
    }
}
