/// Undoes one content coding, chunk by chunk.
///
/// libcurl could decompress by itself, but takes a stream that was cut for a whole one, and knows no limits.
protocol ContentDecoder: AnyObject {
    /// Decodes a chunk and appends what comes out.
    func decode(_ chunk: UnsafeRawBufferPointer, into body: inout BodyBuffer) throws(ContentFault)
    /// Whether the stream has reached its own end.
    var isWhole: Bool { get }
}

/// The content codings of RFC 9110 §8.4.1, RFC 7932 and RFC 8878.
enum ContentCoding: String {
    case gzip, deflate
    case brotli = "br"
    case zstandard = "zstd"

    /// The value for `Accept-Encoding`. `deflate` is read but not asked for, because half of the servers that offer it
    /// leave out its zlib wrapper.
    static let accepted =
        (["gzip"] + (Brotli.library == nil ? [] : ["br"]) + (Zstandard.library == nil ? [] : ["zstd"]))
        .joined(separator: ", ")

    /// More layers than anyone needs are a trick to multiply the work.
    private static let mostLayers = 3

    /// The codings of a response, in the order in which they were applied.
    static func of(_ headers: HTTPHeaders) throws(ContentFault) -> [ContentCoding] {
        var codings: [ContentCoding] = []
        for name in headers.list("content-encoding") where name != "identity" {
            guard let coding = ContentCoding(rawValue: name == "x-gzip" ? "gzip" : name) else {
                throw ContentFault(kind: .badEncoding, reason: "the content coding \(name) is unknown")
            }
            codings.append(coding)
        }
        guard codings.count <= mostLayers else {
            throw ContentFault(kind: .badEncoding, reason: "\(codings.count) content codings on top of each other")
        }
        return codings
    }

    func decoder() throws(ContentFault) -> any ContentDecoder {
        let decoder: (any ContentDecoder)? =
            switch self {
            case .gzip: Inflater(.gzip)
            case .deflate: Inflater(.deflate)
            case .brotli: Brotli()
            case .zstandard: Zstandard()
            }
        guard let decoder else {
            throw ContentFault(kind: .badEncoding, reason: "the content coding \(rawValue) is not supported here")
        }
        return decoder
    }

    /// Undoes one coding of content that is all there.
    func decode(_ encoded: [UInt8], limits: HTTPLimits) throws(ContentFault) -> BodyBuffer {
        let decoder = try decoder()
        var body = BodyBuffer(limits: limits)
        body.wireBytes = encoded.count
        let fault: ContentFault? = encoded.withUnsafeBytes { bytes in
            do throws(ContentFault) {
                try decoder.decode(bytes, into: &body)
                return nil
            } catch { return error }
        }
        if let fault { throw fault }
        guard decoder.isWhole else { throw cut }
        return body
    }

    var cut: ContentFault {
        ContentFault(kind: .truncated, reason: "the \(rawValue) stream was cut before its end")
    }

    func corrupt(_ detail: String) -> ContentFault {
        ContentFault(kind: .badEncoding, reason: "the content is not \(rawValue): \(detail)")
    }
}
