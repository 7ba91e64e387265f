import Crawl
import HTTP

/// What a response is, by its status alone: the content type and the body come later.
enum StatusClass: Sendable, Hashable {
    case success
    /// Another place has the answer.
    case redirect(location: String)
    case error(SourceError.Class)

    init(_ response: HTTPResponse) {
        let asksToWait = response.headers.first("retry-after") != nil
        switch response.status {
        case 202 where asksToWait, 204 where asksToWait: self = .error(.notReady)
        case 200...299: self = .success
        case 301, 302, 303, 307, 308:
            self = response.headers.first("location").map(Self.redirect) ?? .error(.rejected)
        case 401: self = .error(.unauthorized)
        case 429: self = .error(.throttled)
        // Some upstreams answer a spent budget with 403 (GitHub: primary and secondary rate limits).
        case 403 where asksToWait || RequestedWait.nothingRemains(response.headers): self = .error(.throttled)
        case 503 where asksToWait: self = .error(.throttled)
        case 408, 425, 500...599: self = .error(.unavailable)
        default: self = .error(.rejected)
        }
    }
}

extension SourceError.Class {
    /// A request that got no response.
    init(_ kind: HTTPError.Kind) {
        switch kind {
        case .resolve, .connect, .tls, .timeout, .reset, .truncated, .badEncoding, .cancelled, .other:
            self = .unavailable
        case .invalidURL, .tlsVerification: self = .rejected
        case .bodyTooLarge, .headersTooLarge, .suspiciousRatio: self = .malformed
        }
    }
}
