import Glibc

/// SIGTERM and SIGINT as values, taken by a thread of their own.
///
/// `block()` runs before any other thread exists, so that all threads inherit the mask and none is interrupted.
enum StopSignal {
    static func block() {
        var signals = set
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    /// The names of the signals, in the order of their coming.
    static func stream() -> AsyncStream<String> {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        let box = Unmanaged.passRetained(Box(continuation))
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { pointer in
                let box = Unmanaged<Box>.fromOpaque(pointer!).takeRetainedValue()
                var signals = StopSignal.set
                var number: Int32 = 0
                while sigwait(&signals, &number) == 0 {
                    box.continuation.yield(number == SIGINT ? "SIGINT" : "SIGTERM")
                }
                return nil
            }, box.toOpaque())
        pthread_detach(thread)
        return stream
    }

    private final class Box: Sendable {
        let continuation: AsyncStream<String>.Continuation
        init(_ continuation: AsyncStream<String>.Continuation) { self.continuation = continuation }
    }

    private static var set: sigset_t {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGTERM)
        sigaddset(&signals, SIGINT)
        return signals
    }
}
