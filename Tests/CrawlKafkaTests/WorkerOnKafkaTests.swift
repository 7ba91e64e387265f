import BrokerSupport
import Crawl
import CrawlKafka
import Kafka
import Testing

@Suite(.broker(.readCommitted))
struct `Worker on Kafka` {
    /// `pages` pages of `size` items each, numbered through.
    private static func numbers(pages: Int64, size: Int64 = 3) -> Source {
        Source("numbers", pagination: Pagination(.pageNumber(first: 1))) { _ in Numbers(pages: pages, size: size) }
    }

    private struct Numbers: PageSource {
        let pages: Int64
        let size: Int64

        func fetch(_ request: PageRequest) async throws(SourceError) -> Page {
            guard case .page(let page) = request.cursor ?? .page(1), page <= pages else {
                return Page(items: Items([]))
            }
            return Page(items: Items((1...size).map { "\((page - 1) * size + $0)" }))
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `crawls run from their triggers to their verdicts, each page once and in order`() async throws {
        let deployment = try await KafkaDeployment.make()
        for crawl in 1...5 { try await deployment.trigger(Job(crawl: "crawl-\(crawl)", source: "numbers")) }
        let log = try await deployment.open()
        let (ends, tell) = AsyncStream<CrawlRecord>.makeStream()
        let worker = Worker(
            sources: [Self.numbers(pages: 40)], log: log,
            observe: { if case .ended(let record) = $0 { tell.yield(record) } })
        let run = Task { try await worker.run() }
        var verdicts: [String: Verdict?] = [:]
        for await record in ends {
            verdicts[record.crawl] = record.end?.verdict
            if verdicts.count == 5 { break }
        }
        run.cancel()
        try await run.value
        await log.close()
        #expect(verdicts.values.allSatisfy { $0 == .complete })
        let pages = try await deployment.pages()
        for crawl in 1...5 {
            let own = pages.filter { $0.crawl == "crawl-\(crawl)" }
            #expect(own.map(\.page) == Array(1...40))
            #expect(own.flatMap(\.items) == (1...120).map { "\($0)" })
        }
    }
}
