/// What a request may cost. Every limit always holds; a response that passes one is an error, never a shorter response.
public struct HTTPLimits: Sendable {
    /// Time for name lookup, connection and TLS handshake. Defaults to 10 s.
    public var connectTimeout: Duration
    /// Longest time without a byte in either direction once the request is under way. Defaults to 30 s.
    public var idleTimeout: Duration
    /// Time for everything, waiting for a free connection included. Defaults to 60 s.
    public var totalTimeout: Duration
    /// Largest content in bytes, after decompression. Defaults to 32 MiB.
    public var maxBodyBytes: Int
    /// Largest ratio of content to bytes received, judged once the content has more than `ratioFloorBytes`. Defaults
    /// to 100.
    public var maxRatio: Int
    /// Content up to this size may have any ratio: a short list of equal rows compresses well. Defaults to 1 MiB.
    public var ratioFloorBytes: Int
    /// Largest sum of header lines in bytes, interim responses and trailers included. Defaults to 64 KiB. One line may
    /// not be longer than 100 KiB, a limit of libcurl.
    public var maxHeaderBytes: Int
    /// Most connections open at once; requests beyond wait. Defaults to 256.
    public var maxConnections: Int
    /// Most connections open at once to one host and port. Defaults to 64.
    public var maxConnectionsPerHost: Int

    public init(
        connectTimeout: Duration = .seconds(10), idleTimeout: Duration = .seconds(30),
        totalTimeout: Duration = .seconds(60), maxBodyBytes: Int = 32 << 20, maxRatio: Int = 100,
        ratioFloorBytes: Int = 1 << 20, maxHeaderBytes: Int = 64 << 10, maxConnections: Int = 256,
        maxConnectionsPerHost: Int = 64
    ) {
        self.connectTimeout = connectTimeout
        self.idleTimeout = idleTimeout
        self.totalTimeout = totalTimeout
        self.maxBodyBytes = maxBodyBytes
        self.maxRatio = maxRatio
        self.ratioFloorBytes = ratioFloorBytes
        self.maxHeaderBytes = maxHeaderBytes
        self.maxConnections = maxConnections
        self.maxConnectionsPerHost = maxConnectionsPerHost
    }
}

extension Duration {
    /// In whole milliseconds for libcurl, which reads 0 as "no limit" and refuses more than a C int of seconds.
    var curlMilliseconds: Int {
        let (seconds, attoseconds) = components
        let inRange = max(0, min(seconds, 1_000_000))
        return max(1, Int(inRange) * 1000 + Int(attoseconds / 1_000_000_000_000_000))
    }
}
