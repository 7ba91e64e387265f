import CrawlTesting
import HTTP
import Testing

/// The error of a request that must fail.
func failure(_ client: HTTPClient, _ request: HTTPRequest, _ location: SourceLocation = #_sourceLocation) async
    -> HTTPError?
{
    do throws(HTTPError) {
        let response = try await client.send(request)
        Issue.record(
            "status \(response.status) and \(response.body.count) bytes instead of a failure", sourceLocation: location)
        return nil
    } catch { return error }
}

/// Asks an upstream that answers every request with a script, for a failure.
func failure(
    of script: [RawUpstream.Action], limits: HTTPLimits = .init(), _ location: SourceLocation = #_sourceLocation
) async throws -> HTTPError? {
    let upstream = try RawUpstream { _ in script }
    defer { upstream.stop() }
    let client = HTTPClient(limits: limits)
    defer { client.shutdown() }
    return await failure(client, HTTPRequest(url: upstream.url + "/"), location)
}

/// Asks an upstream that answers every request with a script, for its answer.
func answer(
    of script: [RawUpstream.Action], _ request: (String) -> HTTPRequest = { HTTPRequest(url: $0) },
    limits: HTTPLimits = .init()
) async throws -> HTTPResponse {
    let upstream = try RawUpstream { _ in script }
    defer { upstream.stop() }
    let client = HTTPClient(limits: limits)
    defer { client.shutdown() }
    return try await client.send(request(upstream.url + "/"))
}

/// A response with its `Content-Length`.
func whole(_ body: [UInt8], headers: String = "", status: String = "200 OK") -> [RawUpstream.Action] {
    [.send("HTTP/1.1 \(status)\r\n\(headers)Content-Length: \(body.count)\r\n\r\n"), .send(body)]
}

extension HTTPResponse {
    var text: String { String(decoding: body, as: UTF8.self) }
}
