/// Turns the bytes that arrive after the header section into the content.
struct ContentReader {
    private(set) var body: BodyBuffer
    private let limits: HTTPLimits
    private var hasBegun = false
    /// The coding that was applied last, which is undone as the bytes come, and those below it, undone at the end.
    private var outermost: (coding: ContentCoding, decoder: any ContentDecoder)?
    private var inner: [ContentCoding] = []

    init(limits: HTTPLimits) {
        self.limits = limits
        body = BodyBuffer(limits: limits)
    }

    mutating func take(_ chunk: UnsafeRawBufferPointer, _ headers: HTTPHeaders) throws(ContentFault) {
        if !hasBegun { try begin(headers) }
        body.wireBytes += chunk.count
        if let outermost {
            try outermost.decoder.decode(chunk, into: &body)
        } else {
            try body.append(chunk)
        }
    }

    private mutating func begin(_ headers: HTTPHeaders) throws(ContentFault) {
        hasBegun = true
        // Nobody asked for another one (RFC 9110 §10.1.4), and libcurl would undo it without our limits.
        if let other = headers.list("transfer-encoding").first(where: { $0 != "chunked" && $0 != "identity" }) {
            throw ContentFault(kind: .badEncoding, reason: "the transfer coding \(other) was not asked for")
        }
        inner = try ContentCoding.of(headers)
        let announced = headers.first("content-length").flatMap { Int($0) }
        if let coding = inner.popLast() {
            outermost = (coding, try coding.decoder())
            if let announced { body.expect(announced.multipliedReportingOverflow(by: 4).partialValue) }
        } else if let announced {
            guard announced <= limits.maxBodyBytes else { throw body.tooLarge }
            body.expect(announced)
        }
    }

    /// The content, once the connection says that all has come. Content of no bytes at all has no coding to undo.
    mutating func finish() throws(ContentFault) -> [UInt8] {
        if let outermost, !outermost.decoder.isWhole { throw outermost.coding.cut }
        for coding in inner.reversed() {
            let wireBytes = body.wireBytes
            body = try coding.decode(body.takeBytes(), limits: limits)
            body.wireBytes = wireBytes
        }
        return body.takeBytes()
    }
}
