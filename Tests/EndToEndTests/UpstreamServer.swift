import BrokerSupport
import Foundation

/// A real paginated server written by others, which serves the languages of ISO 639-3; see the folder Upstreams.
final class UpstreamServer: Sendable {
    let port: Int
    /// What a whole crawl has, taken from the data and not from the server.
    let expectedItems: Int
    /// SHA-256 over the sorted ids, each followed by a newline.
    let expectedHash: String
    private let process: ChildProcess

    /// The Python that has the servers' packages; `deploy/test` makes it.
    static let python = ProcessInfo.processInfo.environment["PAGEHOUND_UPSTREAMS"]

    /// Starts `datasette` or `drf`, and returns when it answers.
    init(_ name: String) async throws {
        let script = repository.appending(path: "Tests/EndToEndTests/Upstreams/serve.py").path()
        let directory = try makeTemporaryDirectory("upstream")
        process = try ChildProcess(
            Self.python ?? "python3", [script, name], environment: ["PYTHONDONTWRITEBYTECODE": "1"],
            directory: directory)
        let isReady = await process.wait(within: .seconds(60)) { $0.output.contains("\n") }
        let words = process.output.split(whereSeparator: \.isWhitespace)
        guard isReady, words.count == 4, words[0] == "ready", let port = Int(words[1]), let items = Int(words[2]) else {
            throw UpstreamProblem("\(name) did not start: \(process.errors)")
        }
        self.port = port
        expectedItems = items
        expectedHash = String(words[3])
    }

    func stop() async {
        process.send(SIGTERM)
        if await process.waitForExit(within: .seconds(10)) == nil { await process.kill() }
    }
}

struct UpstreamProblem: Error {
    var message: String
    init(_ message: String) { self.message = message }
}

/// How one listing of a server is crawled: a source file without its head.
struct Listing: Sendable, CustomStringConvertible {
    var server: String
    var name: String
    /// What follows `http://127.0.0.1:PORT`.
    var path: String
    var pagination: String
    var items: String
    var reason: String

    var description: String { "\(server) by \(name)" }

    func sourceFile(port: Int) -> String {
        """
        name: \(name)
        request: {url: "http://127.0.0.1:\(port)\(path)"}
        pagination: {\(pagination)}
        extract: {items_path: "\(items)"}
        retry: {base_delay: 50ms}

        """
    }

    static let all = [
        Listing(
            server: "datasette", name: "cursor", path: "/iso/languages.json?_shape=objects&_size=100",
            pagination: "type: cursor, cursor: {in: query, name: _next}, cursor_path: /next, "
                + "total_items_path: /filtered_table_rows_count", items: "/rows", reason: "no_next_cursor"),
        Listing(
            server: "datasette", name: "json_link", path: "/iso/languages.json?_shape=objects&_sort=name&_size=500",
            pagination: "type: json_link, next_path: /next_url", items: "/rows", reason: "no_next_cursor"),
        Listing(
            server: "datasette", name: "header_link", path: "/iso/languages.json?_shape=array&_size=1000",
            pagination: "type: header_link", items: "", reason: "no_next_cursor"),
        Listing(
            server: "drf", name: "page_number", path: "/page/",
            pagination: "type: page_number, page: {in: query, name: page, first: 1}, "
                + "limit: {in: query, name: page_size, value: 100}, total_items_path: /count",
            items: "/results", reason: "total_reached"),
        Listing(
            server: "drf", name: "page_number_to_404", path: "/page/",
            pagination: "type: page_number, page: {in: query, name: page, first: 1}, "
                + "limit: {in: query, name: page_size, value: 500}, stop_on_status: [404]",
            items: "/results", reason: "end_status"),
        Listing(
            server: "drf", name: "offset", path: "/offset/",
            pagination: "type: offset, offset: {in: query, name: offset, first: 0}, "
                + "limit: {in: query, name: limit, value: 250}, total_items_path: /count",
            items: "/results", reason: "total_reached"),
        Listing(
            server: "drf", name: "cursor_link", path: "/cursor/?page_size=100",
            pagination: "type: json_link, next_path: /next", items: "/results", reason: "no_next_cursor"),
        Listing(
            server: "drf", name: "link_page", path: "/link-page/?page_size=500",
            pagination: "type: header_link", items: "", reason: "no_next_cursor"),
        Listing(
            server: "drf", name: "link_cursor", path: "/link-cursor/?page_size=1000",
            pagination: "type: header_link", items: "", reason: "no_next_cursor"),
        Listing(
            server: "drf", name: "throttled", path: "/throttled/?page_size=200",
            pagination: "type: page_number, page: {in: query, name: page, first: 1}, total_items_path: /count",
            items: "/results", reason: "total_reached"),
    ]
}
