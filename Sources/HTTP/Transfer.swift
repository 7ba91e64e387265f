import CCurl
import Synchronization

/// Names one `send`, so that it can be cancelled, even before it has begun.
final class Ticket: Sendable {
    private let cancelled = Atomic(false)

    func cancel() { cancelled.store(true, ordering: .releasing) }
    var isCancelled: Bool { cancelled.load(ordering: .acquiring) }
}

typealias Reply = CheckedContinuation<Result<HTTPResponse, HTTPError>, Never>

/// One request under way, and what has come of its response. It lives on the loop's thread; libcurl calls it there.
final class Transfer {
    let ticket: Ticket
    let easy: EasyHandle
    private let request: HTTPRequest
    private let reply: Reply
    private let limits: HTTPLimits
    private var section = HeaderSection()
    private var content: ContentReader
    /// Why a callback told libcurl to stop.
    private var fault: ContentFault?
    /// For the idle timeout: the bytes moved so far, and when their number last changed.
    private var bytesMoved: Int64 = -1
    private var lastMove = ContinuousClock.now

    init(_ request: HTTPRequest, _ ticket: Ticket, _ reply: Reply, easy: EasyHandle, settings: TransferSettings) {
        self.request = request
        self.ticket = ticket
        self.reply = reply
        self.easy = easy
        limits = settings.limits
        content = ContentReader(limits: settings.limits)
        easy.prepare(request, settings)
        easy.onReceive(
            owner: Unmanaged.passUnretained(self).toOpaque(),
            header: { line, size, count, owner in
                Transfer.receive(line, size * count, owner) { (transfer, line) throws(ContentFault) in
                    try transfer.takeHeader(line)
                }
            },
            content: { chunk, size, count, owner in
                Transfer.receive(chunk, size * count, owner) { (transfer, chunk) throws(ContentFault) in
                    try transfer.takeContent(chunk)
                }
            })
    }

    private typealias Taking = (Transfer, UnsafeRawBufferPointer) throws(ContentFault) -> Void

    /// Tells libcurl how many bytes were taken; fewer than there were aborts the transfer.
    private static func receive(
        _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, _ owner: UnsafeMutableRawPointer?, _ take: Taking
    ) -> Int {
        let transfer = Unmanaged<Transfer>.fromOpaque(owner!).takeUnretainedValue()
        do throws(ContentFault) {
            try take(transfer, UnsafeRawBufferPointer(start: bytes, count: count))
            return count
        } catch {
            transfer.fault = error
            return 0
        }
    }

    private func takeHeader(_ line: UnsafeRawBufferPointer) throws(ContentFault) {
        section.take(line)
        guard section.bytes <= limits.maxHeaderBytes else {
            throw ContentFault(
                kind: .headersTooLarge, reason: "the headers have more than \(limits.maxHeaderBytes) bytes")
        }
    }

    private func takeContent(_ chunk: UnsafeRawBufferPointer) throws(ContentFault) {
        try content.take(chunk, section.headers)
    }

    /// Whether nothing has moved for the idle timeout. Waiting for a connection is not idle; other timeouts cover it.
    func isIdle(_ now: ContinuousClock.Instant) -> Bool {
        let moved = easy.hasConnection ? easy.bytesSent + Int64(section.bytes + content.body.wireBytes) : -1
        if moved == -1 || moved != bytesMoved {
            bytesMoved = moved
            lastMove = now
        }
        return now - lastMove > limits.idleTimeout
    }
}

// How a transfer ends.
extension Transfer {
    func fail(_ kind: HTTPError.Kind, _ reason: String) {
        reply.resume(
            returning: .failure(HTTPError(kind: kind, message: "\(request.method) \(request.publicURL): \(reason)")))
    }

    func finish(_ code: CURLcode) {
        do throws(ContentFault) {
            if let fault { throw fault }
            if code != CURLE_OK {
                throw easy.fault(code, isInHeaders: !section.isComplete)
            }
            try checkFraming()
            reply.resume(
                returning: .success(
                    HTTPResponse(
                        status: easy.status, headers: section.headers, body: try content.finish(),
                        wireBytes: Int64(content.body.wireBytes), url: request.url)))
        } catch {
            fail(error.kind, error.reason)
        }
    }

    /// What libcurl lets pass: a header section that was cut, content that is not as long as one of several
    /// `Content-Length` fields says, and a compressed stream of which not one byte came before the connection was closed.
    private func checkFraming() throws(ContentFault) {
        guard section.isComplete else { throw ContentFault(kind: .reset, reason: "the header section was cut") }
        let mayHaveContent = request.method != "HEAD" && easy.status != 204 && easy.status != 304
        guard mayHaveContent else { return }
        let isChunked = section.headers.list("transfer-encoding").contains("chunked")
        let lengths = section.headers.list("content-length")
        if !isChunked, let wrong = lengths.first(where: { Int($0) != content.body.wireBytes }) {
            throw ContentFault(
                kind: .truncated,
                reason: "\(content.body.wireBytes) bytes came, Content-Length says \(wrong.prefix(20))")
        }
        let isFramed = isChunked || !lengths.isEmpty || easy.isHTTP2
        if content.body.wireBytes == 0, !isFramed, let coding = try ContentCoding.of(section.headers).last {
            throw coding.cut
        }
    }
}
