import Glibc
import Synchronization
import Threads

/// SIGTERM and SIGINT as values. The handler writes a byte into a pipe, and a thread of its own reads it, so that no signal
/// mask has to be set before other threads exist: a program that uses the library has threads already.
public enum StopSignal: String, Sendable {
    case terminate = "SIGTERM"
    case interrupt = "SIGINT"

    /// The signals from now on, in the order of their coming, in place of what they did before. For one caller in a process.
    public static func stream() -> AsyncStream<StopSignal> {
        let (stream, continuation) = AsyncStream.makeStream(of: StopSignal.self)
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return stream }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        writeEnd.store(ends[1], ordering: .releasing)
        let reader = PipeReader(descriptor: ends[0], continuation: continuation)
        startThread("signals") { reader.run() }
        for number in [SIGTERM, SIGINT] {
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { number in
                let interrupted = errno
                var byte = UInt8(truncatingIfNeeded: number)
                _ = write(StopSignal.writeEnd.load(ordering: .acquiring), &byte, 1)
                errno = interrupted
            }
            action.sa_flags = SA_RESTART
            sigaction(number, &action, nil)
        }
        return stream
    }

    /// Where the handler writes; a handler can capture nothing.
    private static let writeEnd = Atomic<Int32>(-1)
}

private final class PipeReader: Sendable {
    let descriptor: Int32
    let continuation: AsyncStream<StopSignal>.Continuation

    init(descriptor: Int32, continuation: AsyncStream<StopSignal>.Continuation) {
        self.descriptor = descriptor
        self.continuation = continuation
    }

    func run() {
        var byte: UInt8 = 0
        while read(descriptor, &byte, 1) == 1 {
            continuation.yield(Int32(byte) == SIGINT ? .interrupt : .terminate)
        }
    }
}
