import Foundation
import Threads

/// One process of a broker, which tests kill, freeze and bring back. Its ports and data stay.
public final class BrokerNode: Sendable {
    private let launch: Launch
    private let process: Monitor<ChildProcess>

    /// How to start it, and how to see that it is ready.
    struct Launch: Sendable {
        var program: String
        var arguments: [String]
        var environment: [String: String] = [:]
        var directory: URL
        var isReady: @Sendable (ChildProcess) -> Bool

        func start() throws -> ChildProcess {
            try ChildProcess(program, arguments, environment: environment, directory: directory)
        }
    }

    init(_ launch: Launch) throws {
        self.launch = launch
        process = Monitor(try launch.start())
    }

    private var current: ChildProcess { process.withLock { $0 } }

    public var pid: pid_t { current.pid }

    /// Throws with the last of the output if the node ends or does not get ready.
    func waitUntilReady(within limit: Duration = .seconds(60)) async throws {
        let process = current
        if await process.wait(within: limit, until: launch.isReady) { return }
        let words = (process.output + process.errors).split(separator: "\n").suffix(20).joined(separator: "\n")
        await process.kill()
        throw BrokerFailure("\(launch.program) did not get ready:\n\(words)")
    }

    /// SIGKILL: a crash.
    public func kill() async { await current.kill() }

    /// SIGTERM: a shutdown as it should be.
    public func stop() async {
        current.send(SIGTERM)
        if await current.waitForExit(within: .seconds(30)) == nil { await current.kill() }
    }

    /// SIGSTOP: it is there and does nothing.
    public func freeze() { current.send(SIGSTOP) }

    /// SIGCONT.
    public func thaw() { current.send(SIGCONT) }

    /// Starts it again after it was killed or stopped, and waits until it is ready.
    public func restart() async throws {
        let fresh = try launch.start()
        process.withLock { $0 = fresh }
        try await waitUntilReady()
    }
}
