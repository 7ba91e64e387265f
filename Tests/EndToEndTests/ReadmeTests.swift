import BrokerSupport
import Foundation
import Testing

/// What the README says is so.
@Suite struct `The README` {
    let text: String

    init() throws { text = try String(contentsOf: repository.appending(path: "README.md"), encoding: .utf8) }

    @Test func `quotes the example as it is compiled, in at most 20 lines`() throws {
        let file = repository.appending(path: "Sources/Examples/Countdown/Countdown.swift")
        let example = try String(contentsOf: file, encoding: .utf8)
        #expect(text.contains("```swift\n\(example)```"))
        #expect(example.split(separator: "\n", omittingEmptySubsequences: false).dropLast().count <= 20)
    }

    @Test func `names only files that are there`() throws {
        let names = text.matches(of: /`((?:deploy|config|Sources|Tests)\/[\w.\/-]+)/).map { String($0.output.1) }
        #expect(names.count > 5)
        for name in names where !name.contains("NAME") {
            #expect(FileManager.default.fileExists(atPath: repository.appending(path: name).path()), "\(name)")
        }
    }

    @Test(.broker(.readCommitted), .timeLimit(.minutes(10)))
    func `its example runs a worker with its own source`() async throws {
        let servers = try await TestBroker.shared().bootstrapServers
        let deployment = try await Deployment(on: servers, sources: [:])
        // The program reads config/worker.yaml where it is started.
        let config = deployment.folder.appending(path: "config")
        try FileManager.default.createDirectory(at: config, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            at: deployment.folder.appending(path: "worker.yaml"), to: config.appending(path: "worker.yaml"))
        let program = products.appending(path: "countdown-example").path()
        let worker = try ChildProcess("env", ["-C", deployment.folder.path(), program], directory: deployment.folder)
        try await deployment.start("countdown", crawls: ["three"], params: false)
        #expect(try await deployment.waitForEnds(of: ["three"], within: .seconds(60)), "\(worker.errors)")
        let end = try await Committed.read(deployment).ends["three"]?.first
        #expect(end?.verdict == "complete" && end?.reason == "empty_page" && end?.items == 3)
        #expect(await worker.stop() == .code(0), "\(worker.errors)")
        deployment.remove()
    }
}
