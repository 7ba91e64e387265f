import Crawl
import CrawlKafka
import Glibc
import Kafka

/// A worker that could not go on; the message is one line for whoever reads its last words.
public struct WorkerFailure: Error, Sendable, Hashable, CustomStringConvertible {
    public var description: String

    public init(_ description: String) { self.description = description }
}

/// Runs a worker: joins the group, takes jobs, crawls, until it is asked to stop by SIGTERM, SIGINT, or cancellation of the
/// task. Then it takes no more jobs, commits what is done, gives its partitions up and returns.
///
/// - Parameters:
///   - sources: what jobs may name. ``sourceFiles(in:)`` reads those that are files.
///   - handlesSignals: SIGTERM and SIGINT stop the worker. Pass `false` where the program handles them itself.
///   - say: takes lines about what happens. Called from any thread; must not block.
/// - Throws: ``WorkerFailure`` if Kafka cannot be used any more, another worker has taken this one's slot, or the grace was
///   not enough to stop in order. Nothing that was committed is lost, and what was not is done again by others.
public func run(
    _ configuration: WorkerConfiguration, sources: [Source], handlesSignals: Bool = true,
    say: @escaping @Sendable (String) -> Void = writeToStandardError
) async throws(WorkerFailure) {
    // From the first moment: a worker that is asked to stop while it starts has to stop, too.
    let signals = handlesSignals ? StopSignal.stream() : AsyncStream { $0.finish() }
    try await RunningWorker(configuration, sources, say: say).untilItEnds(signals)
}

/// The whole of a program that is a worker and nothing else: reads the configuration, runs, and exits with an ``ExitCode``
/// and, if something went wrong, one line on standard error.
public func main(configuration path: String, sources: [Source]) async -> Never {
    do {
        try await run(WorkerConfiguration(contentsOf: path), sources: sources)
        _exit(ExitCode.success.rawValue)
    } catch {
        writeToStandardError("\(error)")
        _exit((error is ConfigurationError ? ExitCode.usage : .failure).rawValue)
    }
}

/// A worker and what can end it.
private struct RunningWorker: Sendable {
    private enum Happening {
        case ended(LogFailure?)
        case asked(by: String)
        case graceIsOver
    }

    private let configuration: WorkerConfiguration
    private let sources: [Source]
    private let say: @Sendable (String) -> Void
    private let happenings: AsyncStream<Happening>
    private let tell: AsyncStream<Happening>.Continuation

    init(_ configuration: WorkerConfiguration, _ sources: [Source], say: @escaping @Sendable (String) -> Void) {
        self.configuration = configuration
        self.sources = sources
        self.say = say
        (happenings, tell) = AsyncStream.makeStream()
    }

    func untilItEnds(_ signals: AsyncStream<StopSignal>) async throws(WorkerFailure) {
        let listening = Task { for await signal in signals { tell.yield(.asked(by: signal.rawValue)) } }
        defer { listening.cancel() }
        // A task of its own: cancellation is one of the happenings, and must not end the wait for the others.
        let following = Task { await follow() }
        let failure = await withTaskCancellationHandler {
            await following.value
        } onCancel: {
            tell.yield(.asked(by: "cancellation"))
        }
        if let failure { throw failure }
    }

    private func follow() async -> WorkerFailure? {
        let grace = configuration.shutdownGrace
        let work = Task { await startAndRun() }
        var alarm: Task<Void, Never>?
        defer { alarm?.cancel() }
        for await happening in happenings {
            switch happening {
            case .ended(let failure): return failure.map { WorkerFailure($0.message) }
            case .graceIsOver: return WorkerFailure("not stopped within \(grace); what is left is done again by others")
            case .asked(let name) where alarm != nil: return WorkerFailure("\(name) again: ended at once")
            case .asked(let name):
                say("\(name): stopping")
                work.cancel()
                alarm = Task { await endTheGrace(after: grace) }
            }
        }
        return nil
    }

    /// Ends when the worker has, or could not be started.
    private func startAndRun() async {
        do throws(LogFailure) {
            let log = try await makeLog()
            // Whoever was asked to stop by now has taken no job.
            if !Task.isCancelled {
                let worker = Worker(
                    sources: sources, log: log, limits: configuration.limits, observe: { $0.line.map(say) })
                try await worker.run()
            }
            await log.close()
            tell.yield(.ended(nil))
        } catch {
            tell.yield(.ended(error))
        }
    }

    private func makeLog() async throws(LogFailure) -> KafkaLog {
        do throws(LogFailure) {
            return try await KafkaLog(configuration.log(say: say))
        } catch {
            throw LogFailure("\(configuration.kafka.bootstrapServers): \(error.message)")
        }
    }

    private func endTheGrace(after grace: Duration) async {
        do {
            try await Task.sleep(for: grace)
            tell.yield(.graceIsOver)
        } catch {}
    }
}
