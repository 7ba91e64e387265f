import CrawlTesting
import HTTP
import Testing

@Suite struct `Content codings` {
    static let encoded: [(coding: String, bytes: [UInt8])] = [
        ("gzip", Fixture.gzip), ("X-GZip", Fixture.gzip), ("deflate", Fixture.zlib), ("deflate", Fixture.rawDeflate),
        ("br", Fixture.brotli), ("zstd", Fixture.zstandard), ("identity", Array(Fixture.payload.utf8)),
    ]

    @Test(arguments: encoded)
    func `are undone, at once and byte by byte`(_ coding: String, _ bytes: [UInt8]) async throws {
        let headers = "Content-Encoding: \(coding)\r\n"
        let atOnce = try await answer(of: whole(bytes, headers: headers))
        #expect(atOnce.text == Fixture.payload)
        #expect(atOnce.wireBytes == bytes.count)
        #expect(atOnce.body.capacity >= atOnce.body.count + 64)

        let chunks = bytes.map { RawUpstream.Action.send(Array("1\r\n".utf8) + [$0] + Array("\r\n".utf8)) }
        let head = RawUpstream.Action.send("HTTP/1.1 200 OK\r\n\(headers)Transfer-Encoding: chunked\r\n\r\n")
        let inChunks = try await answer(of: [head] + chunks + [.send("0\r\n\r\n")])
        #expect(inChunks.text == Fixture.payload)
        #expect(inChunks.wireBytes == bytes.count)
        #expect(inChunks.body.capacity >= inChunks.body.count + 64)
    }

    @Test func `are asked for`() async throws {
        let upstream = try RawUpstream { request in whole(request.head) }
        defer { upstream.stop() }
        let client = HTTPClient()
        defer { client.shutdown() }
        let asked = try await client.send(HTTPRequest(url: upstream.url)).text.lowercased()
        #expect(asked.contains("\r\naccept-encoding: gzip, br, zstd\r\n"))
        let own = HTTPRequest(url: upstream.url, headers: [("Accept-Encoding", "identity")])
        let told = try await client.send(own).text.lowercased()
        #expect(told.contains("accept-encoding: identity\r\n") && !told.contains("gzip"))
    }

    @Test(arguments: encoded.filter { $0.coding != "identity" })
    func `cut anywhere, in a response that is whole for HTTP, are truncated`(
        _ coding: String, _ bytes: [UInt8]
    ) async throws {
        let upstream = try RawUpstream { request in
            let count = Int(request.target.dropFirst())!
            let cut = Array(bytes.prefix(count))
            // A length that was corrected by a proxy, a chunk that ends in order, a connection that is closed in order.
            let head = "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\n"
            let chunk = Array((String(count, radix: 16) + "\r\n").utf8) + cut + Array("\r\n0\r\n\r\n".utf8)
            switch count % 3 {
            case 0: return whole(cut, headers: "Content-Encoding: \(coding)\r\n")
            case 1: return [.send(head + "Transfer-Encoding: chunked\r\n\r\n"), .send(chunk)]
            default: return [.send(head + "\r\n"), .send(cut), .close]
            }
        }
        defer { upstream.stop() }
        let client = HTTPClient()
        defer { client.shutdown() }
        let cuts = Array(1..<40) + Array(stride(from: 40, to: bytes.count - 40, by: 17))
        for count in cuts + Array((bytes.count - 40)..<bytes.count) {
            let error = await failure(client, HTTPRequest(url: "\(upstream.url)/\(count)"))
            #expect(error?.kind == .truncated, "\(count) of \(bytes.count) bytes: \(error?.message ?? "")")
        }
    }

