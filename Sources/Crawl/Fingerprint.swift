/// Hashes that mean the same in every process and every version, because crawl records keep them.
enum Fingerprint {
    /// Of the items of a page; `nil` for an empty page.
    static func of(_ items: Items) -> UInt64? {
        guard let first = items.ranges.first, let last = items.ranges.last else { return nil }
        return items.bytes.withUnsafeBytes { bytes in
            hash(UnsafeRawBufferPointer(rebasing: bytes[first.lowerBound..<last.upperBound]))
        }
    }

    /// Of the request for a page; `nil` stands for the first page of the source.
    static func of(_ cursor: PageCursor?) -> UInt64 {
        var text =
            switch cursor {
            case nil: "first"
            case .page(let number): "page \(number)"
            case .offset(let offset): "offset \(offset)"
            case .token(let json): "token \(json.text)"
            case .url(let url): "url \(url)"
            }
        return text.withUTF8 { hash(UnsafeRawBufferPointer($0)) }
    }

    /// Eight bytes at a time, multiplied and folded, the way of FNV-1a and wyhash. Not for use against an adversary
    /// who gains by a collision: the upstream could at most end its own crawl early, and loudly.
    private static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var state: UInt64 = 0xcbf2_9ce4_8422_2325 ^ UInt64(bytes.count)
        func mix(_ word: UInt64) {
            let product = (state ^ word).multipliedFullWidth(by: 0x9e37_79b9_7f4a_7c15)
            state = product.high ^ product.low &+ 0x2545_f491_4f6c_dd1d
        }
        let whole = bytes.count & ~7
        for start in stride(from: 0, to: whole, by: 8) {
            mix(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)))
        }
        var rest: UInt64 = 0
        for index in whole..<bytes.count { rest = rest << 8 | UInt64(bytes[index]) }
        mix(rest)
        return state
    }
}
