/// One request. It is sent as it stands: no redirect is followed, no cookie is kept, no credential is added.
public struct HTTPRequest: Sendable {
    /// An absolute `http://` or `https://` URL, already percent-encoded. Path and query go on the wire byte for byte
    /// (`%2B`, `;`, `//` and `..` stay as they are); a fragment is not sent.
    public var url: String
    /// The method, a token of RFC 9110 §9.1, such as `GET`.
    public var method: String
    /// The header fields, in the order in which they are sent. `Host`, `Accept`, `User-Agent` and `Accept-Encoding` are
    /// added unless they are here.
    public var headers: [(name: String, value: String)]
    /// The content, sent with its `Content-Length`. No `Content-Type` is added to it.
    public var body: [UInt8]?

    public init(
        url: String, method: String = "GET", headers: [(name: String, value: String)] = [], body: [UInt8]? = nil
    ) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
    }
}

extension HTTPRequest {
    /// The URL without what may be secret: userinfo, query and fragment.
    var publicURL: String {
        var text = url[..<(url.firstIndex { $0 == "?" || $0 == "#" } ?? url.endIndex)]
        guard let scheme = text.firstRange(of: "://") else { return String(text) }
        let authorityEnd = text[scheme.upperBound...].firstIndex(of: "/") ?? text.endIndex
        if let at = text[scheme.upperBound..<authorityEnd].lastIndex(of: "@") {
            text.removeSubrange(scheme.upperBound...at)
        }
        return String(text)
    }

    func hasHeader(_ name: String) -> Bool {
        headers.contains { $0.name.lowercased() == name }
    }

    /// Throws if the request could not be sent as it stands. Line breaks in particular would let a cursor or a
    /// parameter write header fields of its own (RFC 9112 §11.1).
    func validate() throws(HTTPError) {
        if let reason = urlFault { throw invalid(reason) }
        guard HTTPRequest.isToken(method) else { throw invalid("the method is not a token") }
        for (name, value) in headers {
            guard HTTPRequest.isToken(name) else { throw invalid("a header name is not a token") }
            guard value.utf8.allSatisfy({ $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }) else {
                throw invalid("the header \(name) has a control character")
            }
        }
    }

    /// What is wrong with the URL. The authority is held to RFC 3986 §3.2 as far as its limits go, because libcurl is
    /// lenient: it takes `http:///host/` for `http://host/` and the last of several `@` for the end of the userinfo, so
    /// that it might ask another host than the one that the caller has judged.
    private var urlFault: String? {
        let isHTTP = ["http://", "https://"].contains { scheme in url.prefix(scheme.count).lowercased() == scheme }
        guard isHTTP else { return "the URL must begin with http:// or https://" }
        guard url.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            return "the URL has a space or a control character"
        }
        let authority = url.drop { $0 != "/" }.dropFirst(2).prefix { !"/?#".contains($0) }
        let parts = authority.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count <= 2, !authority.contains("\\") else { return "the authority of the URL is malformed" }
        guard let host = parts.last, !host.isEmpty, !host.hasPrefix(":") else { return "the URL has no host" }
        return nil
    }

    private func invalid(_ reason: String) -> HTTPError {
        HTTPError(kind: .invalidURL, message: "\(HTTPRequest.isToken(method) ? method : "?") \(publicURL): \(reason)")
    }

    /// RFC 9110 §5.6.2.
    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }
}
