import CCurl

/// Brotli (RFC 7932), if the libcurl at hand brought its decoder along.
final class Brotli: ContentDecoder {
    static let library: ccurl_brotli? = {
        var found = ccurl_brotli()
        return ccurl_find_brotli(&found) ? found : nil
    }()

    private let library: ccurl_brotli
    private let state: UnsafeMutableRawPointer
    private(set) var isWhole = false

    init?() {
        guard let library = Brotli.library, let state = library.create(nil, nil, nil) else { return nil }
        self.library = library
        self.state = state
    }

    deinit { library.destroy(state) }

    private enum Outcome: Int32 {
        case error, whole, wantsInput, wantsRoom
    }

    func decode(_ chunk: UnsafeRawBufferPointer, into body: inout BodyBuffer) throws(ContentFault) {
        var input = chunk.bindMemory(to: UInt8.self).baseAddress
        var left = chunk.count
        if isWhole, left > 0 { throw ContentCoding.brotli.corrupt("bytes after its end") }
        while !isWhole {
            var outcome: Outcome?
            try body.fill { room in
                var output = room.baseAddress
                var free = room.count
                outcome = Outcome(rawValue: library.decompress(state, &left, &input, &free, &output, nil))
                return room.count - free
            }
            switch outcome {
            case .whole: isWhole = true
            case .wantsInput: return
            case .wantsRoom: continue
            case .error, nil: throw ContentCoding.brotli.corrupt("the decoder refuses it")
            }
        }
        if left > 0 { throw ContentCoding.brotli.corrupt("bytes after its end") }
    }
}
