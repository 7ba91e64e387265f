/// Crawls of one source that could fetch, how many do, and how fast they may.
struct SourceLine: Sendable {
    private let capacity: Int
    /// Requests a second of the whole deployment.
    private let rate: Double?
    var inFlight = 0
    var crawls = TurnQueue<CrawlKey>()
    /// The upstream asked for quiet until this moment.
    private var quietUntil = Timestamp(milliseconds: .min)
    /// When the pace allows the next request, in milliseconds; fractions count at high rates.
    private var nextAt = 0.0

    init(_ source: Source) {
        capacity = source.maxInFlight
        rate = source.requestsPerSecond
    }

    func mayFetch(now: Timestamp) -> Bool {
        inFlight < capacity && quietUntil <= now && nextAt <= Double(now.milliseconds)
    }

    /// When the line opens again, if crawls wait in it and only time keeps it closed.
    func opens(after now: Timestamp) -> Timestamp? {
        guard !crawls.isEmpty, inFlight < capacity, !mayFetch(now: now) else { return nil }
        return max(quietUntil, Timestamp(milliseconds: Int64(nextAt.rounded(.up))))
    }

    /// A request is sent. What was not used of the pace is not saved up: a quiet hour is followed by no burst.
    ///
    /// - Parameter share: of the deployment's pace that is this worker's, by the partitions that it owns.
    mutating func start(share: Double, now: Timestamp) {
        inFlight += 1
        guard let rate, share > 0 else { return }
        nextAt = max(nextAt, Double(now.milliseconds)) + 1_000 / (rate * share)
    }

    /// All crawls of the source heed what the upstream asks of one.
    mutating func keepQuiet(until moment: Timestamp) { quietUntil = max(quietUntil, moment) }
}
