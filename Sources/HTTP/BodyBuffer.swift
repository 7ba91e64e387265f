/// What is wrong with the content of a response.
struct ContentFault: Error {
    var kind: HTTPError.Kind
    var reason: String
}

/// The content of a response while it grows, held to the limits with every step.
struct BodyBuffer {
    /// What a parser may read past the end of the content.
    static let padding = 64

    private(set) var bytes: [UInt8] = []
    /// Bytes received for this content, before decompression.
    var wireBytes = 0
    let limits: HTTPLimits

    init(limits: HTTPLimits) { self.limits = limits }

    /// Makes room for content of a size that the server announced. What it says is not trusted beyond 4 MiB; larger
    /// content grows as it comes.
    mutating func expect(_ count: Int) {
        bytes.reserveCapacity(min(max(count, 0), limits.maxBodyBytes, 4 << 20) + BodyBuffer.padding)
    }

    mutating func append(_ chunk: UnsafeRawBufferPointer) throws(ContentFault) {
        guard chunk.count <= limits.maxBodyBytes - bytes.count else { throw tooLarge }
        bytes.append(contentsOf: chunk)
    }

    /// Lets a decoder write at the end, in a room of at least 16 KiB. `write` gives the number of bytes written.
    mutating func fill(_ write: (UnsafeMutableBufferPointer<UInt8>) -> Int) throws(ContentFault) {
        let room = min(max(16 << 10, bytes.capacity - bytes.count - BodyBuffer.padding), 256 << 10)
        if bytes.capacity - bytes.count < room + BodyBuffer.padding {
            bytes.reserveCapacity(max(2 * bytes.capacity, bytes.count + room + BodyBuffer.padding))
        }
        bytes.append(addingCapacity: room) { span in
            span.withUnsafeMutableBufferPointer { buffer, count in count = write(buffer) }
        }
        guard bytes.count <= limits.maxBodyBytes else { throw tooLarge }
        if bytes.count > limits.ratioFloorBytes, bytes.count / max(1, limits.maxRatio) >= max(1, wireBytes) {
            throw ContentFault(
                kind: .suspiciousRatio,
                reason: "\(wireBytes) bytes decompress to more than \(limits.maxRatio) times as many")
        }
    }

    /// Hands the content over, with the padding that `HTTPResponse.body` promises.
    mutating func takeBytes() -> [UInt8] {
        var taken: [UInt8] = []
        swap(&taken, &bytes)
        taken.reserveCapacity(taken.count + BodyBuffer.padding)
        return taken
    }

    var tooLarge: ContentFault {
        ContentFault(kind: .bodyTooLarge, reason: "the content has more than \(limits.maxBodyBytes) bytes")
    }
}
