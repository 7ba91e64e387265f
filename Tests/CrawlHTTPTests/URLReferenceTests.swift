import Testing

@testable import CrawlHTTP

@Suite struct URLReferenceTests {
    static let base = URLReference("http://a/b/c/d;p?q")

    /// RFC 3986, section 5.4.1.
    static let normal: [(String, String)] = [
        ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"), ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"),
        (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"),
        ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
        ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
        ("../../g", "http://a/g"),
    ]

    /// RFC 3986, section 5.4.2, the last one as strict readers take it.
    static let abnormal: [(String, String)] = [
        ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"),
        ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."),
        ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"),
        ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"),
        ("g;x=1/../y", "http://a/b/c/y"), ("g?y/./x", "http://a/b/c/g?y/./x"),
        ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/./x", "http://a/b/c/g#s/./x"),
        ("g#s/../x", "http://a/b/c/g#s/../x"), ("http:g", "http:g"),
    ]

    @Test(arguments: normal + abnormal)
    func `references mean what the examples of the RFC say`(reference: String, expected: String) {
        #expect(Self.base.resolving(URLReference(reference)).text == expected)
    }

    @Test(arguments: [
        ("http://a", "g", "http://a/g"), ("http://a?x=1", "?y=2", "http://a?y=2"),
        ("http://a/b/", "", "http://a/b/"), ("https://x/api/v2/items?p=1", "/p2", "https://x/p2"),
        ("https://x/a//b", "c", "https://x/a//c"), ("https://x/a", "//h/y?z", "https://h/y?z"),
        ("https://x/a", "?next=http://y/../z", "https://x/a?next=http://y/../z"),
        ("https://x/a", "b:c/d", "b:c/d"), ("https://x/a", "1:2", "https://x/1:2"),
    ])
    func `other references too`(base: String, reference: String, expected: String) {
        #expect(URLReference(base).resolving(URLReference(reference)).text == expected)
    }

    @Test(arguments: [
        "http://a/b?c#d", "//a", "///x", "?", "#", "a?b?c", "http://[::1]:80/%2F?a=%2b+;;&&#x#y", "", "mailto:a@b",
        "HTTP://EXAMPLE.com:80/ü?ü",
    ])
    func `a reference is written as it was read`(text: String) {
        #expect(URLReference(text).text == text)
    }

    @Test func `an absolute link keeps its bytes`() {
        let link = "https://h/a%2Fb//c;v=2?cursor=ab+cd/ef==&x=%7e&x=é"
        #expect(Self.base.resolving(URLReference(link)).text == link)
    }
}

@Suite struct OriginTests {
    private func origin(_ text: String) -> Origin? { Origin(URLReference(text)) }

    @Test(arguments: [
        ("https://Example.com", "HTTPS://example.COM:443/x?y"), ("http://a", "http://a:80"), ("http://a:", "http://a"),
        ("http://a", "http://user:pass@a/"), ("http://[::1]/", "http://[::1]:80"), ("http://a", "http://b@a"),
        ("http://a", "http://a:0080"),
    ])
    func `the same origin in other words`(left: String, right: String) {
        #expect(origin(left) != nil)
        #expect(origin(left) == origin(right))
    }

    @Test(arguments: [
        ("https://a", "http://a"), ("https://a", "https://a:8443"), ("https://a", "https://a.evil.example"),
        ("https://a", "https://b"), ("https://a", "https://a@evil.example"),
        ("https://a", "https://a:443@evil.example/"),
        ("https://api.example", "https://api.example\\@evil.example/"), ("https://a", "https://a."),
        ("https://127.0.0.1", "https://[::1]"),
    ])
    func `other origins`(left: String, right: String) {
        #expect(origin(left) != nil)
        #expect(origin(left) != origin(right))
    }

    @Test(arguments: [
        "ftp://a", "file:///etc/passwd", "//a", "/x", "https:///x", "https://", "https://a:b", "https://a:99999",
        "https://a:0",
        "https://a b/", "https://%61/", "https://ä.example/", "https://[::1", "https://a:80:80", "javascript:1",
        "https://[evil.example]/", "https://a\\b/",
    ])
    func `no origin that could be trusted`(text: String) { #expect(origin(text) == nil) }

    @Test func `a scheme-relative reference changes the host`() {
        let next = URLReference("https://api.example/v1").resolving(URLReference("//evil.example/v1?p=2"))
        #expect(Origin(next)?.host == "evil.example")
    }

    @Test func `what is sent on has no userinfo and no default port`() {
        #expect(origin("https://u:p@EXAMPLE.com:443/x")?.authority == "example.com")
        #expect(origin("https://u:p@EXAMPLE.com:8443/x")?.authority == "example.com:8443")
        #expect(origin("http://[::1]:81/")?.authority == "[::1]:81")
    }

    @Test(arguments: [
        ("cdn.example", "https://cdn.example/x", true), ("CDN.example", "https://cdn.example/x", true),
        ("cdn.example", "https://cdn.example:8443/x", false), ("cdn.example:8443", "https://cdn.example:8443/x", true),
        ("cdn.example", "http://cdn.example/x", true), ("cdn.example", "https://x.cdn.example/", false),
    ])
    func `allowed hosts`(allowed: String, url: String, expected: Bool) throws {
        let host = try #require(AllowedHost(allowed))
        #expect(host.matches(try #require(origin(url))) == expected)
    }

    @Test(arguments: ["", "https://a", "a/b", "a b", "a:x", "u@a", "*.example.com"])
    func `texts that name no host`(text: String) { #expect(AllowedHost(text) == nil) }
}
