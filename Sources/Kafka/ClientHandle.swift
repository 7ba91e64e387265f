import CRdKafka
import Synchronization
import Threads

/// The one owner of a librdkafka client. Whoever makes a call is counted, so that it is never freed under a call.
final class ClientHandle: Sendable {
    private struct State {
        var native: OpaquePointer?
        var calls = 0
        var isClosing = false
    }
    private let state: Monitor<State>
    private let sink: LogSink

    /// Makes a client of the settings.
    init(_ type: rd_kafka_type_t, _ settings: ClientSettings, events: Int32 = 0) throws(KafkaError) {
        let sink = LogSink(settings.report)
        let native = try settings.makeNative()
        rd_kafka_conf_set_events(native, events)
        rd_kafka_conf_set_opaque(native, Unmanaged.passUnretained(sink).toOpaque())
        rd_kafka_conf_set_log_cb(native) { client, level, facility, line in
            guard let client, let opaque = rd_kafka_opaque(client), let facility, let line else { return }
            let sink = Unmanaged<LogSink>.fromOpaque(opaque).takeUnretainedValue()
            sink.take(
                ClientReport(
                    level: Int(level), facility: String(cString: facility), message: String(cString: line)))
        }
        var message = [CChar](repeating: 0, count: 512)
        guard let client = rd_kafka_new(type, native, &message, message.count) else {
            rd_kafka_conf_destroy(native)
            throw KafkaError(.invalidArgument, text(message))
        }
        self.sink = sink
        self.state = Monitor(State(native: client))
    }

    /// Makes a call. Throws `destroyed` if the client is being closed.
    func use<R: ~Copyable>(_ body: (OpaquePointer) throws(KafkaError) -> R) throws(KafkaError) -> R {
        let native = try state.withLock { state throws(KafkaError) in
            guard let native = state.native, !state.isClosing else {
                throw KafkaError(.destroyed, "the client was closed")
            }
            state.calls += 1
            return native
        }
        defer { state.update { $0.calls -= 1 } }
        return try body(native)
    }

    /// True once an established connection broke. The log line that tells so is written by the broker's thread before it
    /// sends anything again; the error event comes later, and repeated ones are suppressed.
    var hasLostConnection: Bool { sink.hasLostConnection.load(ordering: .relaxed) }

    /// The same error with what last went wrong with a broker, if that may be why: a time-out alone tells nobody that a
    /// name does not resolve or a password is wrong.
    func explained(_ error: KafkaError) -> KafkaError {
        guard error.disposition == .retriable, let cause = sink.lastFailure.withLock({ $0 }) else { return error }
        var explained = error
        explained.reason += " (\(cause))"
        return explained
    }

    /// The client, for the one thread that will free it.
    var forOwner: OpaquePointer { state.withLock { $0.native! } }

    /// Lets no more calls in and waits until those under way have ended.
    func waitForCalls() {
        state.update { $0.isClosing = true }
        state.wait { $0.calls == 0 }
    }

    /// Waits for the calls under way and frees the client. `leavesGroup` false skips what a consumer does to leave,
    /// which may never end when it was not closed properly.
    func destroy(leavesGroup: Bool = true) {
        waitForCalls()
        let native = state.withLock { state in
            defer { state.native = nil }
            return state.native
        }
        guard let native else { return }
        rd_kafka_destroy_flags(native, leavesGroup ? 0 : Int32(RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE))
        withExtendedLifetime(sink) {}
    }

    /// Waits for the calls under way and never frees the client, for one whose end would take the process along.
    func abandon() {
        waitForCalls()
        state.withLock { $0.native = nil }
        _ = Unmanaged.passRetained(sink)
    }

    deinit {
        guard let native = state.withLock({ $0.native }) else { return }
        let forgotten = Forgotten(native: native, sink: sink)
        startThread("kafka-destroy") {
            rd_kafka_destroy_flags(forgotten.native, Int32(RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE))
            withExtendedLifetime(forgotten) {}
        }
    }

    /// A client whose owner went away: nobody else has the pointer.
    private struct Forgotten: @unchecked Sendable {
        let native: OpaquePointer
        let sink: LogSink
    }
}

/// Where librdkafka's log callback finds the way back into Swift.
private final class LogSink: Sendable {
    private let report: @Sendable (ClientReport) -> Void
    let hasLostConnection = Atomic(false)
    let lastFailure = Monitor<String?>(nil)

    init(_ report: @escaping @Sendable (ClientReport) -> Void) { self.report = report }

    func take(_ line: ClientReport) {
        if line.facility == "FAIL" {
            if line.message.contains("in state UP") { hasLostConnection.store(true, ordering: .relaxed) }
            lastFailure.withLock { $0 = line.message }
        }
        report(line)
    }
}

/// The text of a buffer that C wrote a string into.
func text(_ buffer: [CChar]) -> String {
    String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
