import Crawl
import Pagehound

/// An upstream of three pages, made up on the spot.
struct Countdown: PageSource {
    func fetch(_ request: PageRequest) async throws(SourceError) -> Page {
        let page = request.page
        return Page(items: Items(page <= 3 ? [#"{"left":\#(3 - page)}"#] : []))
    }
}

@main struct CountdownWorker {
    static func main() async {
        let pages = Pagination(.pageNumber(first: 1))
        let countdown = Source("countdown", pagination: pages) { _ in Countdown() }
        await Pagehound.main(configuration: "config/worker.yaml", sources: [countdown])
    }
}
