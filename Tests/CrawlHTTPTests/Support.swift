import HTTPServer
import Testing
import Threads

@testable import Crawl
@testable import CrawlHTTP

/// Tue, 14 Nov 2023 22:13:20 GMT
let testTime = Timestamp(milliseconds: 1_700_000_000_000)

/// Makes sources of YAML, with secrets and a clock that stand still.
func makeSources(_ environment: [String: String] = [:], files: [String: String] = [:]) -> HTTPSources {
    let secrets = SecretReader(environment: environment) { path in files[path].map { Array($0.utf8) } }
    return HTTPSources(secrets: secrets, now: { testTime })
}

func readSource(_ yaml: String, _ environment: [String: String] = [:]) throws -> SourceFile {
    try makeSources(environment).read(Array(yaml.utf8), file: "s.yaml")
}

/// An upstream on a free port of 127.0.0.1 that keeps what it was asked.
final class Upstream: Sendable {
    private let server: HTTPServer
    private let log: Log

    private final class Log: Sendable {
        let requests = Monitor<[ServerRequest]>([])
    }

    init(_ answer: @escaping @Sendable (ServerRequest) -> ServerResponse) throws {
        let log = Log()
        self.log = log
        server = try HTTPServer { request in
            log.requests.withLock { $0.append(request) }
            return answer(request)
        }
    }

    /// Answers the n-th request with the n-th response, and the last one again after that.
    convenience init(_ answers: [ServerResponse]) throws {
        let next = Counter()
        try self.init { _ in answers[min(next.increment(), answers.count - 1)] }
    }

    deinit { server.stop() }

    var url: String { "http://127.0.0.1:\(server.port)" }
    /// The same server under another name, which makes it another origin.
    var otherURL: String { "http://localhost:\(server.port)" }
    var requests: [ServerRequest] { log.requests.withLock(\.self) }
    var targets: [String] { requests.map(\.target) }
}

final class Counter: Sendable {
    private let value = Monitor(0)

    func increment() -> Int {
        value.withLock { value in
            defer { value += 1 }
            return value
        }
    }
}

/// A source with the given sections. The request of most tests is its URL alone.
func openSource(
    url: String, request: String = "", pagination: String = "type: single_page", items: String = "/items",
    more: String = "", environment: [String: String] = [:], params: [String: String] = [:]
) throws -> (source: Source, opened: any PageSource) {
    let yaml = """
        name: products
        request:
          url: "\(url)"
        \(request.indented)
        pagination:
        \(pagination.indented)
        extract:
          items_path: "\(items)"
        \(more)
        """
    let sources = makeSources(environment)
    let source = sources.source(try sources.read(Array(yaml.utf8), file: "products.yaml"))
    return (source, try source.open(params))
}

extension String {
    fileprivate var indented: String { split(separator: "\n").map { "  " + $0 }.joined(separator: "\n") }
}

/// What a crawl gave, as the stop rules judged it.
struct Crawled {
    var pages: [Page] = []
    var items: [[String]] = []
    var end: CrawlRecord.End?

    var summary: String { end.map { "\($0.verdict.rawValue): \($0.reason.rawValue)" } ?? "still running" }
}

/// Walks through a source page by page as a worker would, without retries. Gives up after 30 pages.
func crawl(_ source: (source: Source, opened: any PageSource)) async throws -> Crawled {
    var record = CrawlRecord(
        crawl: "c", run: 1, source: source.source.name, startedAt: testTime,
        newestJob: JobPosition(offset: 0, timestamp: testTime))
    var crawled = Crawled()
    while crawled.pages.count < 30, record.end == nil {
        let request = PageRequest(
            crawl: "c", page: record.pages + 1, cursor: record.cursor, pageSize: source.source.pagination.pageSize)
        let page = try await source.opened.fetch(request)
        let decision = StopRules.judge(page, of: record, by: source.source.pagination)
        crawled.pages.append(page)
        if decision.publish { crawled.items.append(page.items.texts) }
        record.take(page, oversized: 0, decision, at: testTime)
    }
    crawled.end = record.end
    return crawled
}

/// Fetches one page; the first one if nothing is said.
func fetch(_ source: (source: Source, opened: any PageSource), _ cursor: PageCursor? = nil, page: Int64 = 1)
    async throws -> Page
{
    try await source.opened.fetch(PageRequest(crawl: "c", page: page, cursor: cursor))
}

/// The error of a fetch that must fail.
func failure(
    _ source: (source: Source, opened: any PageSource), _ cursor: PageCursor? = nil, page: Int64 = 1
) async throws -> SourceError {
    let request = PageRequest(crawl: "c", page: page, cursor: cursor)
    return try #require(await #expect(throws: SourceError.self) { _ = try await source.opened.fetch(request) })
}

extension Items {
    var texts: [String] { ranges.map { String(decoding: bytes[$0], as: UTF8.self) } }
}

extension PageCursor {
    static func token(json: String) -> PageCursor { .token(RawJSON(json)) }
}

/// A flag that several threads may turn.
final class Switch: Sendable {
    private let state = Monitor(false)

    var isOn: Bool {
        get { state.withLock(\.self) }
        set { state.withLock { $0 = newValue } }
    }
}
