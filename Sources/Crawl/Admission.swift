/// What is done with a delivered job: the admit rules. Pure: decided from the job and the committed record alone.
public enum Admission: Sendable, Hashable {
    /// A new run begins with this record.
    case begin(CrawlRecord)
    /// The crawl goes on from its committed record, or from the job's if the ledger does not know the crawl.
    case goOn(CrawlRecord)
    /// A user's word about a crawl that has not ended, whose committed record this is.
    case steer(CrawlRecord)
    /// It was done before, or there is nothing left to do. Dropped.
    case stale
    /// It cannot be done.
    case refused(DeadLetter.Kind, reason: String)

    /// - Parameters:
    ///   - known: the committed record of the crawl, if the ledger has one.
    public static func of(_ job: Job, at position: JobPosition, known: CrawlRecord?, now: Timestamp) -> Admission {
        if case .next(let continuation) = job.action {
            return ofNext(job, continuation, at: position, known: known, now: now)
        }
        // A re-delivered word of a user was handled by the run that took it, or by one before.
        if let known, known.newestJob.covers(position) { return .stale }
        guard let known else { return ofFirstWord(job, at: position, now: now) }
        guard known.isEnded else { return .steer(known) }
        switch job.action {
        case .start, .restart: return .begin(CrawlRecord(job, after: known, at: position, now: now))
        case .cancel, .pause, .resume, .next: return .stale
        }
    }

    private static func ofNext(
        _ job: Job, _ continuation: Continuation, at position: JobPosition, known: CrawlRecord?, now: Timestamp
    ) -> Admission {
        guard let known else { return .goOn(CrawlRecord(job, continuation, at: position, now: now)) }
        let (asked, committed) = ((continuation.run, continuation.step), (known.run, known.step))
        if asked < committed { return .stale }
        // A job ahead of the ledger means that the ledger was cut short: the job carries enough to go on.
        return .goOn(asked > committed ? CrawlRecord(job, continuation, at: position, now: now) : known)
    }

    private static func ofFirstWord(_ job: Job, at position: JobPosition, now: Timestamp) -> Admission {
        switch job.action {
        case .start, .restart:
            guard job.source != nil else {
                return .refused(.malformedJob, reason: "source: missing; a crawl that is not known needs one")
            }
            return .begin(CrawlRecord(job, after: nil, at: position, now: now))
        case .cancel, .pause, .resume, .next:
            return .refused(.unknownCrawl, reason: "crawl \"\(job.crawl)\" is not known")
        }
    }
}

extension JobPosition {
    /// True if a job at the other position was there when this one was taken.
    func covers(_ other: JobPosition) -> Bool { other.offset <= offset && other.timestamp <= timestamp }

    /// The newer of both, in offset and in time.
    func union(_ other: JobPosition) -> JobPosition {
        JobPosition(offset: max(offset, other.offset), timestamp: max(timestamp, other.timestamp))
    }
}

extension CrawlRecord {
    /// The first record of a run that a user's job begins.
    init(_ job: Job, after previous: CrawlRecord?, at position: JobPosition, now: Timestamp) {
        let goesOn = previous?.end?.reason == .onePage && previous?.source == (job.source ?? previous?.source)
        self.init(
            crawl: job.crawl, run: (previous?.run ?? 0) + 1, source: job.source ?? previous?.source ?? "",
            startedAt: now, newestJob: previous.map { $0.newestJob.union(position) } ?? position,
            from: job.from ?? (goesOn ? previous?.cursor : nil))
        // A restart without a source repeats the crawl as it was asked for.
        let repeats = job.source == nil
        params = repeats ? previous?.params ?? [:] : job.params
        limits = repeats ? previous?.limits ?? job.limits : job.limits
        follow = job.follow
        traceparent = job.traceparent
    }

    /// A crawl that the ledger does not know, from a job that goes on with it.
    init(_ job: Job, _ continuation: Continuation, at position: JobPosition, now: Timestamp) {
        self.init(
            crawl: job.crawl, run: continuation.run, source: job.source ?? "", startedAt: now, newestJob: position,
            from: job.from)
        step = continuation.step
        cursor = continuation.cursor
        pages = continuation.pages
        items = continuation.items
        params = job.params
        limits = job.limits
        follow = job.follow
        traceparent = job.traceparent
    }

    /// The job that goes on with the crawl from this record.
    var continuation: Job {
        Job(
            crawl: crawl,
            action: .next(Continuation(run: run, step: step, cursor: cursor, pages: pages, items: items)),
            source: source, params: params, from: from, follow: follow, limits: limits, traceparent: traceparent)
    }
}
