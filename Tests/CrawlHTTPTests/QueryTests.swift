import Testing

@testable import CrawlHTTP

@Suite struct PercentEncodingTests {
    @Test func `only unreserved bytes stay, and nothing is encoded twice`() {
        #expect(PercentEncoding.encode("ab+cd/ef==") == "ab%2Bcd%2Fef%3D%3D")
        #expect(PercentEncoding.encode("a+b#c~d=;&?%20 é") == "a%2Bb%23c~d%3D%3B%26%3F%2520%20%C3%A9")
        #expect(PercentEncoding.encode("PnM6Mg%3D%3D") == "PnM6Mg%253D%253D")
    }

    @Test func `every byte comes back`() throws {
        for byte in UInt8(0)..<128 {
            let text = "x" + String(UnicodeScalar(byte)) + "y"
            #expect(PercentEncoding.decodeName(PercentEncoding.encode(text)[...]) == text)
        }
        #expect(PercentEncoding.decodeName(PercentEncoding.encode("😀")[...]) == "😀")
    }

    @Test(arguments: [("a%", "a%"), ("%zz", "%zz"), ("%4", "%4"), ("%+1", "% 1"), ("%-1x", "%-1x"), ("%41", "A")])
    func `broken escapes are text`(text: String, expected: String) {
        #expect(PercentEncoding.decodeName(text[...]) == expected)
    }

    @Test func `only what no URL may hold is repaired`() {
        let valid = "https://h/a%2Fb;v=2?x=[1]&c=ab+c/d==&y='(*)!$,:@#f"
        #expect(PercentEncoding.repair(valid) == valid)
        #expect(PercentEncoding.repair("/a b?c=é|\"") == "/a%20b?c=%C3%A9%7C%22")
        #expect(PercentEncoding.repair("/a\r\nX-Evil: 1") == nil)
        #expect(PercentEncoding.repair("/a\u{7F}") == nil)
    }
}

@Suite struct QueryTextTests {
    @Test(arguments: ["a=1&b=2", "a", "a=", "&&a=1&", "a=1&a=2", "x=%2b+;"])
    func `an untouched query stays as it is`(query: String) { #expect(QueryText(query).text == query) }

    @Test func `a parameter replaces all of its name, however the name is written`() {
        var query = QueryText("pa%67e=9&x=1&page=8")
        #expect(query.contains("page"))
        query.remove("page")
        query.append("page", "2")
        #expect(query.text == "x=1&page=2")
    }

    @Test func `names and values are encoded`() {
        var query = QueryText(nil)
        query.append("filter[a b]", "c+d")
        #expect(query.text == "filter%5Ba%20b%5D=c%2Bd")
    }

    @Test func `secret values are not shown`() {
        let redaction = Redaction(names: ["key"], values: ["s3cr+t"])
        let url = URLReference("https://u:p@h/s3cr%2Bt?KEY=abc&x=s3cr%2Bt&signature=1&page_token=t#s3cr+t")
        #expect(redaction.url(url) == "https://h/***?KEY=***&x=***&signature=***&page_token=t")
        #expect(redaction.text("echo s3cr+t") == "echo ***")
    }
}
