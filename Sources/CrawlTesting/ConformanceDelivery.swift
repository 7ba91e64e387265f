import Crawl

// What the delivery of jobs and the ledger promise.

extension ConformanceStage {
    // MARK: Jobs

    func jobsComeInOrder() async throws {
        var offsets: [Int64] = []
        for number in 0..<20 { offsets.append(try await produce("a\(number)", to: 1).offset) }
        let member = try await joinAlone()
        for number in 20..<40 { offsets.append(try await produce("a\(number)", to: 1).offset) }
        let seen = try await member.wait(for: "40 jobs") { $0.jobs.count >= 40 ? $0 : nil }
        try expect("delivered offsets", seen.offsets(of: 1), is: offsets)
        let crawls = seen.jobs.compactMap { if case .job(let job) = $0.content { job.crawl } else { nil } }
        try expect("delivered crawls", crawls, is: (0..<40).map { "a\($0)" })
    }

    func committedJobIsNotDeliveredAgain() async throws {
        let done = try await produce("a")
        let open = try await produce("b")
        let first = try await joinAlone()
        let job = try await first.job(0, at: done.offset)
        try await first.commit(Transaction([.sample("a")], at: [.init(owned: job.owned, next: done.offset + 1)]))
        await first.stop()
        let second = try await joinAlone()
        _ = try await second.job(0, at: open.offset)
        try expect("offsets delivered again", second.receiver.seen.offsets(of: 0), is: [open.offset])
    }

    func uncommittedJobIsDeliveredAgain() async throws {
        let position = try await produce("a")
        let first = try await joinAlone()
        _ = try await first.job(0, at: position.offset)
        await first.stop()
        let second = try await joinAlone()
        _ = try await second.job(0, at: position.offset)
    }

    func nextJobComesBackInItsPartition() async throws {
        // The trigger is not where a partitioner would put its key: the next job has to follow it all the same.
        for partition in 0..<log.partitions {
            _ = try await log.produce(.job(Job(crawl: "same", source: "products")), to: partition)
        }
        let member = try await joinAlone()
        for partition in 0..<log.partitions {
            let job = try await member.wait(for: "a job of \(partition)") { seen in
                seen.jobs.first { $0.owned.partition == partition }
            }
            let step = Step.sample("same", in: partition, goesOn: true)
            let offset = PartitionOffset(owned: job.owned, next: job.position.offset + 1)
            try await member.commit(Transaction([step], at: [offset]))
            let next = try await member.wait(for: "the next job of \(partition)") { seen in
                seen.jobs.first { $0.owned.partition == partition && $0.position.offset > job.position.offset }
            }
            try expect("the next job", next.content, is: step.next.map(DeliveredJob.Content.job) ?? next.content)
        }
    }

