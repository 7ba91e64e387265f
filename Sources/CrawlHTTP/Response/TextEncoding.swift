/// Brings a body into UTF-8, which JSON text is in (RFC 8259, section 8.1). What cannot be brought over is an error:
/// no character is ever replaced.
enum TextEncoding {
    struct Problem: Error, Sendable, Hashable {
        let message: String
    }

    /// - Parameter contentType: of the response; its `charset` counts unless a byte order mark says otherwise.
    static func utf8(_ body: [UInt8], contentType: String?) throws(Problem) -> [UInt8] {
        if body.starts(with: [0xEF, 0xBB, 0xBF]) { return body }
        if body.starts(with: [0xFF, 0xFE]) { return try utf16(body.dropFirst(2), isBigEndian: false) }
        if body.starts(with: [0xFE, 0xFF]) { return try utf16(body.dropFirst(2), isBigEndian: true) }
        guard let charset = contentType.flatMap(charset) else { return body }
        switch charset {
        case "utf-8", "utf8", "us-ascii", "ascii": return body
        case "utf-16be", "utf-16": return try utf16(body[...], isBigEndian: true)
        case "utf-16le": return try utf16(body[...], isBigEndian: false)
        case "iso-8859-1", "iso8859-1", "latin1", "iso_8859-1":
            return body.allSatisfy { $0 < 0x80 }
                ? body : Array(String(decoding: body.map(UInt16.init), as: UTF16.self).utf8)
        default:
            // Nearly all encodings agree on ASCII.
            if body.allSatisfy({ $0 < 0x80 && $0 != 0 }) { return body }
            throw Problem(
                message: "the charset \"\(charset.prefix(40))\" is not supported; UTF-8, UTF-16 and ISO-8859-1 are")
        }
    }

    private static func utf16(_ bytes: ArraySlice<UInt8>, isBigEndian: Bool) throws(Problem) -> [UInt8] {
        guard bytes.count.isMultiple(of: 2) else { throw Problem(message: "the UTF-16 text ends within a character") }
        let units = stride(from: bytes.startIndex, to: bytes.endIndex, by: 2).map { index in
            let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            return isBigEndian ? first << 8 | second : second << 8 | first
        }
        guard let text = String(validating: units, as: UTF16.self) else {
            throw Problem(message: "the text is not valid UTF-16")
        }
        return Array(text.utf8)
    }

    private static func charset(_ contentType: String) -> String? {
        for parameter in contentType.lowercased().split(separator: ";").dropFirst() {
            let pair = parameter.split(separator: "=", maxSplits: 1).map { String($0).trimmed }
            if pair.count == 2, pair[0] == "charset" { return pair[1].filter { $0 != "\"" && $0 != "'" } }
        }
        return nil
    }
}
