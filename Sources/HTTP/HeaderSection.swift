/// Collects the header lines of a response as libcurl hands them over, one call a line.
///
/// A response may be preceded by interim ones (100, 103), and followed by trailer fields. Only the fields of the final
/// header section count: trailers must not be merged into them (RFC 9110 §6.5).
struct HeaderSection {
    private(set) var headers = HTTPHeaders()
    /// All header bytes of the exchange, interim responses and trailers too.
    private(set) var bytes = 0
    private(set) var isComplete = false

    mutating func take(_ line: UnsafeRawBufferPointer) {
        bytes += line.count
        if line.starts(with: "HTTP/".utf8) {
            headers = HTTPHeaders()
            isComplete = false
            return
        }
        if isComplete { return }
        let content = trimmed(line)
        if content.isEmpty {
            isComplete = true
        } else if line[0] == 0x20 || line[0] == 0x09 {
            headers.fold(HeaderSection.text(content))
        } else if let colon = content.firstIndex(of: UInt8(ascii: ":")) {
            headers.append(
                HeaderSection.text(trimmed(content[..<colon])),
                HeaderSection.text(trimmed(content[content.index(after: colon)...])))
        }
    }

    private static func text(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        var latin1 = String.UnicodeScalarView()
        latin1.append(contentsOf: bytes.lazy.map { Unicode.Scalar($0) })
        return String(latin1)
    }
}
