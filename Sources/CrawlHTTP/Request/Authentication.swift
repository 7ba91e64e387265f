/// How the requests of a source prove who sends them.
enum Authentication: Sendable, Hashable {
    /// `Authorization: Bearer TOKEN` (RFC 6750, section 2.1).
    case bearer(token: Template)
    /// `Authorization: Basic …` (RFC 7617), in UTF-8.
    case basic(username: Template, password: Template)
    case apiKeyHeader(name: String, value: Template)
    case apiKeyQuery(name: String, value: Template)

    var templates: [Template] {
        switch self {
        case .bearer(let token): [token]
        case .basic(let username, let password): [username, password]
        case .apiKeyHeader(_, let value), .apiKeyQuery(_, let value): [value]
        }
    }

    /// The header that carries the credentials; `nil` if the query does.
    func header(_ values: TemplateValues) throws(RequestProblem) -> (name: String, value: String)? {
        switch self {
        case .bearer(let token):
            return ("authorization", "Bearer " + (try token.render(values)))
        case .basic(let username, let password):
            let pair = "\(try username.render(values)):\(try password.render(values))"
            return ("authorization", "Basic " + Base64.encode(Array(pair.utf8)))
        case .apiKeyHeader(let name, let value):
            return (name, try value.render(values))
        case .apiKeyQuery:
            return nil
        }
    }
}

/// Base64 with padding (RFC 4648, section 4).
enum Base64 {
    static func encode(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var bits = group.reduce(0) { $0 << 8 | UInt32($1) }
            bits <<= 8 * UInt32(3 - group.count)
            for index in 0..<4 {
                let isPadding = index > group.count
                text.append(isPadding ? UInt8(ascii: "=") : alphabet[Int(bits >> (18 - 6 * UInt32(index))) & 63])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
