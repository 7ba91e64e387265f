/// Crawls: takes jobs from a log, fetches pages from sources, commits steps to the log.
///
/// `WorkerState` decides; the worker performs: it starts fetches, commits one transaction after the other, and wakes
/// up when a wait is over. Cancel the task of `run` to stop: no new job is begun, what is done is committed while the
/// log gives its partitions up, and `run` returns.
public actor Worker: JobReceiver {
    private var state: WorkerState
    private let log: any CrawlLog
    private let now: @Sendable () -> Timestamp
    private let observe: @Sendable (WorkerEvent) -> Void

    private var fetches: [FetchTicket: Task<Void, Never>] = [:]
    private var timer: (at: Timestamp, task: Task<Void, Never>)?
    private var failure: LogFailure?
    private var isOver = false
    /// Who waits for a change of the state: the commit loop, the log that gives partitions up, the log that delivers.
    private var waiters: [CheckedContinuation<Void, Never>] = []
    private var committer: CheckedContinuation<Void, Never>?

    /// - Parameters:
    ///   - sources: what jobs may name.
    ///   - clock: tells the time; the system's clock in production.
    ///   - observe: is told what happens, in order. It must not block.
    public init(
        sources: [Source], log: any CrawlLog, limits: WorkerLimits = WorkerLimits(),
        clock: @escaping @Sendable () -> Timestamp = { .now },
        observe: @escaping @Sendable (WorkerEvent) -> Void = { _ in }
    ) {
        var system = SystemRandomNumberGenerator()
        self.log = log
        self.now = clock
        self.observe = observe
        state = WorkerState(
            sources: sources, limits: limits, maxItemBytes: log.maxItemBytes,
            partitionCount: log.partitionCount, seed: system.next())
    }

    /// Works until the task is cancelled; then gives up its partitions and returns. Throws if the log fails for good.
    public func run() async throws(LogFailure) {
        let membership = Task { () -> LogFailure? in
            do throws(LogFailure) {
                try await log.run(self)
                return nil
            } catch {
                return error
            }
        }
        let commits = Task { await commitLoop(onFailure: { membership.cancel() }) }
        let sweeps = Task { await sweepLoop() }
        let left = await withTaskCancellationHandler {
            await membership.value
        } onCancel: {
            membership.cancel()
        }
        sweeps.cancel()
        isOver = true
        perform()
        await commits.value
        for fetch in fetches.values { fetch.cancel() }
        if let failure = failure ?? left { throw failure }
    }

    // MARK: From the log

    public func assigned(_ partition: AssignedPartition) {
        state.assign(partition, now: now())
        perform()
    }

    public func revoking(_ partitions: [PartitionEpoch], lost: Bool) async {
        if !lost {
            state.drain(partitions)
            perform()
            await wait { $0.isDrained(partitions) }
        }
        state.drop(partitions, lost: lost)
        perform()
    }

    public func deliver(_ jobs: [DeliveredJob]) async {
        for job in jobs {
            if state.isFull {
                perform()
                await wait { !$0.isFull }
                // Whoever delivers is leaving; a job that was not taken is delivered again to the next owner.
                if Task.isCancelled { return }
            }
            state.deliver(job, now: now())
        }
        perform()
    }

    /// Waits until the state is so, the worker has failed, or the task is cancelled.
    private func wait(until holds: (WorkerState) -> Bool) async {
        await withTaskCancellationHandler {
            while !holds(state), failure == nil, !Task.isCancelled {
                await withCheckedContinuation { waiters.append($0) }
            }
        } onCancel: {
            Task { await perform() }
        }
    }

    // MARK: Fetching

    /// Does what the state asks for after a change: starts fetches, gives others up, tells events, sets the timer, and
    /// wakes those who wait.
    private func perform() {
        if failure == nil, !isOver {
            for order in state.nextFetches(now: now()) { start(order) }
        }
        for ticket in state.takeAbandoned() { fetches[ticket]?.cancel() }
        for event in state.takeEvents() { observe(event) }
        setTimer()
        committer?.resume()
        committer = nil
        let waiting = waiters
        waiters = []
        for waiter in waiting { waiter.resume() }
    }

    private func start(_ order: FetchOrder) {
        fetches[order.ticket] = Task {
            let result: Result<Page, SourceError>
            do throws(SourceError) {
                result = .success(try await order.pages.fetch(order.request))
            } catch {
                result = .failure(error)
            }
            finish(order, result)
        }
    }

    private func finish(_ order: FetchOrder, _ result: Result<Page, SourceError>) {
        fetches[order.ticket] = nil
        state.fetched(order, result, now: now())
        perform()
    }

    // MARK: Committing

    private func commitLoop(onFailure: @Sendable () -> Void) async {
        while failure == nil {
            if let transaction = state.takeTransaction(now: now()) {
                do throws(LogFailure) {
                    state.settle(try await log.commit(transaction), now: now())
                } catch {
                    failure = error
                    onFailure()
                }
                perform()
            } else if isOver {
                return
            } else {
                await withCheckedContinuation { committer = $0 }
            }
        }
    }

    // MARK: Time

    /// Forgets crawls that ended long ago, a few times an hour.
    private func sweepLoop() async {
        while !Task.isCancelled {
            state.sweep(now: now())
            perform()
            try? await Task.sleep(for: .seconds(600))
        }
    }

    private func setTimer() {
        let now = now()
        guard let wake = state.nextWake(after: now), !isOver else { return }
        if let timer, timer.at <= wake, timer.at > now { return }
        timer?.task.cancel()
        let task = Task {
            guard (try? await Task.sleep(for: max(.milliseconds(1), wake - now))) != nil else { return }
            timer = nil
            perform()
        }
        timer = (wake, task)
    }

}
