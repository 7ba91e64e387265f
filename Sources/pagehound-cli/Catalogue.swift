import Crawl
import CrawlHTTP
import HTTPServer

/// The upstream of the demo: a shop's products behind a page-numbered API on a free port of 127.0.0.1.
final class Catalogue: Sendable {
    static let items = 2_500
    private let server: HTTPServer
    var port: UInt16 { server.port }

    init() throws {
        server = try HTTPServer { request in
            guard request.path == "/products" else { return .text("there is only /products", status: 404) }
            let page = request.query("page").flatMap(Int.init) ?? 1
            let size = min(request.query("per_page").flatMap(Int.init) ?? 25, 100)
            guard page >= 1, size >= 1 else { return .text("page and per_page count from 1", status: 400) }
            return .json(Self.page(page, size: size))
        }
    }

    /// What a user would write into `config/sources/catalogue.yaml`.
    var sourceFile: String {
        """
        name: catalogue
        request:
          url: http://127.0.0.1:\(server.port)/products
        pagination:
          type: page_number
          page: {in: query, name: page, first: 1}
          limit: {in: query, name: per_page, value: 25}
          total_items_path: /total
        extract:
          items_path: /products
        """
    }

    func source() throws -> Source {
        let sources = HTTPSources()
        return sources.source(try sources.read(Array(sourceFile.utf8), file: "catalogue.yaml"))
    }

    private static func page(_ page: Int, size: Int) -> String {
        let first = (page - 1) * size
        let products = (first..<max(first, min(first + size, items))).map(product)
        return #"{"total":\#(items),"page":\#(page),"products":[\#(products.joined(separator: ","))]}"#
    }

    /// One product; its price is a number as shops write it, which a parser that re-encodes would change.
    private static func product(_ index: Int) -> String {
        let number = index + 1
        let kind = kinds[index % kinds.count]
        let price = "\(3 + index * 7 % 90).\(index % 10)0"
        return #"{"id":\#(number),"name":"\#(kind) no. \#(number)","price":\#(price)}"#
    }

    private static let kinds = ["Green tea", "Black tea", "Oolong", "Rooibos", "Mate", "Chai", "White tea"]
}
