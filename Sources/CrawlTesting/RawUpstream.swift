import Glibc
import Threads

/// An upstream that misbehaves as told: a socket on 127.0.0.1 that answers each request with a script of bytes, cuts and
/// silences. It knows no HTTP beyond the end of a request, so that it can break every rule of HTTP.
///
///     let upstream = try RawUpstream { _ in
///         [.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n[1,2"), .close]
///     }
///     defer { upstream.stop() }
public final class RawUpstream: Sendable {
    /// What happens next on a connection.
    public enum Action: Sendable {
        case send([UInt8])
        /// Sends the bytes again and again until the client leaves.
        case sendForever([UInt8])
        /// Sends byte by byte with a pause after each.
        case drip([UInt8], pause: Duration)
        /// Says nothing and keeps the connection open until the client leaves.
        case stall
        /// Ends the connection in order (FIN).
        case close
        /// Breaks the connection off (RST); what was sent just before may be lost to the client.
        case reset

        public static func send(_ text: String) -> Action { .send(Array(text.utf8)) }
    }

    /// A request as it came.
    public struct Request: Sendable {
        /// Request line and header lines with the empty line at their end, untouched.
        public var head: [UInt8]
        /// As many bytes as its `Content-Length` says.
        public var body: [UInt8]
        /// Counted from 1 over all connections.
        public var number: Int
        /// The connection that it came on, counted from 1.
        public var connection: Int

        /// The request target, as it was sent.
        public var target: String {
            let words = String(decoding: head, as: UTF8.self).split(separator: " ", maxSplits: 2)
            return words.count == 3 ? String(words[1]) : ""
        }
    }

    /// A system call that failed at the start.
    public struct Failure: Error, Sendable { public var message: String }

    public let port: UInt16
    /// Each request when its head and body are there, before the script runs; so that a test can wait for one.
    public let requests: AsyncStream<Request>

    private struct State {
        var isStopped = false
        var sockets: Set<Int32> = []
        var threads: [pthread_t] = []
        var requestCount = 0
        var connectionCount = 0
    }

    private let state = Monitor(State())
    private let listener: Int32
    private let script: @Sendable (Request) -> [Action]
    private let arrivals: AsyncStream<Request>.Continuation

    /// Starts to listen on a free port. After a script that neither closes nor stalls the connection is kept for the
    /// next request.
    public init(script: @escaping @Sendable (Request) -> [Action]) throws(Failure) {
        self.script = script
        (requests, arrivals) = AsyncStream.makeStream()
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard listener >= 0, let port = RawUpstream.listen(on: listener) else {
            let reason = String(cString: strerror(errno))
            if listener >= 0 { Glibc.close(listener) }
            throw Failure(message: "no socket to listen on: \(reason)")
        }
        self.port = port
        start { $0.acceptAll() }
    }

    /// `http://127.0.0.1:PORT`, to which a request target is added.
    public var url: String { "http://127.0.0.1:\(port)" }
    public var requestCount: Int { state.withLock(\.requestCount) }
    public var connectionCount: Int { state.withLock(\.connectionCount) }

    /// Ends all connections and threads, and waits for them. Must be called once, as the threads keep the upstream.
    public func stop() {
        let isFirst = state.withLock { state in
            defer { state.isStopped = true }
            for socket in state.sockets { shutdown(socket, Int32(SHUT_RDWR)) }
            return !state.isStopped
        }
        guard isFirst else { return }
        shutdown(listener, Int32(SHUT_RDWR))
        // A thread that was accepted meanwhile sees isStopped; threads start no others after that.
        while let thread = state.withLock({ $0.threads.popLast() }) { pthread_join(thread, nil) }
        Glibc.close(listener)
        arrivals.finish()
    }

    private static func listen(on socket: Int32) -> UInt16? {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        return withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                guard bind(socket, generic, size) == 0, Glibc.listen(socket, 512) == 0,
                    getsockname(socket, generic, &size) == 0
                else { return false }
                return true
            }
        } ? UInt16(bigEndian: address.sin_port) : nil
    }
}

// The threads: one accepts, and one for each connection.
extension RawUpstream {
    private final class Work: Sendable {
        let upstream: RawUpstream
        let body: @Sendable (RawUpstream) -> Void

