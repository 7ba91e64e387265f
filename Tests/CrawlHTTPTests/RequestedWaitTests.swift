import Crawl
import HTTP
import Testing

@testable import CrawlHTTP

@Suite struct RequestedWaitTests {
    /// Tue, 14 Nov 2023 22:13:20 GMT
    static let now = Timestamp(milliseconds: 1_700_000_000_000)

    static let waits: [(String, Int64)] = [
        ("0", 0), ("5", 5_000), (" 5 ", 5_000), ("1.5", 1_500), ("86400", 86_400_000), ("-3", 0),
        ("-99999999999999999999999", 0), ("9000000000000000000", 7_300_000_000_000),
        ("999999999", 999_999_999_000),
        ("1700000030", 30_000), ("1699999995", 0), ("1700000030000", 30_000), ("1700000030000000", 30_000),
        ("1700000030000000000", 30_000), ("Tue, 14 Nov 2023 22:13:50 GMT", 30_000),
        ("Tue, 14 Nov 2023 22:13:10 GMT", 0), ("Tuesday, 14-Nov-23 22:13:50 GMT", 30_000),
        ("Tue Nov 14 22:13:50 2023", 30_000),
    ]

    @Test(arguments: waits)
    func `a wait in any unit`(text: String, milliseconds: Int64) {
        #expect(RequestedWait.parse(text, now: Self.now) == .milliseconds(milliseconds))
    }

    @Test(arguments: [
        "", "soon", "5s", "1e3", "0x10", "1.2.3", "99999999999999999999999", "Tue, 99 Nov 2023 22:13:50 GMT",
    ])
    func `what is no wait`(text: String) { #expect(RequestedWait.parse(text, now: Self.now) == nil) }

    static let headers: [([(String, String)], Int64)] = [
        ([("Retry-After", "7"), ("X-RateLimit-Reset", "1700000099")], 7_000),
        ([("X-RateLimit-Reset", "1700000009")], 9_000), ([("ratelimit-reset", "4")], 4_000),
        ([("X-Rate-Limit-Reset", "1700000009000")], 9_000), ([("RateLimit", "\"default\";r=0;t=11")], 11_000),
        ([("Retry-After", "soon"), ("RateLimit-Reset", "3")], 3_000),
    ]

    @Test(arguments: headers)
    func `the header that says how long`(lines: [(String, String)], milliseconds: Int64) {
        let headers = HTTPHeaders(lines.map { (name: $0.0, value: $0.1) })
        #expect(RequestedWait.read(headers, now: Self.now) == .milliseconds(milliseconds))
    }

    @Test func `no header, no wait`() {
        #expect(RequestedWait.read(HTTPHeaders(), now: Self.now) == nil)
    }

    @Test(arguments: [
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
    ])
    func `dates as HTTP writes them`(text: String, seconds: Int64) {
        #expect(HTTPDate.parse(text, now: Self.now) == Timestamp(milliseconds: seconds * 1_000))
    }
}
