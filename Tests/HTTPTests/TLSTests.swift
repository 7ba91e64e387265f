import Foundation
import Testing

@testable import HTTP

@Suite(.enabled(if: TLSServer.command != nil, "the openssl command is not installed"))
struct `A TLS server` {
    @Test func `with a certificate of its own making is refused`() async throws {
        let server = try await TLSServer(names: "IP:127.0.0.1")
        defer { server.stop() }
        let client = HTTPClient()
        defer { client.shutdown() }
        let error = await failure(client, HTTPRequest(url: server.url))
        #expect(error?.kind == .tlsVerification, "\(error?.message ?? "")")
    }

    @Test(arguments: ["SSL_CERT_FILE", "CURL_CA_BUNDLE"])
    func `is trusted if the environment says so`(_ variable: String) async throws {
        let server = try await TLSServer(names: "IP:127.0.0.1")
        defer { server.stop() }
        let client = HTTPClient(limits: .init(), userAgent: "", environment: [variable: server.certificate])
        defer { client.shutdown() }
        #expect(try await client.send(HTTPRequest(url: server.url)).status == 200)
    }

    @Test func `for another host is refused`() async throws {
        let server = try await TLSServer(names: "DNS:elsewhere.invalid")
        defer { server.stop() }
        let client = HTTPClient(limits: .init(), userAgent: "", environment: ["SSL_CERT_FILE": server.certificate])
        defer { client.shutdown() }
        let error = await failure(client, HTTPRequest(url: server.url))
        #expect(error?.kind == .tlsVerification, "\(error?.message ?? "")")
    }
}

/// `openssl s_server` with a self-signed certificate; it answers every request with a page about the connection.
private final class TLSServer {
    static let command = ["/usr/bin/openssl", "/usr/local/bin/openssl", "/opt/homebrew/bin/openssl"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    let url: String
    /// The path of the certificate.
    let certificate: String
    private let directory: URL
    private let process: Process

    init(names: String) async throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "pagehound-tls-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        certificate = directory.appending(path: "cert.pem").path
        let key = directory.appending(path: "key.pem").path
        let (making, _) = try TLSServer.start(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
            "/CN=pagehound", "-addext", "subjectAltName=\(names)", "-keyout", key, "-out", certificate)
        making.waitUntilExit()
        let (process, output) = try TLSServer.start(
            "s_server", "-accept", "127.0.0.1:0", "-cert", certificate, "-key", key, "-www")
        self.process = process
        var said = ""
        // "ACCEPT 127.0.0.1:PORT" and a line end.
        while !said.contains(/ACCEPT \S+:\d+\n/), let data = try output.read(upToCount: 1) {
            said += String(decoding: data, as: UTF8.self)
        }
        let port = try #require(said.firstMatch(of: /ACCEPT \S+:(\d+)\n/)?.output.1)
        url = "https://127.0.0.1:\(port)/"
    }

    private static func start(_ arguments: String...) throws -> (Process, FileHandle) {
        let process = Process()
        process.executableURL = URL(filePath: try #require(command))
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        return (process, output.fileHandleForReading)
    }

    func stop() {
        // Not SIGTERM: the child has inherited the signal mask of a pool thread, which blocks that.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: directory)
    }
}
