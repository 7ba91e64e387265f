import Foundation
import Testing

/// Commands that bring a server; nil if they are not installed.
enum Command {
    static let openssl = find("openssl")
    static let node = find("node")

    private static func find(_ name: String) -> String? {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { "\($0)/\(name)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}

/// A server process with a certificate that it signed itself.
final class TLSServer {
    let url: String
    /// The path of the certificate.
    let certificate: String
    private let directory: URL
    private let process: Process

    /// `openssl s_server`, which answers every request with a page about the connection, or a script for node, which
    /// speaks HTTP/2 and answers with the target.
    init(names: String, http2: Bool = false) throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "pagehound-tls-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        certificate = directory.appending(path: "cert.pem").path
        let key = directory.appending(path: "key.pem").path
        let openssl = try #require(Command.openssl)
        // Its output ends when it ends.
        _ = try TLSServer.start(
            openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", "/CN=pagehound", "-addext", "subjectAltName=\(names)", "-keyout", key, "-out", certificate
        ).output.readToEnd()
        let output: FileHandle
        if http2 {
            (process, output) = try TLSServer.start(
                try #require(Command.node), "-e", TLSServer.http2Script, key, certificate)
        } else {
            (process, output) = try TLSServer.start(
                openssl, "s_server", "-accept", "127.0.0.1:0", "-cert", certificate, "-key", key, "-www")
        }
        var said = ""
        while !said.contains(/ACCEPT \S+:\d+\n/), let data = try output.read(upToCount: 1), !data.isEmpty {
            said += String(decoding: data, as: UTF8.self)
        }
        let port = try #require(said.firstMatch(of: /ACCEPT \S+:(\d+)\n/)?.output.1, "\(said)")
        url = "https://127.0.0.1:\(port)"
    }

    private static func start(_ command: String, _ arguments: String...) throws -> (
        process: Process, output: FileHandle
    ) {
        let process = Process()
        process.executableURL = URL(filePath: command)
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

    private static let http2Script = """
        const [key, cert] = process.argv.slice(1).map(path => require("fs").readFileSync(path));
        const server = require("http2").createSecureServer({ key, cert });
        let connections = 0;
        server.on("session", () => connections++);
        server.on("stream", (stream, headers) => {
            const target = headers[":path"];
            stream.on("error", () => {});
            const start = more => { stream.respond({ ":status": 200, ...more }); stream.write("abc"); };
            switch (target) {
            case "/reset": start(); return setImmediate(() => stream.destroy(new Error()));
            case "/lost": start(); return setImmediate(() => stream.session.destroy());
            case "/gzip-cut":
                stream.respond({ ":status": 200, "content-encoding": "gzip" });
                return stream.end(require("zlib").gzipSync("hello").subarray(0, -4));
            }
            stream.respond({ ":status": 200, "x-version": "2.0", "x-connections": connections });
            stream.end(target);
        });
        server.listen(0, "127.0.0.1", () => console.log("ACCEPT 127.0.0.1:" + server.address().port));
        """
}
