/// What is done with a delivered job: the admit rules. Pure: decided from the job and what is known of its crawl.
public enum Admission: Sendable, Hashable {
    /// A new run begins with this record.
    case begin(CrawlRecord)
    /// The job is done with the next step of the crawl, which goes on from this record.
    case goOn(CrawlRecord)
    /// A user's word about a crawl that has not ended.
    case steer(CrawlRecord)
    /// The crawl's run has ended, but that is not committed yet: the job is looked at again then.
    case follow
    /// It was done before, or there is nothing left to do. Dropped.
    case stale
    /// It cannot be done.
    case refused(Refusal)

    /// What is known of a crawl.
    public enum Known: Sendable, Hashable {
        /// The record in the ledger, if there is one.
        case committed(CrawlRecord?)
        /// The record as it will be: the crawl is held in memory, ahead of the ledger.
        case inMemory(CrawlRecord)
    }

    public static func of(_ job: Job, at position: JobPosition, known: Known, now: Timestamp) -> Admission {
        let record: CrawlRecord?
        switch known {
        case .inMemory(let held):
            if held.isEnded { return .follow }
            record = held
        case .committed(let committed): record = committed
        }
        if case .next(let continuation) = job.action {
            return ofNext(job, continuation, at: position, known: known, now: now)
        }
        // A re-delivered word of a user was handled by the run that took it, or by one before.
        if let record, record.newestJob.covers(position) { return .stale }
        guard let record else { return ofFirstWord(job, at: position, now: now) }
        guard record.isEnded else { return .steer(record) }
        switch job.action {
        case .start, .restart: return .begin(CrawlRecord(job, after: record, at: position, now: now))
        case .cancel, .pause, .resume, .next: return .stale
        }
    }

    private static func ofNext(
        _ job: Job, _ continuation: Continuation, at position: JobPosition, known: Known, now: Timestamp
    ) -> Admission {
        let asked = (continuation.run, continuation.step)
        switch known {
        case .inMemory(let record):
            // The job of a step whose commit is being acknowledged is ahead of the record.
            return asked < (record.run, record.step) ? .stale : .goOn(record)
        case .committed(let record?) where asked < (record.run, record.step): return .stale
        case .committed(let record?) where asked == (record.run, record.step): return .goOn(record)
        case .committed:
            // The ledger was lost or cut short: the job carries enough to go on.
            return .goOn(CrawlRecord(job, continuation, at: position, now: now))
        }
    }

    private static func ofFirstWord(_ job: Job, at position: JobPosition, now: Timestamp) -> Admission {
        switch job.action {
        case .start, .restart:
            guard job.source != nil else {
                return .refused(
                    Refusal(kind: .malformedJob, reason: "source: missing; a crawl that is not known needs one"))
            }
            return .begin(CrawlRecord(job, after: nil, at: position, now: now))
        case .cancel, .pause, .resume, .next:
            return .refused(Refusal(kind: .unknownCrawl, reason: "crawl \"\(job.crawl)\" is not known"))
        }
    }
}

/// Why a job cannot be done.
public struct Refusal: Error, Sendable, Hashable {
    public var kind: DeadLetter.Kind
    /// Names the field and the nearest valid name.
    public var reason: String
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

    /// Goes on with a run that failed, because someone sent the job that was set aside.
    mutating func reopen() {
        status = .running
        end = nil
        guards.attempts = 0
        guards.throttles = 0
        guards.holesInARow = 0
    }

    /// The job that goes on with the crawl from this record.
    var continuation: Job {
        Job(
            crawl: crawl,
            action: .next(Continuation(run: run, step: step, cursor: cursor, pages: pages, items: items)),
            source: source, params: params, from: from, follow: follow, limits: limits, traceparent: traceparent)
    }
}
