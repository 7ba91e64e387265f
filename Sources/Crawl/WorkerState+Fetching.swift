extension WorkerState {
    /// The pages to fetch now. Each order is answered by one call of `fetched`, also if its crawl is gone by then.
    package mutating func nextFetches(now: Timestamp) -> [FetchOrder] {
        wake(now: now)
        var orders: [FetchOrder] = []
        var idleSources = 0
        while fetching < limits.maxCrawlsInFlight, heldBytes < limits.stagedBytes, idleSources < sourceNames.count {
            let name = sourceNames[sourceTurn % sourceNames.count]
            sourceTurn = (sourceTurn + 1) % sourceNames.count
            if let order = nextFetch(of: name, now: now) {
                orders.append(order)
                idleSources = 0
            } else {
                idleSources += 1
            }
        }
        return orders
    }

    private mutating func nextFetch(of source: String, now: Timestamp) -> FetchOrder? {
        while lines[source]?.mayFetch(now: now) == true, let key = lines[source]?.crawls.popFirst() {
            if let order = order(key, now: now) { return order }
        }
        return nil
    }

    private mutating func order(_ key: CrawlKey, now: Timestamp) -> FetchOrder? {
        walks[key]?.isInLine = false
        guard let walk = walks[key], let opened = walk.opened, partitions[key.partition]?.isDraining == false,
            walk.mayFetch(limits, now: now)
        else { return nil }
        if walk.isExpired(now) {
            change(key, now: now) { $0.end(.init(.expired, .deadline), now: now) }
            return nil
        }
        serial += 1
        let ticket = FetchTicket(key: key, serial: serial)
        walks[key]?.startFetch(ticket)
        fetching += 1
        lines[opened.source.name]?.start(share: Double(partitions.count) / Double(partitionCount), now: now)
        let request = PageRequest(
            crawl: key.crawl, page: walk.record.pages + 1, cursor: walk.record.cursor,
            pageSize: opened.source.pagination.pageSize, traceparent: walk.record.traceparent)
        return FetchOrder(ticket: ticket, source: opened.source.name, pages: opened.pages, request: request)
    }

    /// Crawls whose wait is over, whose job has been held for long, or whose deadline has come.
    private mutating func wake(now: Timestamp) {
        while let key = wakes.popDue(now) {
            guard let wakeAt = walks[key]?.wakeAt, wakeAt <= now else { continue }
            let parkAfter = limits.parkAfter
            change(key, now: now) { walk in
                walk.wakeAt = nil
                if walk.isExpired(now) { return walk.end(.init(.expired, .deadline), now: now) }
                // Re-issues the job that it holds, as the next step.
                if let held = walk.heldSince, held + parkAfter <= now, walk.underWay == nil { walk.stageRecord() }
            }
        }
    }

    /// A fetch is over.
    package mutating func fetched(_ order: FetchOrder, _ result: Result<Page, SourceError>, now: Timestamp) {
        let key = order.ticket.key
        fetching -= 1
        lines[order.source]?.inFlight -= 1
        guard let walk = walks[key], walk.ticket == order.ticket, let source = walk.opened?.source else { return }
        switch result {
        case .success(let page): stage(page, key, of: walk.record, from: source, now: now)
        case .failure(let error): stage(error, key, of: walk.record, from: source, now: now)
        }
    }

    private mutating func stage(
        _ page: Page, _ key: CrawlKey, of before: CrawlRecord, from source: Source, now: Timestamp
    ) {
        let decision = StopRules.judge(page, of: before, by: source.pagination)
        let (fitting, tooLarge) = decision.publish ? partition(page.items) : (page.items, [])
        var record = before
        record.take(page, oversized: tooLarge.count, decision, at: now)
        let letters = tooLarge.map { letter(for: page.items[$0], of: before, in: key.partition) }
        var batch: ResultBatch?
        if decision.publish {
            var content = page
            content.items = fitting
            batch = ResultBatch(
                crawl: before.crawl, run: before.run, source: before.source, number: before.pages + 1,
                cursor: before.cursor, total: record.totalItems, page: content, output: source.output,
                traceparent: before.traceparent)
        }
        for letter in letters { tell(.deadLetter(letter)) }
        finishFetch(key, now: now) { walk in
            walk.record = record
            walk.stage(batch, deadLetters: letters)
            if record.isEnded { walk.stageRecord() }
        }
    }

    private mutating func stage(
        _ error: SourceError, _ key: CrawlKey, of before: CrawlRecord, from source: Source, now: Timestamp
    ) {
        let decision = FailureRules.judge(error, of: before, from: source, now: now, using: &generator)
        var record = before
        record.take(error, decision, at: now)
        tell(.troubled(record, error))
        var tellsRecord = true
        if case .retry(let notBefore) = decision {
            if error.retryAfter != nil { lines[source.name]?.keepQuiet(until: notBefore) }
            tellsRecord = notBefore - now > limits.reportWaitsOver
        }
        finishFetch(key, now: now) { walk in
            walk.record = record
            if tellsRecord { walk.stageRecord() }
        }
    }

    /// A crawl keeps its place for some pages, then lets others go first.
    private mutating func finishFetch(_ key: CrawlKey, now: Timestamp, _ body: (inout Walk) -> Void) {
        let turn = (walks[key]?.turn ?? 0) + 1
        let keepsTurn = turn < limits.yieldAfter
        change(key, inFront: keepsTurn, now: now) { walk in
            walk.endFetch()
            walk.turn = keepsTurn ? turn : 0
            body(&walk)
        }
    }

    // MARK: Items too large for a record

    private func partition(_ items: Items) -> (fitting: Items, tooLarge: [Int]) {
        let tooLarge = items.ranges.indices.filter { items.ranges[$0].count > maxItemBytes }
        if tooLarge.isEmpty { return (items, []) }
        let fitting = items.ranges.filter { $0.count <= maxItemBytes }
        return (Items(bytes: items.bytes, ranges: fitting), tooLarge)
    }

    private func letter(for item: ArraySlice<UInt8>, of record: CrawlRecord, in partition: Int32) -> DeadLetter {
        DeadLetter(
            kind: .itemTooLarge, reason: "an item of \(item.count) bytes; a record holds at most \(maxItemBytes)",
            content: .item(crawl: record.crawl, head: Array(item.prefix(1_024)), size: item.count),
            partition: partition, position: record.newestJob, attempts: 1)
    }
}