    @Test func `of which the connection brought nothing are truncated`() async throws {
        let error = try await failure(of: [.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"), .close])
        #expect(error?.kind == .truncated)
    }

    @Test func `of an announced empty body are not missed`() async throws {
        #expect(try await answer(of: whole([], headers: "Content-Encoding: gzip\r\n")).body.isEmpty)
    }

    @Test(arguments: [("gzip", Fixture.gzip), ("zstd", Fixture.zstandard)])
    func `may consist of several members`(_ coding: String, _ bytes: [UInt8]) async throws {
        let response = try await answer(of: whole(bytes + bytes, headers: "Content-Encoding: \(coding)\r\n"))
        #expect(response.text == Fixture.payload + Fixture.payload)
        let error = try await failure(
            of: whole(bytes + bytes.dropLast(3), headers: "Content-Encoding: \(coding)\r\n"))
        #expect(error?.kind == .truncated)
    }

    @Test func `on top of each other are undone in turn`() async throws {
        let twice = Fixture.gzipInBrotli
        let response = try await answer(
            of: whole(twice, headers: "Content-Encoding: identity, GZIP\r\nContent-Encoding: ,br,\r\n"))
        #expect(response.text == Fixture.payload)
        let error = try await failure(of: whole(Fixture.brotli, headers: "Content-Encoding: gzip, br\r\n"))
        #expect(error?.kind == .badEncoding, "the inner layer is not gzip")
        let many = try await failure(of: whole(twice, headers: "Content-Encoding: br, br, br, br\r\n"))
        #expect(many?.kind == .badEncoding)
    }

    @Test(arguments: encoded.filter { $0.coding != "identity" })
    func `that the bytes do not keep to are bad`(_ coding: String, _ bytes: [UInt8]) async throws {
        let headers = "Content-Encoding: \(coding)\r\n"
        let plain = try await failure(of: whole(Array("<html>maintenance</html>".utf8), headers: headers))
        #expect(plain?.kind == .badEncoding)
        let trailing = try await failure(of: whole(bytes + Array("garbage".utf8), headers: headers))
        #expect(trailing?.kind == .badEncoding)
    }

    @Test(arguments: [("gzip", Fixture.gzip), ("deflate", Fixture.zlib), ("zstd", Fixture.zstandard)])
    func `with a wrong checksum are bad`(_ coding: String, _ bytes: [UInt8]) async throws {
        var bytes = bytes
        bytes[bytes.count - (coding == "gzip" ? 8 : 1)] ^= 1
        let error = try await failure(of: whole(bytes, headers: "Content-Encoding: \(coding)\r\n"))
        #expect(error?.kind == .badEncoding)
    }

    @Test func `that nobody knows are bad`() async throws {
        let error = try await failure(of: whole([1, 2, 3], headers: "Content-Encoding: compress\r\n"))
        #expect(error?.kind == .badEncoding)
        #expect(error?.message.contains("compress") == true)
    }

    @Test func `do not make a client allocate a huge window`() async throws {
        // A Zstandard frame that asks for 128 MiB and has one empty block.
        let frame: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x88, 0x01, 0x00, 0x00]
        let error = try await failure(of: whole(frame, headers: "Content-Encoding: zstd\r\n"))
        #expect(error?.kind == .badEncoding)
    }

    static let bombs = [
        ("gzip", Fixture.gzipBomb), ("br", Fixture.brotliBomb), ("zstd", Fixture.zstandardBomb),
    ]

    @Test(arguments: bombs)
    func `that grow too much are suspicious`(_ coding: String, _ bytes: [UInt8]) async throws {
        let headers = "Content-Encoding: \(coding)\r\n"
        #expect(try await failure(of: whole(bytes, headers: headers))?.kind == .suspiciousRatio)
        let limits = HTTPLimits(maxBodyBytes: 1 << 20, maxRatio: .max)
        #expect(try await failure(of: whole(bytes, headers: headers), limits: limits)?.kind == .bodyTooLarge)
    }

    @Test func `may have any ratio while the content is small`() async throws {
        let limits = HTTPLimits(ratioFloorBytes: 2 << 20)
        let response = try await answer(
            of: whole(Fixture.gzipBomb, headers: "Content-Encoding: gzip\r\n"), limits: limits)
        #expect(response.body.count == 2 << 20)
    }
}
