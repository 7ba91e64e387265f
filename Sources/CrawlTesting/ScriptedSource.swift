import Crawl
import Threads

/// A source that answers from a `Script`, the same way each time, and counts what it was asked.
public final class ScriptedSource: PageSource {
    public let script: Script
    private let state = Monitor(State())
    private let beforeAnswer: @Sendable (PageRequest) async -> Void

    private struct State {
        var requests: [PageRequest] = []
        /// Faults that each page has given so far.
        var failures: [Int: Int] = [:]
    }

    /// - Parameter beforeAnswer: a test may wait in it to hold an answer back.
    public init(_ script: Script, beforeAnswer: @escaping @Sendable (PageRequest) async -> Void = { _ in }) {
        self.script = script
        self.beforeAnswer = beforeAnswer
    }

    /// Pages of the same size, with items that all differ.
    public static func pages(
        count: Int, itemsPerPage: Int, strategy: Pagination.Strategy = .cursor, faults: [Int: [Script.Fault]] = [:]
    ) -> ScriptedSource {
        var script = Script(strategy, pages: count, itemsPerPage: itemsPerPage)
        script.faults = faults
        return ScriptedSource(script)
    }

    /// All requests so far, in order.
    public var requests: [PageRequest] { state.withLock { $0.requests } }
    /// Requests so far.
    public var fetches: Int { state.withLock { $0.requests.count } }
    /// Requests so far for one page.
    public func fetches(of page: Int) -> Int {
        requests.count { script.page(at: $0.cursor) == page }
    }

    public func fetch(_ request: PageRequest) async throws(SourceError) -> Page {
        await beforeAnswer(request)
        return try answer(request).get()
    }

    /// What comes for a request. Uses up one fault of the page, if it has any left.
    public func answer(_ request: PageRequest) -> Result<Page, SourceError> {
        state.withLock { state in
            state.requests.append(request)
            guard let page = script.page(at: request.cursor) else {
                return .failure(SourceError(.rejected, "scripted: no page is there", status: 404))
            }
            var before = state.failures[page, default: 0]
            for fault in script.faults[page] ?? [] {
                if before < fault.times {
                    state.failures[page, default: 0] += 1
                    return .failure(fault.error)
                }
                before -= fault.times
            }
            return script.content(of: page)
        }
    }

    /// The source under a name, as a worker is configured with it.
    public func source(
        named name: String, retry: RetryPolicy = RetryPolicy(), output: Output = .page, maxInFlight: Int = 64
    ) -> Source {
        Source(name, pagination: script.pagination, retry: retry, output: output, maxInFlight: maxInFlight) {
            [self] (params) throws(UnusableParams) in
            if let unknown = params.keys.sorted().first(where: { script.params?.contains($0) == false }) {
                throw UnusableParams("params.\(unknown): not known")
            }
            return self
        }
    }
}
