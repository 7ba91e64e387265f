#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// Runs `body` on a new thread, for calls that block: they must not hold up the cooperative pool of Swift concurrency.
///
/// - Parameter name: shown by debuggers and `ps`; the kernel keeps 15 bytes of it.
public func startThread(_ name: String, _ body: @escaping @Sendable () -> Void) {
    let context = Unmanaged.passRetained(ThreadBody(name: name, body: body)).toOpaque()
    var thread = pthread_t()
    let status = pthread_create(
        &thread, nil,
        { context in
            let start = Unmanaged<ThreadBody>.fromOpaque(context!).takeRetainedValue()
            nameThisThread(start.name)
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

/// As proc(5) says; Swift does not import `pthread_setname_np`.
private func nameThisThread(_ name: String) {
    let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    _ = write(file, name, name.utf8.count)
    close(file)
}
