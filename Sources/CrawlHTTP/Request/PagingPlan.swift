import Crawl
import JSONText

/// How a source gets from page to page: what goes into a request, and where the signals are in a response.
struct PagingPlan: Sendable, Hashable {
    enum Strategy: Sendable, Hashable {
        case pageNumber(first: Int64, at: Placement)
        case offset(first: Int64, at: Placement)
        case cursor(at: Placement, from: SignalPath)
        /// The next URL is a value of the body or of a header.
        case link(from: SignalPath)
        /// The next URL is in the `Link` header with the relation `next`.
        case headerLink
        case singlePage
    }

    var strategy: Strategy
    /// Where the page size goes; `nil` if it is not sent.
    var limitPlace: Placement?
    var pageSize: Int?
    var totalItems: SignalPath?
    var totalPages: SignalPath?
    var hasMore: SignalPath?
    /// Send the number of the first page (or its offset) too. Defaults to true; there are upstreams that refuse it.
    var injectOnFirstRequest = true
    var allowHosts: [AllowedHost] = []
    var merge = MergeParams.never
    /// What relative next URLs are appended to, for upstreams whose links lack the path of a gateway.
    var nextURLBase: URLReference?

    /// Where the page of a cursor is: an address of the upstream's, or values in the plan's own request.
    func locate(
        _ cursor: PageCursor?, pageSize: Int?
    ) throws(RequestProblem) -> (address: URLReference?, placed: [PlacedValue]) {
        var placed: [PlacedValue] = []
        if let place = limitPlace, let size = pageSize ?? self.pageSize {
            placed.append(PlacedValue(Int64(size), at: place))
        }
        switch (strategy, cursor) {
        case (.pageNumber(let first, let place), nil), (.offset(let first, let place), nil):
            if injectOnFirstRequest || place.isInPath { placed.append(PlacedValue(first, at: place)) }
        case (.pageNumber(_, let place), .page(let number)):
            placed.append(PlacedValue(number, at: place))
        case (.offset(_, let place), .offset(let offset)):
            placed.append(PlacedValue(offset, at: place))
        case (.cursor(let place, _), .token(let token)):
            placed.append(try Self.place(token, at: place))
        case (.cursor(let place, _), nil):
            // A place in the path cannot be left out; it is empty on the first page.
            if place.isInPath { placed.append(PlacedValue(text: "", json: "\"\"", at: place)) }
        case (.link, .url(let url)), (.headerLink, .url(let url)):
            return (try Self.address(url), placed)
        case (.link, nil), (.headerLink, nil), (.singlePage, nil):
            break
        default:
            throw RequestProblem(.value, "the cursor is \(cursor.phrase), and the source pages by \(strategy.phrase)")
        }
        return (nil, placed)
    }

    /// A string is placed as what it says, any other JSON value as its text.
    private static func place(_ token: RawJSON, at place: Placement) throws(RequestProblem) -> PlacedValue {
        if case .body = place { return PlacedValue(text: "", json: token.text, at: place) }
        guard token.text.hasPrefix("\"") else { return PlacedValue(text: token.text, json: token.text, at: place) }
        guard let node = try? JSONNode.parse(Array(token.text.utf8), maxBytes: 32 << 20), !node.hasLoneSurrogate,
            case .string(let text) = node.content
        else { throw RequestProblem(.value, "the cursor is a string that cannot be sent outside of JSON") }
        return PlacedValue(text: text, json: token.text, at: place)
    }

    private static func address(_ url: String) throws(RequestProblem) -> URLReference {
        guard let legal = PercentEncoding.repair(url) else {
            throw RequestProblem(.value, "the next URL has a control character")
        }
        return URLReference(legal)
    }
}

/// Where a signal is: a JSON Pointer into the body, or a header.
enum SignalPath: Sendable, Hashable {
    case body(JSONPointer)
    case header(String)

    /// As it is written in a source file.
    var text: String {
        switch self {
        case .body(let pointer): pointer.description
        case .header(let name): "header:\(name)"
        }
    }
}

extension Placement {
    var isInPath: Bool { if case .path = self { true } else { false } }
}

extension PagingPlan.Strategy {
    var phrase: String {
        switch self {
        case .pageNumber: "page number"
        case .offset: "offset"
        case .cursor: "cursor"
        case .link, .headerLink: "link"
        case .singlePage: "nothing: it has one page"
        }
    }
}

extension PageCursor? {
    var phrase: String {
        switch self {
        case .page: "a page number"
        case .offset: "an offset"
        case .token: "a token"
        case .url: "a URL"
        case nil: "none"
        }
    }
}