    func jobComesBackAsWritten() async throws {
        let cursors: [PageCursor?] = [
            nil, .page(0), .page(3), .offset(1_099_511_627_776), .url("https://upstream.invalid/p?a=1&b=%2F+é"),
            .token(RawJSON("\" ab+cd/ef== \"")), .token(RawJSON("0")), .token(RawJSON("18446744073709551616")),
            .token(RawJSON("{\"z\":1.0,\"a\":[null,false]}")),
        ]
        let first = try await produce("start")
        let member = try await joinAlone()
        let start = try await member.job(0, at: first.offset)
        var steps: [Step] = []
        for (number, cursor) in cursors.enumerated() {
            var step = Step.sample("crawl-\(number)", goesOn: true)
            step.next = Job(
                crawl: "crawl-\(number)",
                action: .next(Continuation(run: 7, step: Int64(number), cursor: cursor, pages: 3, items: 41)),
                source: "products", params: ["category": "späte \"Äpfel\"", "none": ""], from: cursor,
                follow: number > 0,
                limits: Limits(
                    maxPages: 9, maxItems: number == 0 ? nil : 100, deadline: Timestamp(milliseconds: 1_900_000_000_123)
                ),
                traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
            steps.append(step)
        }
        try await member.commit(Transaction(steps, at: [.init(owned: start.owned, next: first.offset + 1)]))
        let jobs = try await member.wait(for: "the next jobs") { seen in
            seen.jobs.count == 1 + cursors.count ? seen.jobs.dropFirst() : nil
        }
        for (job, step) in zip(jobs, steps) {
            guard case .job(let comesBack) = job.content else {
                throw ConformanceFailure("a next job is \(job.content)")
            }
            try expect("the next job", comesBack, is: step.next)
        }
    }

    func resetDeliversEverythingAgain() async throws {
        let first = try await produce("a")
        let second = try await produce("b")
        let member = try await joinAlone()
        let job = try await member.job(0, at: second.offset)
        try await member.commit(
            Transaction([.sample("a"), .sample("b")], at: [.init(owned: job.owned, next: second.offset + 1)]))
        await member.stop()
        try await log.resetOffsets()
        let again = try await joinAlone()
        _ = try await again.job(0, at: second.offset)
        try expect("offsets after the reset", again.receiver.seen.offsets(of: 0), is: [first.offset, second.offset])
        try await expect("ledger after the reset", again.ledger(0).map(\.crawl).sorted(), is: ["a", "b"])
    }

    // MARK: The ledger

    func ledgerComesBeforeJobs() async throws {
        let first = try await produce("a")
        _ = try await produce("b")
        let member = try await joinAlone()
        let job = try await member.job(0, at: first.offset)
        try expect("the ledger at first", member.receiver.seen.ledgers[job.owned] ?? [], is: [])
        try await member.commit(
            Transaction([.sample("a", goesOn: true)], at: [.init(owned: job.owned, next: first.offset + 1)]))
        await member.stop()
        let second = try await joinAlone()
        let delivered = try await second.wait(for: "a job") { seen in seen.jobs.first { $0.owned.partition == 0 } }
        let ledger = second.receiver.seen.ledgers[delivered.owned]
        try expect("the ledger that came with the job", ledger?.map(\.crawl), is: ["a"])
    }

    func ledgerHoldsWhatOthersCommitted() async throws {
        let position = try await produce("a")
        for step in Int64(1)...3 {
            let member = try await joinAlone()
            let ledger = try await member.ledger(0).map(\.step)
            try expect("the step that member \(step) finds", ledger, is: step == 1 ? [] : [step - 1])
            let owned = try await member.owned(0)
            try await member.commit(
                Transaction([.sample("a", step, goesOn: true)], at: [.init(owned: owned, next: position.offset + 1)]))
            await member.stop()
        }
        let last = try await joinAlone()
        try await expect("the last step", last.ledger(0).map(\.step), is: [3])
        try await expect("records", log.records(of: 0).map(\.record?.step), is: [1, 2, 3])
        try await expect("the ledger of the other partition", last.ledger(1), is: [])
    }

    func recordComesBackAsWritten() async throws {
        let first = try await produce("a")
        let member = try await joinAlone()
        let job = try await member.job(0, at: first.offset)
        let records = [CrawlRecord.full("waiting", .waiting), .full("ended", .ended), .sample("sparse")]
        let steps = records.map { Step(partition: 0, batches: [], record: $0, next: nil) }
        try await member.commit(Transaction(steps, at: [.init(owned: job.owned, next: first.offset + 1)]))
        try await expect("records", log.records(of: 0).map(\.record), is: records)
        await member.stop()
        let second = try await joinAlone()
        let ledger = try await second.ledger(0).sorted { $0.crawl < $1.crawl }
        try expect("the ledger", ledger, is: records.sorted { $0.crawl < $1.crawl })
    }

    func forgottenCrawlIsGone() async throws {
        let first = try await produce("a")
        let member = try await joinAlone()
        let job = try await member.job(0, at: first.offset)
        let offset = PartitionOffset(owned: job.owned, next: first.offset + 1)
        try await member.commit(Transaction([.sample("old"), .sample("new")], at: [offset]))
        var forgetting = Transaction([], at: [offset])
        forgetting.forgotten = [ForgottenCrawl(partition: 0, crawl: "old")]
        try await member.commit(forgetting)
        await member.stop()
        let second = try await joinAlone()
        try await expect("the ledger", second.ledger(0).map(\.crawl), is: ["new"])
        try await expect("the last record", log.records(of: 0).last, is: CommittedRecord(crawl: "old", record: nil))
    }
}

extension CrawlRecord {
    /// A record with something in every field.
    fileprivate static func full(_ crawl: String, _ status: Status) -> CrawlRecord {
        var record = sample(crawl, step: 12)
        record.status = status
        record.cursor = .token(RawJSON("{\"b\":1.0,\"a\":\"é\"}"))
        (record.pages, record.items, record.totalItems, record.totalPages) = (11, 1_100, 1_000_000_000_000, 40)
        record.cost = Cost(requests: 13, bytes: 123_456_789_012)
        record.retries = 2
        record.updatedAt = record.startedAt + .milliseconds(90_061)
        record.params = ["category": "a/b", "größe": "\"L\"\n"]
        record.from = .offset(40)
        record.follow = false
        record.limits = Limits(maxPages: 40, maxItems: 4_000, deadline: record.startedAt + .seconds(3_600))
        record.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        record.holes = [.page(3), .offset(70), .url("https://upstream.invalid/7")]
        record.oversizedItems = 4
        record.totalMismatch = true
        record.newestJob = JobPosition(offset: 77, timestamp: record.startedAt + .milliseconds(5))
        var trail = RequestTrail()
        for request in 0..<20 { trail.append(UInt64.max - UInt64(request)) }
        record.guards = Guards(
            trail: trail, previousItems: .max, emptyPages: 1, holesInARow: 2, attempts: 3, throttles: 4)
        if status == .ended { record.end = .init(.failed, .cursorLoop, error: "token \"b\" came again") }
        if status == .waiting { record.notBefore = record.updatedAt + .seconds(5) }
        return record
    }
}
