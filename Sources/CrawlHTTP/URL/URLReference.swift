/// A URI reference cut into its five components (RFC 3986, section 3), each kept as it was written.
///
/// Nothing is decoded, encoded or lower-cased: what an upstream hands out goes back to it verbatim. Every text has
/// these components, so reading never fails; whether the result may be fetched is what `Origin` answers.
struct URLReference: Sendable, Hashable {
    var scheme: String?
    /// `user@host:port`, without the slashes; `""` for `///x`, `nil` if there are no slashes.
    var authority: String?
    var path: String
    var query: String?
    var fragment: String?

    init(
        scheme: String? = nil, authority: String? = nil, path: String = "", query: String? = nil,
        fragment: String? = nil
    ) {
        self.scheme = scheme
        self.authority = authority
        self.path = path
        self.query = query
        self.fragment = fragment
    }

    /// Reads a reference (RFC 3986, appendix B), with the grammar of a scheme (section 3.1) checked.
    init(_ text: String) {
        var rest = text.utf8[...]
        fragment = Self.cut(&rest, from: "#")
        query = Self.cut(&rest, from: "?")
        if let colon = rest.firstIndex(of: UInt8(ascii: ":")), Self.isScheme(rest[..<colon]) {
            scheme = String(rest[..<colon])
            rest = rest[rest.index(after: colon)...]
        }
        if rest.starts(with: "//".utf8) {
            rest = rest.dropFirst(2)
            let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            authority = String(rest[..<end])
            rest = rest[end...]
        }
        path = String(rest) ?? ""
    }

    /// The reference as text (RFC 3986, section 5.3).
    var text: String {
        var text = ""
        if let scheme { text += scheme + ":" }
        if let authority { text += "//" + authority }
        text += path
        if let query { text += "?" + query }
        if let fragment { text += "#" + fragment }
        return text
    }

    /// What `reference` means where this URL is the base (RFC 3986, section 5.2.2, strict).
    func resolving(_ reference: URLReference) -> URLReference {
        var target = URLReference(fragment: reference.fragment)
        target.scheme = reference.scheme ?? scheme
        if reference.scheme != nil || reference.authority != nil {
            target.authority = reference.authority
            target.path = Self.removingDotSegments(reference.path)
            target.query = reference.query
            return target
        }
        target.authority = authority
        if reference.path.isEmpty {
            target.path = path
            target.query = reference.query ?? query
            return target
        }
        target.path = Self.removingDotSegments(reference.path.hasPrefix("/") ? reference.path : merge(reference.path))
        target.query = reference.query
        return target
    }

    /// RFC 3986, section 5.2.3.
    private func merge(_ relative: String) -> String {
        if authority != nil && path.isEmpty { return "/" + relative }
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return relative }
        return String(path[...slash]) + relative
    }

    /// RFC 3986, section 5.2.4.
    static func removingDotSegments(_ path: String) -> String {
        // The common case, told without a copy: no segment begins with a dot.
        guard path.hasPrefix(".") || path.contains("/.") else { return path }
        var segments = path.split(separator: "/", omittingEmptySubsequences: false)[...]
        var output: [Substring] = []
        let isAbsolute = path.hasPrefix("/")
        if isAbsolute { segments = segments.dropFirst() }
        for (index, segment) in zip(segments.indices, segments) {
            let isLast = index == segments.indices.last
            switch segment {
            case ".": if isLast { output.append("") }
            case "..":
                _ = output.popLast()
                if isLast { output.append("") }
            default: output.append(segment)
            }
        }
        return (isAbsolute ? "/" : "") + output.joined(separator: "/")
    }

    private static func cut(_ rest: inout Substring.UTF8View, from mark: Unicode.Scalar) -> String? {
        guard let start = rest.firstIndex(of: UInt8(ascii: mark)) else { return nil }
        defer { rest = rest[..<start] }
        return String(rest[rest.index(after: start)...])
    }

    private static func isScheme(_ text: Substring.UTF8View) -> Bool {
        guard let first = text.first, isLetter(first) else { return false }
        return text.allSatisfy { byte in
            isLetter(byte) || (48...57).contains(byte) || [UInt8(ascii: "+"), UInt8(ascii: "-"), 46].contains(byte)
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (65...90).contains(byte) || (97...122).contains(byte) }
}
