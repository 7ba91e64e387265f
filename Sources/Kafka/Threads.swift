import CRdKafka
import Dispatch

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

// Calls into librdkafka block, some of them without a bound. They never run on the cooperative pool of Swift
// concurrency: each client has its own threads, and who awaits them waits in a continuation.

/// Runs `body` on a new thread.
func startThread(_ name: String, _ body: @escaping @Sendable () -> Void) {
    let context = Unmanaged.passRetained(ThreadBody(name: name, body: body)).toOpaque()
    var thread = pthread_t()
    let status = pthread_create(
        &thread, nil,
        { context in
            let start = Unmanaged<ThreadBody>.fromOpaque(context!).takeRetainedValue()
            crdkafka_name_thread(start.name)
            start.body()
            return nil
        }, context)
    precondition(status == 0, "cannot start a thread: error \(status)")
    pthread_detach(thread)
}

private final class ThreadBody: Sendable {
    /// The kernel takes 15 bytes.
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
        self.name = String(name.prefix(15))
        self.body = body
    }
}

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

/// A value that threads share and can wait on.
final class Monitor<Value>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var value: Value

    init(_ value: Value) {
        self.value = value
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    func withLock<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }

    /// Changes the value and wakes all who wait.
    @discardableResult
    func update<R>(_ body: (inout Value) -> R) -> R {
        pthread_mutex_lock(mutex)
        defer {
            pthread_cond_broadcast(condition)
            pthread_mutex_unlock(mutex)
        }
        return body(&value)
    }

    /// Blocks until the condition holds. False if the deadline came first.
    @discardableResult
    func wait(until deadline: ContinuousClock.Instant? = nil, _ holds: (Value) -> Bool) -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while !holds(value) {
            guard let deadline else {
                pthread_cond_wait(condition, mutex)
                continue
            }
            let left = ContinuousClock.now.duration(to: deadline)
            if left <= .zero { return false }
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            let nanoseconds = time.tv_nsec + left.nanoseconds % 1_000_000_000
            time.tv_sec += left.nanoseconds / 1_000_000_000 + nanoseconds / 1_000_000_000
            time.tv_nsec = nanoseconds % 1_000_000_000
            pthread_cond_timedwait(condition, mutex, &time)
        }
        return true
    }
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
