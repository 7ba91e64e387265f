/// Why a page could not be had. The class decides what the worker does: see `FailureRules`.
public struct SourceError: Error, Sendable, Hashable {
    public enum Class: String, Sendable, CaseIterable {
        /// The upstream asks for fewer requests: 429, 503 with Retry-After, 403 with nothing remaining.
        case throttled
        /// The upstream could not be reached or broke off: 408, 425, 5xx, connect, reset, time-out, cut body.
        case unavailable
        /// The upstream is still preparing the answer: 202 or 204 with Retry-After.
        case notReady = "not_ready"
        /// The credentials were not accepted.
        case unauthorized
        /// The request will not be answered, now or later: other 4xx, redirects, foreign origin, TLS verification.
        case rejected
        /// A success that is not what was promised: HTML for JSON, items missing on page 1, body too large.
        case malformed
    }

    public var kind: Class
    /// For people: source, status, URL without secrets, first bytes.
    public var message: String
    /// The status of the response, if there was one.
    public var status: Int?
    /// How long the upstream asks to wait, already in one unit; `nil` if it does not say.
    public var retryAfter: Duration?
    public var cost: Cost

    public init(
        _ kind: Class, _ message: String, status: Int? = nil, retryAfter: Duration? = nil,
        cost: Cost = Cost(requests: 1)
    ) {
        self.kind = kind
        self.message = message
        self.status = status
        self.retryAfter = retryAfter
        self.cost = cost
    }
}
