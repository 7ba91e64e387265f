import Foundation
import Threads

/// A process that a test starts. It never outlives the test process: a watchdog kills it when that is gone, however it
/// ended.
public final class ChildProcess: Sendable {
    public enum Exit: Sendable, Hashable {
        case code(Int32)
        case signal(Int32)
    }

    public let pid: pid_t
    /// What the process writes.
    public let outputFile: URL
    /// What it writes to standard error.
    public let errorFile: URL

    private struct State {
        var exit: Exit?
        var waiters: [Int: CheckedContinuation<Exit?, Never>] = [:]
        var lastWaiter = 0
    }
    private let state = Monitor(State())

    /// Starts a program (found on PATH unless it has a slash) with the test's environment and `environment` on top.
    /// Its output goes to files in `directory`, by default a temporary one.
    public init(
        _ program: String, _ arguments: [String] = [], environment: [String: String] = [:],
        directory: URL? = nil
    ) throws {
        let directory = try directory ?? makeTemporaryDirectory("child")
        let name = (program as NSString).lastPathComponent + "-" + String(UInt32.random(in: 0 ... .max), radix: 36)
        outputFile = directory.appending(path: "\(name).out")
        errorFile = directory.appending(path: "\(name).err")
        signal(SIGPIPE, SIG_IGN)
        let all = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        pid = try spawn(
            [program] + arguments, environment: all, input: nil, output: outputFile.path(), errors: errorFile.path())
        let guardian = try Watchdog("kill -KILL $1", String(pid))
        let thread = Thread { [self] in
            let exit = waitForEnd(pid)
            guardian.dismiss()
            let waiters = state.withLock { state in
                state.exit = exit
                defer { state.waiters = [:] }
                return Array(state.waiters.values)
            }
            for waiter in waiters { waiter.resume(returning: exit) }
        }
        thread.name = "wait \(pid)"
        thread.start()
    }

    public var exit: Exit? { state.withLock { $0.exit } }
    public var isRunning: Bool { exit == nil }
    public var output: String { (try? String(decoding: Data(contentsOf: outputFile), as: UTF8.self)) ?? "" }
    public var errors: String { (try? String(decoding: Data(contentsOf: errorFile), as: UTF8.self)) ?? "" }

    /// Sends a signal: SIGTERM, SIGKILL, SIGSTOP, SIGCONT. Nothing happens once the process has ended.
    public func send(_ signal: Int32) {
        state.withLock { if $0.exit == nil { _ = Foundation.kill(pid, signal) } }
    }

    /// Waits for the end; `nil` if it does not come in time.
    public func waitForExit(within limit: Duration) async -> Exit? {
        await withCheckedContinuation { continuation in
            let waiter = state.withLock { state -> Int? in
                if state.exit != nil { return nil }
                state.lastWaiter += 1
                state.waiters[state.lastWaiter] = continuation
                return state.lastWaiter
            }
            guard let waiter else { return continuation.resume(returning: exit) }
            let seconds = Double(limit.components.seconds) + Double(limit.components.attoseconds) / 1e18
            DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [self] in
                state.withLock { $0.waiters.removeValue(forKey: waiter) }?.resume(returning: nil)
            }
        }
    }

    /// Waits until something holds of the running process, looking every 20 ms; false if it ended or time is up.
    public func wait(within limit: Duration, until holds: @Sendable (ChildProcess) -> Bool) async -> Bool {
        let deadline = ContinuousClock.now + limit
        while !holds(self) {
            if !isRunning || ContinuousClock.now > deadline { return holds(self) }
            try? await Task.sleep(for: .milliseconds(20))
        }
        return true
    }

    /// Kills the process and waits until it is gone.
    public func kill() async {
        send(SIGKILL)
        _ = await waitForExit(within: .seconds(30))
    }
}

/// A shell that does something when the test process is gone.
private final class Watchdog: Sendable {
    private let pid: pid_t
    private let pipe: Int32

    init(_ action: String, _ argument: String) throws {
        var ends: [Int32] = [0, 0]
        // Under the lock of `spawn`, so that no other child inherits the pipe before it is marked.
        try spawning.withLock { _ in
            guard Foundation.pipe(&ends) == 0 else { throw SpawnError(program: "pipe", code: errno) }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        }
        pid = try spawn(
            ["/bin/sh", "-c", "read line && exit 0; \(action)", "sh", argument],
            environment: ["PATH": "/usr/bin:/bin"], input: ends[0], output: "/dev/null", errors: "/dev/null")
        close(ends[0])
        pipe = ends[1]
    }

    /// The child ended: its pid may be another's soon.
    func dismiss() {
        _ = write(pipe, "\n", 1)
        close(pipe)
        _ = waitForEnd(pid)
    }
}

public struct SpawnError: Error, CustomStringConvertible {
    var program: String
    var code: Int32

    public var description: String { "cannot start \(program): \(String(cString: strerror(code)))" }
}

private let spawning = Monitor(false)

private func spawn(
    _ command: [String], environment: [String: String], input: Int32?, output: String, errors: String
) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let input {
        posix_spawn_file_actions_adddup2(&actions, input, 0)
    } else {
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    }
    posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT | O_APPEND, 0o600)

    // Its own session, so that a signal for the test's group does not take the watchdog along; and no ignored signals.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigaddset(&signals, SIGPIPE)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    let setSession: Int32 = 0x80  // POSIX_SPAWN_SETSID, which the overlay leaves out
    posix_spawnattr_setflags(
        &attributes, Int16(Int32(POSIX_SPAWN_SETSIGDEF) | Int32(POSIX_SPAWN_SETSIGMASK) | setSession))

    let arguments = command.map { strdup($0) } + [nil]
    let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for text in arguments + variables { free(text) } }
    var pid: pid_t = 0
    let code = spawning.withLock { _ in
        posix_spawnp(&pid, command[0], &actions, &attributes, arguments, variables)
    }
    guard code == 0 else { throw SpawnError(program: command[0], code: code) }
    return pid
}

private func waitForEnd(_ pid: pid_t) -> ChildProcess.Exit {
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    return status & 0x7f == 0 ? .code(status >> 8 & 0xff) : .signal(status & 0x7f)
}

/// A new directory of the test's own. It is removed when the test process is gone.
public func makeTemporaryDirectory(_ purpose: String) throws -> URL {
    let name = "\(purpose)-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
    let directory = try TemporaryRoot.shared.get().url.appending(path: name, directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    return directory
}

/// The directory that holds all others of this test process.
private struct TemporaryRoot: Sendable {
    let url: URL
    private let watchdog: Watchdog

    static let shared = Result { try TemporaryRoot() }

    init() throws {
        let name = "pagehound-tests-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
        url = FileManager.default.temporaryDirectory.appending(path: name, directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        // Children that are being killed may write a last file.
        watchdog = try Watchdog("sleep 1; rm -rf \"$1\"", url.path())
    }
}
