import Crawl
import HTTP

/// One request and the redirects that it leads to.
///
/// Every hop is checked before it is sent: only the source's own origin and the hosts it allows are asked, and only
/// its own origin gets what the source file configures to prove who asks.
struct Exchange: Sendable {
    /// The answer at the end of the redirects.
    struct Answer: Sendable {
        var response: HTTPResponse
        /// The URL that answered, without the credentials of the query.
        var url: URLReference
        var cost: Cost
    }

    static let maxRedirects = 5

    let client: HTTPClient
    let allowHosts: [AllowedHost]
    let failure: FailureReport

    /// - Throws: every answer that is not a success.
    func run(_ first: PreparedRequest) async throws(SourceError) -> Answer {
        var request = first
        var cost = Cost()
        while true {
            let origin = try admit(request, cost)
            cost.requests += 1
            let response: HTTPResponse
            do {
                response = try await client.send(request.request(to: origin))
            } catch {
                throw failure.make(error, request, cost: cost)
            }
            cost.bytes += response.wireBytes
            switch StatusClass(response) {
            case .success: return Answer(response: response, url: request.url, cost: cost)
            case .error(let kind): throw failure.make(kind, request, response, cost: cost)
            case .redirect(let location):
                guard cost.requests <= Self.maxRedirects else {
                    let reason = "is redirected more than \(Self.maxRedirects) times"
                    throw failure.make(.rejected, request, reason, status: response.status, cost: cost)
                }
                guard let target = PercentEncoding.repair(location) else {
                    let reason = "is redirected to a URL with a control character"
                    throw failure.make(.rejected, request, reason, status: response.status, cost: cost)
                }
                request.follow(request.url.resolving(URLReference(target)), status: response.status)
            }
        }
    }

    private func admit(_ request: PreparedRequest, _ cost: Cost) throws(SourceError) -> Origin {
        guard let origin = Origin(request.url) else {
            throw failure.make(.rejected, request, "is not an http or https URL with a plain host", cost: cost)
        }
        if origin == request.home { return origin }
        let isDowngrade = request.home.scheme == "https" && origin.scheme == "http"
        guard !isDowngrade, allowHosts.contains(where: { $0.matches(origin) }) else {
            let reason =
                "leads away from \(request.home.scheme)://\(request.home.authority) to \(origin.scheme)://"
                + "\(origin.authority)" + (isDowngrade ? ", which is not encrypted" : ", which is not in allow_hosts")
            throw failure.make(.rejected, request, reason, cost: cost)
        }
        guard !request.bodyHoldsCredentials else {
            throw failure.make(.rejected, request, "would send a body with credentials to another host", cost: cost)
        }
        return origin
    }
}

extension PreparedRequest {
    /// RFC 9110, section 15.4: 303 turns every request into a GET, 301 and 302 a POST; 307 and 308 none.
    mutating func follow(_ target: URLReference, status: Int) {
        url = target
        guard status == 303 || (status <= 302 && method == "POST"), method != "HEAD" else { return }
        method = "GET"
        body = nil
        bodyHoldsCredentials = false
        headers.removeAll { $0.name.lowercased().hasPrefix("content-") }
    }
}

/// Makes errors that name the source, the URL and the status, and show no secret.
struct FailureReport: Sendable {
    let source: String
    let redaction: Redaction
    let now: @Sendable () -> Timestamp

    func make(
        _ kind: SourceError.Class, _ request: PreparedRequest, _ reason: String, status: Int? = nil, cost: Cost
    ) -> SourceError {
        let message = "\(source): \(request.method) \(redaction.url(request.url)) \(redaction.text(reason))"
        return SourceError(kind, message, status: status, cost: cost)
    }

    /// A request that got no response.
    func make(_ error: HTTPError, _ request: PreparedRequest, cost: Cost) -> SourceError {
        // The client names the URL too, without the query that tells one page from another.
        var url = request.url
        (url.query, url.fragment) = (nil, nil)
        let prefix = "\(request.method) \(url.text): "
        let cause = error.message.hasPrefix(prefix) ? String(error.message.dropFirst(prefix.count)) : error.message
        return make(SourceError.Class(error.kind), request, "failed: \(cause)", cost: cost)
    }

    /// An error that the status of a response tells.
    func make(
        _ kind: SourceError.Class, _ request: PreparedRequest, _ response: HTTPResponse, cost: Cost
    ) -> SourceError {
        let reason = "answered \(response.status) with \(redaction.excerpt(response.body))"
        var error = make(kind, request, reason, status: response.status, cost: cost)
        switch kind {
        case .throttled, .notReady, .unavailable: error.retryAfter = RequestedWait.read(response.headers, now: now())
        case .unauthorized, .rejected, .malformed: break
        }
        return error
    }
}
