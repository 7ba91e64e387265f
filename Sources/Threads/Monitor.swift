#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// A value that threads share and can wait on.
///
/// A POSIX mutex and condition rather than `Synchronization.Mutex`: that one cannot be waited on, and the thread
/// sanitizer does not see it on Linux (it reports every use as a race).
public final class Monitor<Value>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var value: Value

    public init(_ value: Value) {
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

    public func withLock<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }

    /// Changes the value and wakes all who wait.
    @discardableResult
    public func update<R>(_ body: (inout Value) -> R) -> R {
        pthread_mutex_lock(mutex)
        defer {
            pthread_cond_broadcast(condition)
            pthread_mutex_unlock(mutex)
        }
        return body(&value)
    }

    /// Blocks until the condition holds. False if the deadline came first.
    @discardableResult
    public func wait(until deadline: ContinuousClock.Instant? = nil, _ holds: (Value) -> Bool) -> Bool {
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
    fileprivate var nanoseconds: Int {
        let (seconds, attoseconds) = components
        return Int(min(seconds, 3_153_600_000)) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    }
}
