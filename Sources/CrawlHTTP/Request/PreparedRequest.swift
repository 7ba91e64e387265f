import HTTP

/// The request for one page with everything in it, told apart in what every host may see and what only the source's
/// own origin may.
struct PreparedRequest: Sendable {
    struct Header: Sendable, Hashable {
        var name: String
        var value: String

        /// The page number, the cursor or the page size, without which another page would come.
        var isPlaced = false

        /// What any host may see. All other headers may hold credentials, whatever their names: `X-Api-Key` is as
        /// secret as `Authorization`.
        var isForEveryHost: Bool {
            isPlaced
                || ["accept", "accept-language", "content-type", "traceparent", "user-agent"].contains(
                    name.lowercased())
        }
    }

    var method: String
    /// Absolute, without the credentials of the query.
    var url: URLReference
    /// The origin that gets the credentials.
    var home: Origin
    var headers: [Header] = []
    /// Query parameters that are credentials.
    var credentialQuery: [(name: String, value: String)] = []
    var body: [UInt8]?
    var bodyHoldsCredentials = false

    init(method: String, url: URLReference, home: Origin) {
        self.method = method
        self.url = url
        self.home = home
    }

    /// Adds a header that the source file does not set.
    mutating func addHeader(_ name: String, _ value: String) {
        guard !headers.contains(where: { $0.name.lowercased() == name }) else { return }
        headers.append(Header(name: name, value: value))
    }

    /// The request as it goes to the host of `url`, which has been found to be the home or an allowed host. What is
    /// sent never has userinfo or a fragment.
    func request(to origin: Origin) -> HTTPRequest {
        var target = url
        target.scheme = origin.scheme
        target.authority = origin.authority
        target.fragment = nil
        if target.path.isEmpty { target.path = "/" }
        let isHome = origin == home
        if isHome { target.query = queryWithCredentials(target.query) }
        let headers = headers.filter { isHome || $0.isForEveryHost }.map { (name: $0.name, value: $0.value) }
        return HTTPRequest(url: target.text, method: method, headers: headers, body: body)
    }

    /// Credentials that the query lacks, since a next link often repeats the whole request and as often does not.
    private func queryWithCredentials(_ text: String?) -> String? {
        if credentialQuery.isEmpty { return text }
        var query = QueryText(text)
        for (name, value) in credentialQuery where !query.contains(name) { query.append(name, value) }
        return query.text
    }
}
