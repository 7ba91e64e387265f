/// The links of a response's `Link` header fields (RFC 8288, section 3 and appendix B), read tolerantly.
///
/// Commas and semicolons count only outside of `<>` and of quotes; a parameter may have no value, its value may be
/// unquoted; the fields of several header lines are one list. What cannot be read is passed over up to the next
/// comma, and what follows still counts.
struct LinkHeader: Sendable, Hashable {
    struct Link: Sendable, Hashable {
        /// As written between `<` and `>`: often relative, possibly empty.
        var target: String
        /// Relation types in lower case, from the first `rel` parameter.
        var relations: [String]
        /// The link is about another resource than the one that was asked for.
        var hasAnchor: Bool
    }

    private(set) var links: [Link] = []

    init(_ lines: [String]) {
        for line in lines {
            var scanner = Scanner(rest: Array(line.utf8)[...])
            while let link = scanner.nextLink() { links.append(link) }
        }
    }

    /// The target of the first link of this relation, compared without case. A link with an anchor is not one of
    /// this response's own.
    func target(_ relation: String) -> String? {
        links.first { !$0.hasAnchor && $0.relations.contains(relation.lowercased()) }?.target
    }
}

private struct Scanner {
    var rest: ArraySlice<UInt8>

    mutating func nextLink() -> LinkHeader.Link? {
        while !rest.isEmpty {
            skipBlanks(andCommas: true)
            guard take("<") else {
                skipElement()
                continue
            }
            guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return nil }
            let target = String(decoding: rest[..<end], as: UTF8.self)
            rest = rest[(end + 1)...]
            return readParameters(of: target)
        }
        return nil
    }

    private mutating func readParameters(of target: String) -> LinkHeader.Link {
        var link = LinkHeader.Link(target: target, relations: [], hasAnchor: false)
        var relations: String?
        while true {
            skipBlanks()
            // An element ends at a comma; anything else that is not a parameter is passed over.
            guard take(";") else {
                if !rest.isEmpty && rest.first != UInt8(ascii: ",") { skipParameter() } else { break }
                continue
            }
            skipBlanks()
            let name = takeToken(upTo: "=;, \t").lowercased()
            skipBlanks()
            let value = take("=") ? takeValue() : ""
            if name == "rel" && relations == nil { relations = value }
            if name == "anchor" { link.hasAnchor = true }
        }
        link.relations = (relations ?? "").lowercased().split { $0 == " " || $0 == "\t" }.map(String.init)
        return link
    }

    private mutating func takeValue() -> String {
        skipBlanks()
        guard take("\"") else { return takeToken(upTo: ";, \t") }
        var value: [UInt8] = []
        while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
            guard byte == UInt8(ascii: "\\") else {
                value.append(byte)
                continue
            }
            if let escaped = rest.popFirst() { value.append(escaped) }
        }
        return String(decoding: value, as: UTF8.self)
    }

    private mutating func takeToken(upTo ends: StaticString) -> String {
        let ends = Array(ends.description.utf8)
        let end = rest.firstIndex(where: ends.contains) ?? rest.endIndex
        defer { rest = rest[end...] }
        return String(decoding: rest[..<end], as: UTF8.self)
    }

    private mutating func take(_ mark: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: mark) else { return false }
        rest = rest.dropFirst()
        return true
    }

    private mutating func skipBlanks(andCommas: Bool = false) {
        rest = rest.drop { $0 == 32 || $0 == 9 || (andCommas && $0 == UInt8(ascii: ",")) }
    }

    private mutating func skipParameter() {
        rest = rest.drop { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: ",") }
    }

    private mutating func skipElement() {
        while let byte = rest.first, byte != UInt8(ascii: ",") {
            if byte == UInt8(ascii: "\"") { _ = takeValue() } else { rest = rest.dropFirst() }
        }
    }
}
