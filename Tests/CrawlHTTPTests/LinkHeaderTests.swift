import Crawl
import Testing

@testable import CrawlHTTP

@Suite struct LinkHeaderTests {
    static let found: [([String], String)] = [
        (["<https://x/?ids=1,2&p=2>; rel=\"next\""], "https://x/?ids=1,2&p=2"),
        (["<https://x/p;v=2>; rel=\"next\""], "https://x/p;v=2"),
        (["<u>; crossorigin; rel=next"], "u"),
        (["<a>; rel=prev", "<b>; rel=next"], "b"),
        (["<a>; rel=\"prev\", <b>; rel=\"next\", <c>; rel=\"last\""], "b"),
        (["</p2>; rel=\"next\""], "/p2"),
        (["<u>;rel=\"last Next\""], "u"),
        (["<u>; REL=NEXT"], "u"),
        (["<u>; title=\"a, b; rel=prev\"; rel=\"next\""], "u"),
        (["<u>; title=\"a \\\" b\"; rel=\"next\""], "u"),
        (["<u> ; rel = \"next\" "], "u"),
        ([",, <a>;rel=prev ,, <b>;rel=next"], "b"),
        (["nonsense, <b>; rel=next"], "b"),
        (["\"non,sense\" x, <b>; rel=next"], "b"),
        (["<>; rel=next"], ""),
        (["<u>; rel=next; rel=prev"], "u"),
        (["<u>;;rel=next"], "u"),
        (["<u>; title*=UTF-8''x%2C; rel=next"], "u"),
        (["<u>; rel=\"next\"x; y, <v>; rel=prev"], "u"),
    ]

    @Test(arguments: found)
    func `the next link is found`(lines: [String], expected: String) {
        #expect(LinkHeader(lines).target("next") == expected)
    }

    static let none: [[String]] = [
        [], [""], [","], ["<a>; rel=prev"], ["<a>"], ["<a>; title=\"rel=next\""], ["a; rel=next"],
        ["<a; rel=next"], ["<a>; rel=prev; rel=next"], ["<a>; rel=\"nextish\""], ["<a>; rel=next; anchor=\"#x\""],
        ["<a>; rel=\"prev"], ["<a>; rel"], ["<a>; rel="],
    ]

    @Test(arguments: none)
    func `there is no next link`(lines: [String]) { #expect(LinkHeader(lines).target("next") == nil) }

    @Test func `any bytes are read without an end in sight`() {
        let alphabet = Array("<>\";,= \\ar")
        var generator = SplitMix64(seed: 8_288)
        for _ in 0..<2_000 {
            let text = String((0..<12).map { _ in alphabet.randomElement(using: &generator)! })
            let links = LinkHeader([text, "<z>; rel=next"]).links
            #expect(links.last?.target == "z", "after \(text)")
        }
    }
}
