import CCurl

/// Zstandard (RFC 8878), if the libcurl at hand brought its decoder along.
final class Zstandard: ContentDecoder {
    static let library: ccurl_zstd? = {
        var found = ccurl_zstd()
        return ccurl_find_zstd(&found) ? found : nil
    }()

    private let library: ccurl_zstd
    private let state: UnsafeMutableRawPointer
    /// Several frames may follow each other; after each of them the stream may end.
    private(set) var isWhole = false

    init?() {
        guard let library = Zstandard.library, let state = library.create() else { return nil }
        // A window of at most 8 MiB, which RFC 9659 §3 asks of servers; the library's own limit is 128 MiB.
        let largestWindow: Int32 = 100
        _ = library.set(state, largestWindow, 23)
        self.library = library
        self.state = state
    }

    deinit { _ = library.destroy(state) }

    func decode(_ chunk: UnsafeRawBufferPointer, into body: inout BodyBuffer) throws(ContentFault) {
        var input = ccurl_zstd_input(bytes: chunk.baseAddress, size: chunk.count, position: 0)
        var isFull = false
        while input.position < input.size || isFull {
            var result = 0
            try body.fill { room in
                var output = ccurl_zstd_output(bytes: room.baseAddress, size: room.count, position: 0)
                result = library.decompress(state, &output, &input)
                isFull = output.position == output.size
                return output.position
            }
            guard library.is_error(result) == 0 else {
                throw ContentCoding.zstandard.corrupt("the decoder refuses it")
            }
            isWhole = result == 0
            if isWhole { isFull = false }
        }
    }
}
