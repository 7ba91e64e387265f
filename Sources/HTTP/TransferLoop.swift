import CCurl
import Glibc
import Threads

/// The thread that drives all transfers of a client, and the inbox through which others reach it.
final class TransferLoop: Sendable {
    enum Command {
        case start(HTTPRequest, Ticket, Reply)
        case cancel(Ticket)
    }

    private struct Inbox {
        var commands: [Command] = []
        var isStopped = false
        /// The multi handle is gone and must not be woken.
        var isClosed = false
    }

    private static let initialised: Void = { _ = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) }()

    private let settings: TransferSettings
    private let inbox = Monitor(Inbox())
    /// Used by the thread alone, except for `curl_multi_wakeup`, which is made for others.
    private nonisolated(unsafe) let multi: UnsafeMutableRawPointer

    init(settings: TransferSettings) {
        _ = TransferLoop.initialised
        guard let multi = curl_multi_init() else { fatalError("out of memory: curl_multi_init") }
        self.multi = multi
        self.settings = settings
        let limits = settings.limits
        ccurl_multi_set_long(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, limits.maxConnections)
        ccurl_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, limits.maxConnectionsPerHost)
        // Kept open when idle. libcurl's own default is four times the running transfers.
        ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, limits.maxConnections)
    }

    /// Starts the thread, which holds the loop until `stop`.
    func run() {
        startThread("http") { self.main() }
    }

    func post(_ command: Command) {
        let isTaken = inbox.withLock { inbox in
            guard !inbox.isStopped else { return false }
            inbox.commands.append(command)
            if inbox.commands.count == 1 { curl_multi_wakeup(multi) }
            return true
        }
        if !isTaken { TransferLoop.refuse(command) }
    }

    func stop() {
        inbox.withLock { inbox in
            inbox.isStopped = true
            if !inbox.isClosed { curl_multi_wakeup(multi) }
        }
    }

    private static func refuse(_ command: Command) {
        guard case .start(let request, _, let reply) = command else { return }
        let message = "\(request.method) \(request.publicURL): the client is shut down"
        reply.resume(returning: .failure(HTTPError(kind: .cancelled, message: message)))
    }

    private func main() {
        // Signals are for other threads. A lost TLS connection may raise SIGPIPE for the thread that writes.
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, nil)
        drive()
        inbox.withLock { $0.isClosed = true }
        curl_multi_cleanup(multi)
    }

    private func drive() {
        let transfers = TransferSet(multi: multi, settings: settings)
        while true {
            let (commands, isStopped) = inbox.withLock { inbox in
                defer { inbox.commands = [] }
                return (inbox.commands, inbox.isStopped)
            }
            guard !isStopped else {
                transfers.abortAll()
                for command in commands { TransferLoop.refuse(command) }
                return
            }
            for command in commands { transfers.carryOut(command) }
            transfers.step()
        }
    }
}

/// The transfers under way in a multi handle. Lives on the loop's thread.
private final class TransferSet {
    let multi: UnsafeMutableRawPointer
    let settings: TransferSettings
    private var running: [UnsafeMutableRawPointer: Transfer] = [:]
    private var spare: [EasyHandle] = []
    private var nextIdleCheck = ContinuousClock.now

    init(multi: UnsafeMutableRawPointer, settings: TransferSettings) {
        self.multi = multi
        self.settings = settings
    }

    private var idleCheckInterval: Duration { min(max(settings.limits.idleTimeout / 8, .milliseconds(5)), .seconds(1)) }

    func carryOut(_ command: TransferLoop.Command) {
        switch command {
        case .start(let request, let ticket, let reply):
            let easy = spare.popLast() ?? EasyHandle()
            let transfer = Transfer(request, ticket, reply, easy: easy, settings: settings)
            guard !ticket.isCancelled else { return transfer.fail(.cancelled, "cancelled") }
            running[easy.pointer] = transfer
            let code = curl_multi_add_handle(multi, easy.pointer)
            if code != CURLM_OK { end(transfer) { $0.fail(.other, String(cString: curl_multi_strerror(code))) } }
        case .cancel(let ticket):
            guard let transfer = running.values.first(where: { $0.ticket === ticket }) else { return }
            end(transfer) { $0.fail(.cancelled, "cancelled") }
        }
    }

    /// Moves bytes where they can be moved, then waits for more of them, for a timer or for a command.
    func step() {
        var count: Int32 = 0
        curl_multi_perform(multi, &count)
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let transfer = running[message.pointee.easy_handle] else {
                continue
            }
            let code = ccurl_result(message)
            end(transfer) { $0.finish(code) }
        }
        endIdle()
        let patience = running.isEmpty ? Duration.seconds(60) : idleCheckInterval
        curl_multi_poll(multi, nil, 0, Int32(patience.curlMilliseconds), nil)
    }

    private func endIdle() {
        let now = ContinuousClock.now
        guard now >= nextIdleCheck else { return }
        nextIdleCheck = now + idleCheckInterval
        for transfer in running.values.filter({ $0.isIdle(now) }) {
            end(transfer) { $0.fail(.timeout, "no byte for \(settings.limits.idleTimeout)") }
        }
    }

    func abortAll() {
        for transfer in running.values { end(transfer) { $0.fail(.cancelled, "the client is shut down") } }
    }

    /// Takes a transfer out, lets it answer, and keeps its handle for another.
    private func end(_ transfer: Transfer, _ answer: (Transfer) -> Void) {
        curl_multi_remove_handle(multi, transfer.easy.pointer)
        running[transfer.easy.pointer] = nil
        answer(transfer)
        transfer.easy.reset()
        if spare.count < settings.limits.maxConnections { spare.append(transfer.easy) }
    }
}
