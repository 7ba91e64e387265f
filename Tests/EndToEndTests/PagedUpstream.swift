import Foundation
import HTTPServer
import Synchronization

/// An upstream that pages by number: `/pages?crawl=C&page=N` has `itemsPerPage` items that no other page of any crawl has.
final class PagedUpstream: Sendable {
    let pages: Int64
    let itemsPerPage: Int
    private let server: HTTPServer
    private let requests = RequestCount()
    /// Holds the requests for the page that is never answered; stopping the server waits for them.
    private let gate = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - latency: how long each answer takes.
    ///   - hangs: a page that is never answered while the server runs, for a worker that has to stop without it.
    init(pages: Int64, itemsPerPage: Int, latency: Duration = .zero, hangsAt hanging: Int64? = nil) throws {
        self.pages = pages
        self.itemsPerPage = itemsPerPage
        let (requests, gate) = (requests, gate)
        let microseconds = UInt32(latency / .microseconds(1))
        server = try HTTPServer(threads: 48) { request in
            requests.add()
            guard let page = request.query("page").flatMap(Int64.init), let crawl = request.query("crawl") else {
                return .text("page and crawl are wanted", status: 400)
            }
            if page == hanging { gate.wait() }
            if microseconds > 0 { usleep(microseconds) }
            return .json(Self.body(crawl: crawl, page: page, of: pages, itemsPerPage: itemsPerPage))
        }
    }

    deinit { for _ in 0..<100 { gate.signal() } }

    /// Requests so far.
    var requestCount: Int { requests.value }
    var port: UInt16 { server.port }

    /// The source file for it; each crawl brings its own name as a param.
    var sourceFile: String {
        """
        name: pages
        request:
          url: http://127.0.0.1:\(port)/pages
          query: {crawl: "{{crawl}}"}
        pagination:
          type: page_number
          page: {in: query, name: page, first: 1}
          total_items_path: /total
        extract:
          items_path: /items
        retry: {base_delay: 50ms}

        """
    }

    private static func body(crawl: String, page: Int64, of pages: Int64, itemsPerPage: Int) -> String {
        let items = page > pages ? [] : (0..<itemsPerPage).map { #"{"id":"\#(crawl)/\#(page)/\#($0)"}"# }
        return #"{"items":[\#(items.joined(separator: ","))],"total":\#(pages * Int64(itemsPerPage))}"#
    }
}

private final class RequestCount: Sendable {
    private let number = Atomic<Int>(0)
    var value: Int { number.load(ordering: .relaxed) }
    func add() { number.add(1, ordering: .relaxed) }
}
