import Crawl
import Threads

/// A `MemoryBroker` that several `MemoryLog`s share, and the way to wait for a change of it.
public final class MemoryCluster: Sendable {
    private struct State {
        var broker: MemoryBroker
        var revision = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var newestWaiter = 0
    }

    private let state: Monitor<State>

    public init(_ broker: MemoryBroker = MemoryBroker()) {
        state = Monitor(State(broker: broker))
    }

    /// Looks at the broker without changing it.
    public func read<Result: Sendable>(_ body: (borrowing MemoryBroker) -> Result) -> Result {
        state.withLock { body($0.broker) }
    }

    /// Changes the broker and wakes whoever waits for a change, unless `wakes` says that nothing came of it.
    @discardableResult
    public func update<Result: Sendable>(
        _ body: (inout MemoryBroker) -> Result, wakes: (Result) -> Bool = { _ in true }
    ) -> Result {
        let (result, woken) = state.withLock { state in
            let result = body(&state.broker)
            guard wakes(result) else { return (result, [CheckedContinuation<Void, Never>]()) }
            state.revision += 1
            defer { state.waiting = [:] }
            return (result, Array(state.waiting.values))
        }
        for continuation in woken { continuation.resume() }
        return result
    }

    /// Returns as soon as the broker is as `condition` says, or when the task is cancelled.
    public func wait(until condition: (borrowing MemoryBroker) -> Bool) async {
        while !Task.isCancelled {
            let revision = revision
            if state.withLock({ condition($0.broker) }) { return }
            await changed(after: revision)
        }
    }

    /// How often the broker was changed.
    var revision: Int { state.withLock { $0.revision } }

    /// Returns as soon as the broker was changed after `revision`, or when the task is cancelled.
    func changed(after revision: Int) async {
        let waiter = state.withLock { state in
            state.newestWaiter += 1
            return state.newestWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.revision != revision || Task.isCancelled { return true }
                    state.waiting[waiter] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: waiter) }?.resume()
        }
    }
}
