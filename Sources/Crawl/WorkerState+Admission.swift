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
        case .unusable(let kind, let reason): return refuse(delivered, Refusal(kind: kind, reason: reason))
        case .job(let understood): job = understood
        }
        let key = CrawlKey(partition: delivered.owned.partition, crawl: job.crawl)
        let known: Admission.Known =
            if let walk = walks[key] {
                .inMemory(walk.record)
            } else {
                .committed(partitions[key.partition]?.ledger[job.crawl])
            }
        switch Admission.of(job, at: delivered.position, known: known, now: now) {
        case .stale: drop(delivered, of: job)
        case .refused(let refusal): refuse(delivered, refusal)
        case .begin(let record): begin(record, delivered, now: now)
        case .goOn(let record):
            open(record, delivered.owned, now: now)
            change(key, now: now) { $0.absorb(delivered, now: now) }
        case .steer(let record):
            open(record, delivered.owned, now: now)
            steer(key, job, delivered, now: now)
        case .follow: change(key, now: now) { $0.followers.append(delivered) }
        }
    }

    // MARK: Outcomes

    private mutating func drop(_ delivered: DeliveredJob, of job: Job) {
        partitions[delivered.owned.partition]?.offsets.finish([delivered.position.offset])
        tell(.dropped(crawl: job.crawl))
    }

    private mutating func refuse(_ delivered: DeliveredJob, _ refusal: Refusal) {
        let letter = DeadLetter(
            kind: refusal.kind, reason: refusal.reason, content: .received(delivered.received),
            partition: delivered.owned.partition, position: delivered.position, attempts: 1)
        partitions[delivered.owned.partition]?.setAside(letter, job: delivered.position.offset)
        tell(.deadLetter(letter))
    }

    private mutating func begin(_ record: CrawlRecord, _ delivered: DeliveredJob, now: Timestamp) {
        do throws(Refusal) {
            let walk = Walk(record, owned: delivered.owned, opened: try openSource(of: record))
            walks[walk.key] = walk
            tell(.began(record))
            change(walk.key, now: now) { $0.absorb(delivered, now: now) }
        } catch {
            refuse(delivered, error)
        }
    }

    /// Takes a crawl that is under way, or that people want to go on with, into memory. A crawl whose source this
    /// worker cannot open any more ends as failed, with the job that goes on with it set aside.
    private mutating func open(_ record: CrawlRecord, _ owned: PartitionEpoch, now: Timestamp) {
        let key = CrawlKey(partition: owned.partition, crawl: record.crawl)
        guard walks[key] == nil else { return }
        var record = record
        if record.isEnded { record.reopen() }
        do throws(Refusal) {
            walks[key] = Walk(record, owned: owned, opened: try openSource(of: record))
        } catch {
            let reason = error.reason
            walks[key] = Walk(record, owned: owned, opened: nil)
            change(key, now: now) { $0.end(.init(.failed, .unusableParams, error: reason), now: now) }
        }
    }

    private func openSource(of record: CrawlRecord) throws(Refusal) -> OpenedSource {
        guard let source = sources[record.source] else {
            let near = nearestName(to: record.source, among: sourceNames).map { "; did you mean \"\($0)\"?" } ?? ""
            throw Refusal(kind: .unknownSource, reason: "source: \"\(record.source)\" is not known\(near)")
        }
        do throws(UnusableParams) {
            return OpenedSource(source: source, pages: try source.open(record.params))
        } catch {
            throw Refusal(kind: .unusableParams, reason: error.reason)
        }
    }

    /// Does what a user says about a crawl that has not ended. The crawl's next step says that it was heard.
    private mutating func steer(_ key: CrawlKey, _ job: Job, _ delivered: DeliveredJob, now: Timestamp) {
        change(key, now: now) { walk in
            // It may have ended just now, because its source could not be opened. A restart also comes after the end.
            guard !walk.record.isEnded, job.action != .restart else {
                if !walk.record.isEnded { walk.end(.init(.cancelled, .cancelled, error: "restarted"), now: now) }
                return walk.followers.append(delivered)
            }
            let wasPaused = walk.record.status == .paused
            walk.record.newestJob = walk.record.newestJob.union(delivered.position)
            walk.record.updatedAt = now
            walk.absorb(delivered, now: now)
            switch job.action {
            case .cancel: return walk.end(.init(.cancelled, .cancelled), now: now)
            case .pause:
                walk.record.status = .paused
                walk.giveUpFetch()
            case .resume where wasPaused: walk.record.status = .running
            case .start, .resume, .restart, .next: break
            }
            // A paused crawl takes no further step by itself.
            if wasPaused || walk.record.status == .paused { walk.stageRecord() }
        }
    }
}
