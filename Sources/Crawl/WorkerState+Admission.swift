extension WorkerState {
    /// Takes a delivered job.
    package mutating func deliver(_ job: DeliveredJob, now: Timestamp) {
        guard isCurrent(job.owned), partitions[job.owned.partition]?.isDraining == false,
            let job = partitions[job.owned.partition]?.deliver(job)
        else { return }
        admit(job, now: now)
    }

    /// Decides what becomes of a job, now or when its crawl's last run is committed.
    mutating func admit(_ delivered: DeliveredJob, now: Timestamp) {
        let job: Job
        switch delivered.content {
        case .unusable(let kind, let reason): return refuse(delivered, kind, reason)
        case .job(let understood): job = understood
        }
        let key = CrawlKey(partition: delivered.owned.partition, crawl: job.crawl)
        if let walk = walks[key] { return meet(walk, job, delivered, now: now) }
        let known = partitions[key.partition]?.ledger[job.crawl]
        switch Admission.of(job, at: delivered.position, known: known, now: now) {
        case .stale: drop(delivered, of: job)
        case .refused(let kind, let reason): refuse(delivered, kind, reason)
        case .begin(let record): begin(record, delivered, now: now)
        case .goOn(let record):
            open(record, delivered.owned, now: now)
            absorb(delivered, in: key, now: now)
        case .steer(let record):
            open(record, delivered.owned, now: now)
            steer(key, job, delivered, now: now)
        }
    }

    /// A job for a crawl that is in memory.
    private mutating func meet(_ walk: Walk, _ job: Job, _ delivered: DeliveredJob, now: Timestamp) {
        if walk.record.isEnded {
            walks[walk.key]?.followers.append(delivered)
        } else if case .next(let continuation) = job.action {
            let isStale = (continuation.run, continuation.step) < (walk.record.run, walk.record.step)
            isStale ? drop(delivered, of: job) : absorb(delivered, in: walk.key, now: now)
        } else if walk.record.newestJob.covers(delivered.position) {
            drop(delivered, of: job)
        } else {
            steer(walk.key, job, delivered, now: now)
        }
    }

    // MARK: Outcomes

    private mutating func drop(_ delivered: DeliveredJob, of job: Job) {
        partitions[delivered.owned.partition]?.offsets.finish([delivered.position.offset])
        tell(.dropped(crawl: job.crawl))
    }

    private mutating func refuse(_ delivered: DeliveredJob, _ kind: DeadLetter.Kind, _ reason: String) {
        let letter = DeadLetter(
            kind: kind, reason: reason, content: .received(delivered.received), partition: delivered.owned.partition,
            position: delivered.position, attempts: 1)
        partitions[delivered.owned.partition]?.setAside(letter, job: delivered.position.offset)
        tell(.deadLetter(letter))
    }

    private mutating func begin(_ record: CrawlRecord, _ delivered: DeliveredJob, now: Timestamp) {
        guard let source = sources[record.source] else {
            let near =
                nearestName(to: record.source, among: Array(sources.keys)).map { "; did you mean \"\($0)\"?" } ?? ""
            return refuse(delivered, .unknownSource, "source: \"\(record.source)\" is not known\(near)")
        }
        do throws(UnusableParams) {
            let opened = try source.open(record.params)
            let walk = Walk(record, owned: delivered.owned, source: source, opened: opened)
            walks[walk.key] = walk
            tell(.began(record))
            absorb(delivered, in: walk.key, now: now)
        } catch {
            refuse(delivered, .unusableParams, error.reason)
        }
    }

    /// Takes a crawl that is under way, or that people want to go on with, into memory. A crawl whose source this
    /// worker cannot open any more ends as failed, with the job that goes on with it set aside.
    private mutating func open(_ record: CrawlRecord, _ owned: PartitionEpoch, now: Timestamp) {
        var record = record
        if record.isEnded {
            record.status = .running
            record.end = nil
            record.guards.attempts = 0
            record.guards.throttles = 0
            record.guards.holesInARow = 0
        }
        let source = sources[record.source]
        var opened: any PageSource = UnopenedSource()
        var problem: String?
        do throws(UnusableParams) {
            if let source { opened = try source.open(record.params) }
        } catch {
            problem = error.reason
        }
        if source == nil { problem = "source: \"\(record.source)\" is not known to this worker" }
        let stand = source ?? Source(record.source, pagination: Pagination(.singlePage)) { _ in UnopenedSource() }
        let walk = Walk(record, owned: owned, source: stand, opened: opened)
        walks[walk.key] = walk
        if let problem { end(walk.key, .init(.failed, .unusableParams, error: problem), now: now) }
    }

    /// The job is done with the crawl's next step.
    private mutating func absorb(_ delivered: DeliveredJob, in key: CrawlKey, now: Timestamp) {
        walks[key]?.absorb(delivered, now: now)
        place(key, now: now)
    }

    /// Does what a user says about a crawl that has not ended. The crawl's next step says that it was heard.
    private mutating func steer(_ key: CrawlKey, _ job: Job, _ delivered: DeliveredJob, now: Timestamp) {
        guard var walk = walks[key] else { return }
        guard !walk.record.isEnded else {
            // Its source could not be opened. The word is heard when that end is committed.
            walks[key]?.followers.append(delivered)
            return
        }
        if job.action == .restart {
            walk.followers.append(delivered)
            walks[key] = walk
            return end(key, .init(.cancelled, .cancelled, error: "restarted"), now: now)
        }
        let wasPaused = walk.record.status == .paused
        walk.record.newestJob = walk.record.newestJob.union(delivered.position)
        walk.absorb(delivered, now: now)
        switch job.action {
        case .pause: walk.record.status = .paused
        case .resume where wasPaused: walk.record.status = .running
        case .cancel, .start, .resume, .restart, .next: break
        }
        walk.record.updatedAt = now
        // A paused crawl takes no further step by itself.
        if wasPaused || walk.record.status == .paused { walk.stageRecord() }
        if walk.record.status == .paused, let ticket = walk.ticket {
            abandoned.append(ticket)
            walk.ticket = nil
        }
        let isStaged = !walk.staged.isEmpty
        walks[key] = walk
        if job.action == .cancel { end(key, .init(.cancelled, .cancelled), now: now) }
        if isStaged { markStaged(key) }
        place(key, now: now)
    }
}

/// Stands in where a source could not be opened; its crawl has failed and fetches nothing.
private struct UnopenedSource: PageSource {
    func fetch(_ request: PageRequest) async throws(SourceError) -> Page {
        throw SourceError(.rejected, "the source of crawl \(request.crawl) could not be opened")
    }
}
