import Crawl
import HTTP
import Testing

@testable import CrawlHTTP

/// Whatever an upstream or a file says, reading it ends with a value or an error. The seed makes a failure repeatable.
@Suite struct AnyInputTests {
    /// Texts of up to 24 pieces.
    private static func texts(_ pieces: [String], count: Int = 3_000, seed: UInt64) -> [String] {
        var generator = SplitMix64(seed: seed)
        return (0..<count).map { _ in
            (0..<Int.random(in: 0...24, using: &generator)).map { _ in
                pieces.randomElement(using: &generator) ?? ""
            }.joined()
        }
    }

    @Test func `references`() {
        let base = URLReference("https://api.example/a/b?c#d")
        for text in Self.texts(
            ["a", "/", "//", ":", "?", "#", "@", "..", ".", "[", "]", "%", "%41", "\\", "é", " ", "\n"], seed: 1)
        {
            let reference = URLReference(text)
            #expect(reference.text == text)
            let resolved = base.resolving(reference)
            #expect(URLReference(resolved.text) == resolved || resolved.scheme != "https", "\(text)")
            if let origin = Origin(resolved) {
                #expect(Origin(URLReference("\(origin.scheme)://\(origin.authority)/")) == origin)
            }
            if let repaired = PercentEncoding.repair(text) { #expect(PercentEncoding.repair(repaired) == repaired) }
        }
    }

    @Test func `waits`() {
        let pieces = [
            "0", "9", "17", "00000000", ".", "-", " ", "Tue", ",", "Nov", "14", "2023", "22:13:20", "GMT", "99:", "+",
        ]
        for text in Self.texts(pieces, seed: 2) {
            if let wait = RequestedWait.parse(text, now: testTime) { #expect(wait >= .zero, "\(text)") }
        }
    }

    @Test func `pages`() throws {
        let file = try readSource(
            """
            name: s
            request: {url: "https://api.example/"}
            pagination:
              {type: cursor, cursor: {in: query, name: c}, cursor_path: /n, total_items_path: /t, has_more_path: /m}
            extract: {items_path: /i}
            """)
        let pieces = [
            "{", "}", "[", "]", "\"i\"", "\"n\"", "\"t\"", "\"m\"", ":", ",", "1", "-0", "true", "null", "\"\\ud800\"",
            "\u{FEFF}", "<", " ",
        ]
        let whole = ["{\"i\":[1,{}],", "{\"i\":null,", "\"n\":[0],", "\"t\":\"7\",", "\"m\":false}", "\"m\":0}"]
        var pages = 0
        for text in Self.texts(pieces, seed: 3) + Self.texts(whole, seed: 4) {
            let response = HTTPResponse(
                status: 200, headers: HTTPHeaders(), body: Array(text.utf8), wireBytes: 0, url: "")
            guard let read = try? PageReader(file).read(response, at: URLReference("https://api.example/"), page: 2)
            else { continue }
            pages += 1
            for index in 0..<read.items.count { #expect(!read.items[index].isEmpty) }
        }
        #expect(pages > 20)
    }

    @Test func `source files`() {
        let pieces = [
            "name: s\n", "request:\n", "  url: https://a\n", "pagination: {type: single_page}\n",
            "extract: {items_path: \"\"}\n",
            "  url: \"{{\"\n", "  body: {a: [${X}]}\n", "  auth: {type: basic}\n", "- x\n", "  query: {a: [1, [2]]}\n",
            "  headers: [a]\n",
            "pagination: {type: cursor, cursor: 1}\n", "limits: {max_ratio: x}\n", "retry: []\n",
            "output: {per: item, key: x}\n",
        ]
        var valid = 0
        for text in Self.texts(pieces, count: 1_500, seed: 5) {
            do {
                _ = try readSource(text)
                valid += 1
            } catch {
                #expect(!"\(error)".isEmpty, "\(text)")
            }
        }
        // Duplicate keys are refused, so that few of these are valid; the point is that none crashes.
        #expect(valid < 1_500)
    }
}
