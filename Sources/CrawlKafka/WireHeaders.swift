import Crawl
import Kafka

/// Names of record headers.
enum WireHeaders {
    static let traceparent = "traceparent"
    static let contentType = "content-type"

    /// Why a record is a dead letter: `pagehound-error-kind` and so on.
    static let error = "pagehound-error-"

    /// The W3C Trace Context of a record; one that is not well-formed is passed over, as its section 2.2 asks.
    static func traceparent(in headers: [RecordHeader]) -> String? {
        let name = Array(traceparent.utf8)
        guard let value = headers.last(where: { $0.name == name })?.value, isTraceparent(value) else { return nil }
        return String(decoding: value, as: UTF8.self)
    }

    /// `version-trace id-parent id-flags`, of 2, 32, 16 and 2 lower-case hexadecimal digits. Later versions may go on
    /// behind that; neither id is all zeros.
    static func isTraceparent(_ value: [UInt8]) -> Bool {
        guard value.count == 55 || value.count > 55 && value.count <= 256 && value[55] == UInt8(ascii: "-") else {
            return false
        }
        let dashes = [2, 35, 52]
        let isHex = (0..<55).allSatisfy { at in
            let isDash = value[at] == UInt8(ascii: "-")
            let isDigit = (0x30...0x39).contains(value[at]) || (0x61...0x66).contains(value[at])
            return dashes.contains(at) ? isDash : isDigit
        }
        guard isHex, value[55...].allSatisfy({ (0x21...0x7E).contains($0) }) else { return false }
        let version = value[..<2]
        if version.elementsEqual("ff".utf8) || version.elementsEqual("00".utf8) && value.count > 55 { return false }
        return value[3..<35].contains { $0 != 0x30 } && value[36..<52].contains { $0 != 0x30 }
    }
}
