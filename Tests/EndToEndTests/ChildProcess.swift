import Foundation
import Synchronization

/// How a process ended.
enum ExitStatus: Hashable, CustomStringConvertible {
    case exited(Int32)
    case signalled(Int32)

    var description: String {
        switch self {
        case .exited(let code): "exit \(code)"
        case .signalled(let number): "signal \(number)"
        }
    }
}

/// A process of this test, from its start to its end.
final class ChildProcess: Sendable {
    let pid: pid_t
    private let ended: Task<ExitStatus, Never>

    /// - Parameters:
    ///   - folder: where it runs.
    ///   - environment: added to this process's.
    ///   - output, errors: where standard output and standard error go; nowhere by default.
    init(
        _ executable: URL, _ arguments: [String], in folder: URL, environment: [String: String] = [:],
        output: FileHandle = .nullDevice, errors: FileHandle = .nullDevice
    ) throws {
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = errors
        let (exits, continuation) = AsyncStream.makeStream(of: ExitStatus.self)
        process.terminationHandler = { process in
            let status = process.terminationStatus
            continuation.yield(process.terminationReason == .exit ? .exited(status) : .signalled(status))
            continuation.finish()
        }
        try process.run()
        pid = process.processIdentifier
        ended = Task {
            for await status in exits { return status }
            return .exited(-1)
        }
    }

    /// Waits for the end.
    func exit() async -> ExitStatus { await ended.value }

    func signal(_ number: Int32) { kill(pid, number) }

    /// What a process that ran to its end said.
    struct Result {
        var status: ExitStatus
        var output: String
        var errors: String
    }

    /// Runs to the end.
    static func run(
        _ executable: URL, _ arguments: [String], in folder: URL, environment: [String: String] = [:]
    ) async throws -> Result {
        let (output, errors) = (Pipe(), Pipe())
        let process = try ChildProcess(
            executable, arguments, in: folder, environment: environment, output: output.fileHandleForWriting,
            errors: errors.fileHandleForWriting)
        try output.fileHandleForWriting.close()
        try errors.fileHandleForWriting.close()
        async let said = text(of: output)
        async let complained = text(of: errors)
        return Result(status: await process.exit(), output: await said, errors: await complained)
    }

    /// All that comes out of a pipe, read on a thread of its own: reading blocks.
    private static func text(of pipe: Pipe) async -> String {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let bytes = (try? pipe.fileHandleForReading.readToEnd()) ?? Data()
                continuation.resume(returning: String(decoding: bytes, as: UTF8.self))
            }
        }
    }
}
