import CrawlTesting
import HTTP
import Testing

@Suite struct `Response headers` {
    @Test func `keep every line, in order`() async throws {
        let headers = """
            Link: <https://x/?p=1>; rel="prev"\r
            X-Total: 1\r
            link: <https://x/?p=3,4>; rel="next"\r
            LINK:<https://x/?p=9>;rel=last\r\n
            """
        let response = try await answer(of: whole([], headers: headers))
        #expect(
            response.headers.all("Link") == [
                #"<https://x/?p=1>; rel="prev""#, #"<https://x/?p=3,4>; rel="next""#, "<https://x/?p=9>;rel=last",
            ])
        #expect(response.headers.first("link") == #"<https://x/?p=1>; rel="prev""#)
        #expect(response.headers.lines.map(\.name) == ["Link", "X-Total", "link", "LINK", "Content-Length"])
        #expect(response.headers.first("absent") == nil)
    }

    @Test func `of any bytes are kept`() async throws {
        let value: [UInt8] = [0xFF, 0x41, 0xC3, 0xA9, 0xE9]
        let response = try await answer(of: [
            .send(Array("HTTP/1.1 200 OK\r\nX-Latin: ".utf8) + value), .send("\r\nX-UTF8: \u{E9}\u{1F600}\r\n"),
            .send("Content-Length: 0\r\n\r\n"),
        ])
        #expect(response.headers.first("x-latin") == "\u{FF}A\u{C3}\u{A9}\u{E9}")
        #expect(response.headers.first("x-utf8") == "\u{E9}\u{1F600}")
    }

    @Test func `may be folded or empty`() async throws {
        let headers = "X-Folded: one\r\n  two\r\n\tthree\r\nX-Empty:\r\nX-Space:   \r\n"
        let response = try await answer(of: whole([], headers: headers))
        #expect(response.headers.first("x-folded") == "one two three")
        #expect(response.headers.first("x-empty") == "")
        #expect(response.headers.first("x-space") == "")
    }

    @Test func `are those of the final response, without trailers`() async throws {
        let response = try await answer(of: [
            .send("HTTP/1.1 103 Early Hints\r\nLink: </early>\r\n\r\n"),
            .send("HTTP/1.1 200 OK\r\nLink: </final>\r\nTransfer-Encoding: chunked\r\n\r\n"),
            .send("1\r\nx\r\n0\r\nLink: </trailer>\r\nX-Trailer: 1\r\n\r\n"),
        ])
        #expect(response.status == 200)
        #expect(response.text == "x")
        #expect(response.headers.all("link") == ["</final>"])
        #expect(response.headers.first("x-trailer") == nil)
    }
}
