/// Takes secrets out of what is shown: messages, and the URL that stands in a result batch.
struct Redaction: Sendable, Hashable {
    /// Names of query parameters whose values are never shown, in lower case.
    private let names: Set<String>
    /// Secrets that are replaced wherever they turn up, for example in a page that repeats the request.
    private let values: [String]

    /// Names that hold credentials nearly everywhere. `token` is not one: it is mostly a cursor.
    private static let wellKnown: Set<String> = [
        "api_key", "apikey", "api-key", "access_token", "client_secret", "password", "secret", "sig", "signature",
        "x-amz-signature", "x-amz-security-token",
    ]

    /// - Parameter values: shorter ones than four bytes are not looked for; they are in every text.
    init(names: Set<String> = [], values: [String] = []) {
        self.names = Self.wellKnown.union(names.map { $0.lowercased() })
        var all: Set<String> = []
        for value in values where value.utf8.count >= 4 {
            // As it is, as a URL holds it, and as some write it in JSON.
            all.formUnion([value, PercentEncoding.encode(value), value.replacing("/", with: "\\/")])
        }
        // The longest first: one may be a part of another.
        self.values = all.sorted { ($0.utf8.count, $0) > ($1.utf8.count, $1) }
    }

    /// The URL without userinfo and fragment, and with `***` for what is secret.
    func url(_ url: URLReference) -> String {
        var shown = url
        if let authority = url.authority, let at = authority.lastIndex(of: "@") {
            shown.authority = String(authority[authority.index(after: at)...])
        }
        shown.fragment = nil
        shown.query = url.query.map { query in
            QueryText(query).redacted { names.contains($0.lowercased()) }.text ?? query
        }
        return text(shown.text)
    }

    func text(_ text: String) -> String {
        values.reduce(text) { $1.isEmpty || !$0.contains($1) ? $0 : $0.replacing($1, with: "***") }
    }
}
