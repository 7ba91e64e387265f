import Dispatch
import Threads

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

// Calls into librdkafka block, some of them without a bound. They never run on the cooperative pool of Swift
// concurrency: each client has its own threads, and who awaits them waits in a continuation.

/// Blocks the calling thread, between two attempts.
func pause(_ time: Duration) { usleep(UInt32(clamping: time.nanoseconds / 1_000)) }

/// Awaits a blocking call that runs on a thread of its own; after `limit` the wait ends, and the thread is left to
/// itself (some calls of librdkafka do not keep their time-outs: #4460, #5456).
func onThread<R: Sendable>(
    _ name: String, within limit: Duration, _ body: @escaping @Sendable () -> Result<R, KafkaError>
) async throws(KafkaError) -> R {
    let result: Result<R, KafkaError> = await withCheckedContinuation { continuation in
        let answer = OneAnswer(continuation)
        startThread(name) { answer.give(body()) }
        DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(limit.nanoseconds)) {
            answer.give(.failure(KafkaError(.timedOut, "\(name) did not end within \(limit)")))
        }
    }
    return try result.get()
}

/// The first of several answers resumes a continuation.
private final class OneAnswer<R: Sendable>: Sendable {
    private let continuation: Monitor<CheckedContinuation<Result<R, KafkaError>, Never>?>

    init(_ continuation: CheckedContinuation<Result<R, KafkaError>, Never>) {
        self.continuation = Monitor(continuation)
    }

    func give(_ result: Result<R, KafkaError>) {
        continuation.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }?.resume(returning: result)
    }
}

/// One thread that makes blocking calls in the order in which they are asked for.
final class CallThread: Sendable {
    private struct Calls {
        var waiting: [@Sendable () -> Void] = []
        var isStopped = false
    }
    private let calls = Monitor(Calls())

    init(_ name: String) {
        let calls = calls
        startThread(name) {
            while true {
                calls.wait { !$0.waiting.isEmpty || $0.isStopped }
                let next = calls.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
                guard let next else { return }
                next()
            }
        }
    }

    /// False if the thread was stopped; then the call is not made.
    @discardableResult
    func enqueue(_ call: @escaping @Sendable () -> Void) -> Bool {
        calls.update { calls in
            if calls.isStopped { return false }
            calls.waiting.append(call)
            return true
        }
    }

    /// Makes a call and awaits it.
    func call<R: Sendable>(_ body: @escaping @Sendable () -> Result<R, KafkaError>) async throws(KafkaError) -> R {
        let result: Result<R, KafkaError> = await withCheckedContinuation { continuation in
            if !enqueue({ continuation.resume(returning: body()) }) {
                continuation.resume(returning: .failure(KafkaError(.destroyed, "the client was closed")))
            }
        }
        return try result.get()
    }

    /// Ends the thread after the calls that are waiting.
    func stop() { calls.update { $0.isStopped = true } }

    deinit { stop() }
}

extension Duration {
    /// Whole nanoseconds, at most a hundred years.
    var nanoseconds: Int {
        let (seconds, attoseconds) = components
        return Int(min(seconds, 3_153_600_000)) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    }

    /// Whole milliseconds as librdkafka takes them.
    var timeoutMilliseconds: Int32 { Int32(clamping: nanoseconds / 1_000_000) }
}

extension ContinuousClock.Instant {
    /// How long it is until this moment, in milliseconds, never negative.
    var millisecondsLeft: Int32 { max(0, ContinuousClock.now.duration(to: self).timeoutMilliseconds) }
    var isPast: Bool { ContinuousClock.now >= self }
}
