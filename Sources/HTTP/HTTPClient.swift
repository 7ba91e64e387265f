import FoundationEssentials

/// An HTTP client over libcurl's multi interface: connections are kept and shared, HTTP/2 is used where TLS negotiates
/// it, and content is decompressed within limits.
///
/// Proxies come from `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` (lower case first), and the trusted
/// certificates from `CURL_CA_BUNDLE`, `SSL_CERT_FILE` and `SSL_CERT_DIR` where these are set. Servers are always
/// verified.
///
/// One thread of its own does all the work; it ends with `shutdown()` or when the client is released.
public final class HTTPClient: Sendable {
    private let loop: TransferLoop

    /// A client whose limits hold for each of its requests.
    public convenience init(limits: HTTPLimits = .init(), userAgent: String = "pagehound") {
        self.init(limits: limits, userAgent: userAgent, environment: ProcessInfo.processInfo.environment)
    }

    init(limits: HTTPLimits, userAgent: String, environment: [String: String]) {
        loop = TransferLoop(
            settings: TransferSettings(
                limits: limits, userAgent: userAgent, network: NetworkEnvironment(environment)))
        loop.run()
    }

    deinit { loop.stop() }

    /// Sends a request and waits for the whole response, whatever its status. When the task is cancelled the transfer is
    /// aborted at once. libcurl repeats a request by itself only if a kept connection turns out to be closed before the
    /// first byte of a response.
    public func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        try request.validate()
        let ticket = Ticket()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                loop.post(.start(request, ticket, continuation))
            }
        } onCancel: {
            ticket.cancel()
            loop.post(.cancel(ticket))
        }
        return try result.get()
    }

    /// Aborts what is under way with `cancelled` and closes all connections. Later requests fail with `cancelled`. Does
    /// not wait.
    public func shutdown() { loop.stop() }
}
