import CZlib

/// gzip and deflate. zlib checks length and checksum of the gzip trailer (RFC 1952 §2.3.1), and the stream has not ended
/// before that.
final class Inflater: ContentDecoder {
    private let coding: ContentCoding
    /// On the heap because zlib keeps the address.
    private let stream: UnsafeMutablePointer<z_stream>
    private var isOpen = false
    private(set) var isWhole = false

    init(_ coding: ContentCoding) {
        self.coding = coding
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
    }

    deinit {
        if isOpen { inflateEnd(stream) }
        stream.deallocate()
    }

    func decode(_ chunk: UnsafeRawBufferPointer, into body: inout BodyBuffer) throws(ContentFault) {
        guard let first = chunk.first else { return }
        if !isOpen { try open(first) }
        // zlib does not write to its input, but its type does not say so.
        stream.pointee.next_in = UnsafeMutablePointer(mutating: chunk.bindMemory(to: UInt8.self).baseAddress!)
        stream.pointee.avail_in = UInt32(chunk.count)
        var isFull = false
        repeat {
            if isWhole { try nextMember() }
            var status = Z_OK
            try body.fill { room in
                stream.pointee.next_out = room.baseAddress!
                stream.pointee.avail_out = UInt32(room.count)
                status = inflate(stream, Z_NO_FLUSH)
                isFull = stream.pointee.avail_out == 0
                return room.count - Int(stream.pointee.avail_out)
            }
            switch status {
            case Z_STREAM_END: isWhole = true
            case Z_OK, Z_BUF_ERROR: break
            default: throw coding.corrupt(stream.pointee.msg.map { String(cString: $0) } ?? "zlib error \(status)")
            }
        } while stream.pointee.avail_in > 0 || (isFull && !isWhole)
    }

    /// A gzip file may have several members (RFC 1952 §2.2).
    private func nextMember() throws(ContentFault) {
        guard coding == .gzip else { throw coding.corrupt("bytes after its end") }
        inflateReset(stream)
        isWhole = false
    }

    /// "deflate" has a zlib wrapper by RFC 9110 §8.4.1.2, which notes that some servers leave it out. The first byte of
    /// the wrapper has 8 as its low half; deflate by itself never begins so, as that would be a stored block with a bit
    /// in its padding.
    private func open(_ first: UInt8) throws(ContentFault) {
        let windowBits: Int32 = 15
        let format = coding == .gzip ? windowBits + 16 : first & 0x0F == 8 ? windowBits : -windowBits
        guard czlib_inflate_init(stream, format) == Z_OK else {
            throw ContentFault(kind: .other, reason: "zlib does not start")
        }
        isOpen = true
    }
}
