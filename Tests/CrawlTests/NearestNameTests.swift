import Crawl
import Testing

struct NearestNameTests {
    private let fields = ["source", "crawl", "action", "params", "from", "follow", "limits", "max_pages", "deadline"]

    @Test(arguments: [
        ("sorce", "source"), ("Source", "source"), ("cralw", "crawl"), ("parms", "params"), ("form", "from"),
        ("maxPages", "max_pages"), ("max-pages", "max_pages"), ("limit", "limits"), ("dead_line", "deadline"),
    ])
    func `a slip of the pen finds the name that was meant`(name: String, meant: String) {
        #expect(nearestName(to: name, among: fields) == meant)
    }

    @Test(arguments: ["", "x", "priority", "zzzzzz", String(repeating: "source", count: 10_000)])
    func `what is near nothing finds nothing`(name: String) {
        #expect(nearestName(to: name, among: fields) == nil)
    }

    @Test func `without candidates there is none`() {
        #expect(nearestName(to: "a", among: []) == nil)
    }
}