        init(_ upstream: RawUpstream, _ body: @escaping @Sendable (RawUpstream) -> Void) {
            self.upstream = upstream
            self.body = body
        }
    }

    private func start(_ body: @escaping @Sendable (RawUpstream) -> Void) {
        let work = Unmanaged.passRetained(Work(self, body))
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { work in
                let work = Unmanaged<Work>.fromOpaque(work!).takeRetainedValue()
                work.body(work.upstream)
                return nil
            }, work.toOpaque())
        guard code == 0 else { fatalError("no thread for the upstream: error \(code)") }
        state.withLock { $0.threads.append(thread) }
    }

    private func acceptAll() {
        while true {
            let socket = accept(listener, nil, nil)
            guard socket >= 0 else {
                if errno == EINTR || errno == ECONNABORTED { continue }
                return
            }
            let number = state.withLock { state -> Int? in
                guard !state.isStopped else { return nil }
                state.sockets.insert(socket)
                state.connectionCount += 1
                return state.connectionCount
            }
            // Processes that a test starts meanwhile must not keep the connection open.
            _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
            guard let number else {
                Glibc.close(socket)
                return
            }
            start { upstream in
                upstream.serve(Connection(socket: socket), number)
                upstream.state.withLock { _ = $0.sockets.remove(socket) }
                Glibc.close(socket)
            }
        }
    }

    private func serve(_ connection: Connection, _ number: Int) {
        var connection = connection
        while let (head, body) = connection.readRequest() {
            let count = state.withLock { state in
                state.requestCount += 1
                return state.requestCount
            }
            let request = Request(head: head, body: body, number: count, connection: number)
            arrivals.yield(request)
            for action in script(request) where !connection.perform(action) { return }
        }
    }
}

/// A connected socket, and what was read from it ahead.
private struct Connection {
    let socket: Int32
    private var ahead: [UInt8] = []

    init(socket: Int32) {
        self.socket = socket
        var on: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Nil when the client has left.
    mutating func readRequest() -> (head: [UInt8], body: [UInt8])? {
        var end = endOfHead()
        while end == nil {
            guard readMore() else { return nil }
            end = endOfHead()
        }
        let head = Array(ahead[..<end!])
        let bodyEnd = end! + Connection.contentLength(head)
        while ahead.count < bodyEnd {
            guard readMore() else { return nil }
        }
        let body = Array(ahead[end!..<bodyEnd])
        ahead.removeFirst(bodyEnd)
        return (head, body)
    }

    private func endOfHead() -> Int? { ahead.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound }

    private mutating func readMore() -> Bool {
        let chunk = [UInt8](unsafeUninitializedCapacity: 16 << 10) { buffer, count in
            count = max(0, recv(socket, buffer.baseAddress, buffer.count, 0))
        }
        ahead += chunk
        return !chunk.isEmpty
    }

    private static func contentLength(_ head: [UInt8]) -> Int {
        for line in String(decoding: head, as: UTF8.self).lowercased().split(separator: "\r\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2, parts[0] == "content-length" { return Int(parts[1].drop { $0 == " " }) ?? 0 }
        }
        return 0
    }

    /// False when the connection is at its end.
    func perform(_ action: RawUpstream.Action) -> Bool {
        switch action {
        case .send(let bytes): return write(bytes)
        case .sendForever(let bytes):
            while write(bytes) {}
            return false
        case .drip(let bytes, let pause):
            return bytes.allSatisfy { write([$0]) && !hasLeft(within: pause) }
        case .stall:
            while !hasLeft(within: .seconds(60)) {}
            return false
        case .close: return false
        case .reset:
            var linger = linger(l_onoff: 1, l_linger: 0)
            setsockopt(
                socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
            return false
        }
    }

    private func write(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Waits for the client to leave, or for `stop`, at most so long.
    private func hasLeft(within time: Duration) -> Bool {
        let peerHasClosed: Int16 = 0x2000  // POLLRDHUP, which Glibc's module leaves out
        var descriptor = pollfd(fd: socket, events: peerHasClosed, revents: 0)
        let milliseconds = time.components.seconds * 1000 + time.components.attoseconds / 1_000_000_000_000_000
        return poll(&descriptor, 1, Int32(clamping: milliseconds)) > 0
    }
}
