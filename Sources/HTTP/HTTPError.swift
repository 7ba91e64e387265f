/// Why there is no response.
public struct HTTPError: Error, Sendable, CustomStringConvertible {
    public enum Kind: Sendable, Hashable, CaseIterable {
        /// The request cannot be sent as it stands: its URL, its method or a header.
        case invalidURL
        /// The host name, or the proxy's, was not found.
        case resolve
        /// No connection: refused, unreachable, or the proxy said no.
        case connect
        /// The server's certificate is not trusted or not for that host.
        case tlsVerification
        /// Any other TLS failure.
        case tls
        /// `connectTimeout`, `idleTimeout` or `totalTimeout`; the message says which.
        case timeout
        /// The connection was lost: reset, or closed before a response.
        case reset
        /// The content is not whole: cut, other than `Content-Length` said, a bad chunk, or a compressed stream without
        /// its end.
        case truncated
        /// The content coding is unknown, or the bytes are not what it says.
        case badEncoding
        /// More than `maxBodyBytes`.
        case bodyTooLarge
        /// More than `maxHeaderBytes`.
        case headersTooLarge
        /// More than `maxRatio`.
        case suspiciousRatio
        /// The task was cancelled, or the client was shut down.
        case cancelled
        /// Anything else, such as a reply that is not HTTP.
        case other
    }

    public var kind: Kind
    /// One line for people: method, URL without userinfo and query, and the cause.
    public var message: String

    public init(kind: Kind, message: String) {
        self.kind = kind
        self.message = message
    }

    public var description: String { message }
}
