import CMicrohttpd
import Glibc
import Threads

/// Why a server could not be started.
public struct HTTPServerError: Error, Sendable, CustomStringConvertible {
    public enum Kind: Sendable, Hashable {
        /// The address is not an IPv4 or IPv6 address in digits.
        case invalidAddress
        /// The port is taken, or may not be used.
        case cannotListen
    }

    public var kind: Kind
    public var message: String
    public var description: String { message }
}

/// A small HTTP/1.1 server over libmicrohttpd, for demonstrations, tests and pages about the process.
public final class HTTPServer: Sendable {
    /// The port it listens on; a free one if 0 was asked for.
    public let port: UInt16

    /// Held here because libmicrohttpd has a pointer to it.
    private let handling: RequestHandling
    private struct Daemon: @unchecked Sendable { var pointer: OpaquePointer? }
    private let daemon: Monitor<Daemon>

    /// Starts to listen.
    ///
    /// - Parameters:
    ///   - address: an IPv4 or IPv6 address in digits, such as `0.0.0.0` for all of IPv4.
    ///   - port: 0 takes a free one.
    ///   - maxBodyBytes: larger requests are answered 413 and never reach the handler.
    ///   - threads: how many run handlers; one that blocks holds up the other connections of its thread.
    ///   - handler: answers one request. It is called on the server's threads, several at once.
    public init(
        address: String = "127.0.0.1", port: UInt16 = 0, maxBodyBytes: Int = 1 << 20, threads: Int = 4,
        handler: @escaping @Sendable (ServerRequest) -> ServerResponse
    ) throws(HTTPServerError) {
        let handling = RequestHandling(maxBodyBytes: maxBodyBytes, handler: handler)
        let started: OpaquePointer?? = withSocketAddress(address, port) { socketAddress in
            cmicrohttpd_start(
                socketAddress, UInt32(max(1, threads)), RequestHandling.handle, RequestHandling.begin,
                RequestHandling.end, Unmanaged.passUnretained(handling).toOpaque())
        }
        guard let started else {
            throw HTTPServerError(kind: .invalidAddress, message: "\(address) is not an IP address")
        }
        guard let pointer = started else {
            let reason = String(cString: strerror(errno))
            throw HTTPServerError(kind: .cannotListen, message: "cannot listen on \(address), port \(port): \(reason)")
        }
        self.handling = handling
        self.port = cmicrohttpd_port(pointer)
        daemon = Monitor(Daemon(pointer: pointer))
    }

    deinit { stop() }

    /// Closes the port and all connections, and waits for handlers that run. Not to be called by a handler.
    public func stop() {
        let pointer = daemon.withLock { daemon in
            defer { daemon.pointer = nil }
            return daemon
        }.pointer
        if let pointer { MHD_stop_daemon(pointer) }
    }
}

/// Calls with the socket address, nil if the text is not an IP address.
private func withSocketAddress<Result>(
    _ address: String, _ port: UInt16, _ body: (UnsafePointer<sockaddr>) -> Result
) -> Result? {
    var v4 = sockaddr_in()
    v4.sin_family = sa_family_t(AF_INET)
    v4.sin_port = port.bigEndian
    if inet_pton(AF_INET, address, &v4.sin_addr) == 1 {
        return withUnsafePointer(to: &v4) { $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body) }
    }
    var v6 = sockaddr_in6()
    v6.sin6_family = sa_family_t(AF_INET6)
    v6.sin6_port = port.bigEndian
    if inet_pton(AF_INET6, address, &v6.sin6_addr) == 1 {
        return withUnsafePointer(to: &v6) { $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body) }
    }
    return nil
}
