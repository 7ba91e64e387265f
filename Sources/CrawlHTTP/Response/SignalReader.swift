import Crawl
import HTTP
import JSONText

/// Reads what a response says about the pages that follow. It decides nothing: what does not make sense is reported as
/// unreadable, and the stop rules end the crawl for it.
struct SignalReader: Sendable {
    /// A signal as it was found.
    enum Found: Sendable, Hashable {
        case absent
        case value(kind: JSONKind, text: String, string: String?)
        case header(String)
    }

    /// A cursor travels in every job and record of its crawl. Links that grow with every page end here at the latest.
    static let maxCursorBytes = 64 << 10

    let paging: PagingPlan
    /// The pointers that an extractor has to look for, in this order.
    let pointers: [JSONPointer]

    init(_ paging: PagingPlan) {
        self.paging = paging
        var pointers: [JSONPointer] = []
        for path in [paging.totalItems, paging.totalPages, paging.hasMore, paging.strategy.nextPath] {
            if case .body(let pointer) = path, !pointers.contains(pointer) { pointers.append(pointer) }
        }
        self.pointers = pointers
    }

    /// - Parameters:
    ///   - links: the values of all `Link` header lines.
    ///   - url: the URL that answered, against which links are resolved.
    ///   - find: looks a signal up in the response.
    func read(links: [String], url: URLReference, _ find: (SignalPath) -> Found) -> Signals {
        var signals = Signals()
        if let path = paging.totalItems, let count = count(find(path), path, &signals) {
            signals.total = .items(count)
        } else if let path = paging.totalPages, let count = count(find(path), path, &signals) {
            signals.total = .pages(count)
        }
        if let path = paging.hasMore { signals.hasMore = flag(find(path), path, &signals) }
        switch paging.strategy {
        case .cursor(_, let path): signals.next = token(find(path))
        case .link(let path): signals.next = link(find(path), path, url, &signals)
        case .headerLink:
            if let target = LinkHeader(links).target("next") { signals.next = next(target, url, &signals) }
        case .pageNumber, .offset, .singlePage: break
        }
        if let size = signals.next?.size, size > Self.maxCursorBytes {
            signals.next = nil
            signals.report("the next cursor has \(size) bytes, more than \(Self.maxCursorBytes)")
        }
        return signals
    }

    /// An integer, or a string or header that is one: `120`, `"120"`.
    private func count(_ found: Found, _ path: SignalPath, _ signals: inout Signals) -> Int64? {
        let digits: String
        switch found {
        case .absent, .value(.null, _, _): return nil
        case .header(let text) where text.isEmpty: return nil
        case .value(.number, let text, _), .header(let text): digits = text
        case .value(.string, _, let string): digits = string ?? ""
        case .value: digits = ""
        }
        if let count = Int64(digits), digits.utf8.allSatisfy({ (48...57).contains($0) }) { return count }
        signals.report("\(path.text) is \(found.excerpt), not a number of items or pages")
        return nil
    }

    private func flag(_ found: Found, _ path: SignalPath, _ signals: inout Signals) -> Bool? {
        switch found {
        case .absent, .value(.null, _, _): return nil
        case .value(.bool, let text, _): return text == "true"
        case .value(.string, _, let text?), .header(let text):
            if let flag = Bool(text.lowercased()) { return flag }
        case .value: break
        }
        signals.report("\(path.text) is \(found.excerpt), neither true nor false")
        return nil
    }

    /// Absent, null and "" are none; `0`, `false`, `" "`, `[]` and `{}` are tokens.
    private func token(_ found: Found) -> PageCursor? {
        switch found {
        case .absent, .value(.null, _, _), .value(.string, "\"\"", _): return nil
        case .value(_, let text, _): return .token(RawJSON(text))
        case .header(let text):
            guard !text.isEmpty else { return nil }
            var writer = JSONWriter(capacity: text.utf8.count + 2)
            writer.string(text)
            return .token(RawJSON(String(decoding: writer.bytes, as: UTF8.self)))
        }
    }

    private func link(
        _ found: Found, _ path: SignalPath, _ url: URLReference, _ signals: inout Signals
    ) -> PageCursor? {
        switch found {
        case .absent, .value(.null, _, _): return nil
        case .header(let text), .value(.string, _, let text?): return text.isEmpty ? nil : next(text, url, &signals)
        case .value:
            signals.report("\(path.text) is \(found.excerpt), not a URL")
            return nil
        }
    }

    private func next(_ target: String, _ url: URLReference, _ signals: inout Signals) -> PageCursor? {
        guard let legal = PercentEncoding.repair(target) else {
            signals.report("the next URL has a control character")
            return nil
        }
        let reference = URLReference(legal)
        guard let base = paging.nextURLBase, reference.scheme == nil, reference.authority == nil else {
            return .url(url.resolving(reference).text)
        }
        var joined = base
        let prefix = base.path.hasSuffix("/") ? String(base.path.dropLast()) : base.path
        joined.path = prefix + (reference.path.hasPrefix("/") ? "" : "/") + reference.path
        if reference.path.isEmpty { joined.path = base.path }
        joined.query = reference.query
        return .url(joined.text)
    }
}

extension SignalReader.Found {
    /// For messages; long values are cut.
    fileprivate var excerpt: String {
        let text =
            switch self {
            case .absent: "absent"
            case .value(_, let text, _): text
            case .header(let text): "\"\(text)\""
            }
        return text.count > 40 ? text.prefix(40) + "…" : text
    }
}

extension PageCursor {
    fileprivate var size: Int {
        switch self {
        case .page, .offset: 0
        case .token(let json): json.text.utf8.count
        case .url(let url): url.utf8.count
        }
    }
}

extension Signals {
    fileprivate mutating func report(_ problem: String) {
        unreadable = unreadable.map { "\($0); \(problem)" } ?? problem
    }
}

extension PagingPlan.Strategy {
    /// Where the next cursor or URL is, other than in the `Link` header.
    var nextPath: SignalPath? {
        switch self {
        case .cursor(_, let path), .link(let path): path
        case .pageNumber, .offset, .headerLink, .singlePage: nil
        }
    }
}
