/// Who answers a URL: scheme, host and effective port (RFC 6454, section 4). Only http and https have one here.
///
/// A next link or a redirect is followed only where the origin is the source's own, or is allowed by name; every other
/// place is foreign. So that what is compared is what is connected to, `origin.authority` is what is sent on, never
/// the authority that an upstream wrote.
struct Origin: Sendable, Hashable {
    /// `http` or `https`.
    let scheme: String
    /// In lower case; an IPv6 address keeps its brackets.
    let host: String
    let port: Int

    /// `nil` if the URL is not absolute, not http or https, or has no host that can be trusted to mean one thing.
    init?(_ url: URLReference) {
        guard let scheme = url.scheme?.lowercased(), let defaultPort = Self.defaultPort(scheme),
            let authority = url.authority
        else { return nil }
        // The last "@" ends the userinfo, as clients read it; what stands before it is dropped.
        let hostPort = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        guard let (host, port) = Self.split(hostPort), Self.isHost(host) else { return nil }
        self.scheme = scheme
        self.host = host.lowercased()
        self.port = port ?? defaultPort
    }

    /// Host and port as they are written in a URL, the default port left out, never with userinfo.
    var authority: String { port == Self.defaultPort(scheme) ? host : "\(host):\(port)" }

    static func defaultPort(_ scheme: String) -> Int? {
        switch scheme {
        case "http": 80
        case "https": 443
        default: nil
        }
    }

    /// Cuts `host:port`. `nil` if the port is not one; an empty port is none (RFC 3986, section 3.2.3).
    static func split(_ text: Substring) -> (host: Substring, port: Int?)? {
        let searchStart = text.lastIndex(of: "]") ?? text.startIndex
        guard let colon = text[searchStart...].firstIndex(of: ":") else { return (text, nil) }
        let digits = text[text.index(after: colon)...]
        if digits.isEmpty { return (text[..<colon], nil) }
        guard digits.utf8.allSatisfy({ (48...57).contains($0) }), let port = Int(digits), (1...65_535).contains(port)
        else { return nil }
        return (text[..<colon], port)
    }

    /// Labels of letters, digits, `-` and `_`, or an IPv6 address in brackets. Percent-encoded and non-ASCII names are
    /// refused: clients differ in what they make of them.
    private static func isHost(_ host: Substring) -> Bool {
        if host.hasPrefix("[") {
            let inside = host.dropFirst().dropLast()
            return host.hasSuffix("]") && !inside.isEmpty
                && inside.utf8.allSatisfy { isHex($0) || $0 == 58 || $0 == 46 }
        }
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        return labels.allSatisfy { label in
            !label.isEmpty && label.utf8.allSatisfy { PercentEncoding.isUnreserved($0) && $0 != UInt8(ascii: "~") }
        }
    }

    private static func isHex(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (65...70).contains(byte) || (97...102).contains(byte)
    }
}

/// A host that a source may be led to: `cdn.example.com` (the scheme's default port) or `cdn.example.com:8443`.
struct AllowedHost: Sendable, Hashable {
    let host: String
    let port: Int?

    /// `nil` if the text is not a host or `host:port`.
    init?(_ text: String) {
        guard let origin = Origin(URLReference(scheme: "https", authority: text)), !text.contains("@") else {
            return nil
        }
        host = origin.host
        port = Origin.split(text[...])?.port
    }

    func matches(_ origin: Origin) -> Bool {
        origin.host == host && origin.port == (port ?? Origin.defaultPort(origin.scheme))
    }
}
