import CSimdjson

/// Turns the bytes between the quotes of a JSON string into text. The escapes were checked before.
struct JSONStringText {
    let text: String
    /// An escaped surrogate had no partner; the text has U+FFFD in its place.
    let hasLoneSurrogate: Bool

    init(_ contents: UnsafeBufferPointer<UInt8>) {
        guard let start = contents.baseAddress,
            csimdjson_find(start, 0, contents.count, UInt8(ascii: "\\")) < contents.count
        else {
            text = String(decoding: contents, as: UTF8.self)
            hasLoneSurrogate = false
            return
        }
        var unescaped = Unescaped(contents)
        unescaped.run()
        text = String(decoding: unescaped.bytes, as: UTF8.self)
        hasLoneSurrogate = unescaped.hasLoneSurrogate
    }
}

private struct Unescaped {
    let contents: UnsafeBufferPointer<UInt8>
    var bytes: [UInt8] = []
    var hasLoneSurrogate = false
    private var at = 0

    init(_ contents: UnsafeBufferPointer<UInt8>) {
        self.contents = contents
        bytes.reserveCapacity(contents.count)
    }

    mutating func run() {
        while at < contents.count {
            let byte = contents[at]
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                at += 1
                continue
            }
            switch contents[at + 1] {
            case UInt8(ascii: "b"): append(0x08)
            case UInt8(ascii: "f"): append(0x0C)
            case UInt8(ascii: "n"): append(0x0A)
            case UInt8(ascii: "r"): append(0x0D)
            case UInt8(ascii: "t"): append(0x09)
            case UInt8(ascii: "u"): appendUnicode()
            case let itself: append(itself)
            }
        }
    }

    private mutating func append(_ byte: UInt8) {
        bytes.append(byte)
        at += 2
    }

    private mutating func appendUnicode() {
        let unit = codeUnit(at)
        at += 6
        var scalar = Unicode.Scalar(unit)
        if UTF16.isLeadSurrogate(unit), at + 6 <= contents.count, contents[at] == UInt8(ascii: "\\"),
            contents[at + 1] == UInt8(ascii: "u")
        {
            let low = codeUnit(at)
            if UTF16.isTrailSurrogate(low) {
                at += 6
                scalar = Unicode.Scalar(0x10000 + (UInt32(unit - 0xD800) << 10 | UInt32(low - 0xDC00)))
            }
        }
        if scalar == nil { hasLoneSurrogate = true }
        bytes.append(contentsOf: UTF8.encode(scalar ?? "\u{FFFD}").map(Array.init) ?? [])
    }

    private func codeUnit(_ at: Int) -> UInt16 {
        (at + 2..<at + 6).reduce(0) { $0 << 4 | (hexValue(contents[$1]) ?? 0) }
    }
}
