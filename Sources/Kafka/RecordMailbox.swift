import Threads

/// Hands records from the poll thread to whoever awaits them, in batches, and says when it is full.
final class RecordMailbox: Sendable {
    private struct State {
        var records: [ConsumedRecord] = []
        /// The first record that was not taken.
        var head = 0
        var bytes = 0
        var waiter: CheckedContinuation<Void, Never>?
        var end: End?

        var count: Int { records.count - head }

        mutating func take(_ max: Int) -> [ConsumedRecord] {
            let taken = Array(records[head...].prefix(max))
            head += taken.count
            bytes -= taken.reduce(0) { $0 + $1.size }
            if head * 2 >= records.count {
                records.removeFirst(head)
                head = 0
            }
            return taken
        }
    }

    private enum End {
        case closed
        case failed(KafkaError)
    }

    private let state = Monitor(State())
    private let maxRecords: Int
    private let maxBytes: Int

    init(maxRecords: Int, maxBytes: Int) {
        self.maxRecords = maxRecords
        self.maxBytes = maxBytes
    }

    func put(_ records: [ConsumedRecord]) {
        if records.isEmpty { return }
        wake { state in
            state.records.append(contentsOf: records)
            state.bytes += records.reduce(0) { $0 + $1.size }
        }
    }

    /// Nothing more is put in; what is there can be taken, unless `error` says that it is of no use.
    func finish(_ error: KafkaError? = nil) {
        wake { state in
            guard state.end == nil else { return }
            state.end = error.map(End.failed) ?? .closed
            if error != nil { _ = state.take(.max) }
        }
    }

    /// Drops what belongs to these ownerships.
    func purge(_ partitions: [OwnedPartition]) {
        let gone = Set(partitions)
        state.withLock { state in
            state.records = state.records[state.head...].filter { !gone.contains($0.owned) }
            state.head = 0
            state.bytes = state.records.reduce(0) { $0 + $1.size }
        }
    }

    /// True while records should be put in: until it is full, and then again when it is half empty.
    func wantsMore(_ wantedBefore: Bool) -> Bool {
        state.withLock { state in
            wantedBefore
                ? state.count < maxRecords && state.bytes < maxBytes
                : state.count * 2 <= maxRecords && state.bytes * 2 <= maxBytes
        }
    }

    /// At least one record, or empty if the task was cancelled, or `nil` at the end.
    func take(max: Int) async throws(KafkaError) -> [ConsumedRecord]? {
        while true {
            let ready = try takeNow(max)
            if ready.isEnd { return nil }
            if !ready.records.isEmpty || Task.isCancelled { return ready.records }
            await withTaskCancellationHandler {
                await withCheckedContinuation { wait($0) }
            } onCancel: {
                wake { _ in }
            }
        }
    }

    private func takeNow(_ max: Int) throws(KafkaError) -> (records: [ConsumedRecord], isEnd: Bool) {
        try state.withLock { state throws(KafkaError) in
            if case .failed(let error) = state.end { throw error }
            if state.count == 0 { return ([], state.end != nil) }
            return (state.take(max), false)
        }
    }

    private func wait(_ continuation: CheckedContinuation<Void, Never>) {
        let goesOn = state.withLock { state in
            if state.count > 0 || state.end != nil || Task.isCancelled { return true }
            precondition(state.waiter == nil, "two tasks wait for records of one consumer")
            state.waiter = continuation
            return false
        }
        if goesOn { continuation.resume() }
    }

    private func wake(_ change: (inout State) -> Void) {
        let waiter = state.withLock { state in
            change(&state)
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }
}
