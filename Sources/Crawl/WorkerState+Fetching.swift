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
        while let line = lines[source], line.inFlight < line.capacity, let key = lines[source]?.keys.popFirst() {
            if let order = order(key, now: now) { return order }
        }
        return nil
    }

    private mutating func order(_ key: CrawlKey, now: Timestamp) -> FetchOrder? {
        walks[key]?.isInLine = false
        guard let walk = walks[key], partitions[key.partition]?.isDraining == false, walk.mayFetch(limits, now: now)
        else { return nil }
        if let deadline = walk.record.limits.deadline, deadline <= now {
            end(key, .init(.expired, .deadline), now: now)
            return nil
        }
        serial += 1
        let ticket = FetchTicket(key: key, serial: serial)
        walks[key]?.ticket = ticket
        fetching += 1
        lines[walk.source.name]?.inFlight += 1
        let request = PageRequest(
            crawl: key.crawl, page: walk.record.pages + 1, cursor: walk.record.cursor,
            pageSize: walk.source.pagination.pageSize, traceparent: walk.record.traceparent)
        return FetchOrder(
            ticket: ticket, source: walk.source.name, params: walk.record.params, opened: walk.opened, request: request)
    }

    /// Crawls whose wait is over, whose job has been held for long, or whose deadline has come.
    private mutating func wake(now: Timestamp) {
        while let key = wakes.popDue(now) {
            guard let walk = walks[key], let wakeAt = walk.wakeAt, wakeAt <= now else { continue }
            walks[key]?.wakeAt = nil
            if let deadline = walk.record.limits.deadline, deadline <= now, !walk.record.isEnded {
                end(key, .init(.expired, .deadline), now: now)
                continue
            }
            if let held = walk.heldSince, held + limits.parkAfter <= now, walk.underWay == nil, walk.staged.isEmpty {
                park(key)
            }
            place(key, now: now)
        }
    }

    /// Re-issues the job that a crawl holds, as the next step.
    private mutating func park(_ key: CrawlKey) {
        walks[key]?.stageRecord()
        markStaged(key)
    }

    /// A fetch is over.
    package mutating func fetched(_ order: FetchOrder, _ result: Result<Page, SourceError>, now: Timestamp) {
        let key = order.ticket.key
        fetching -= 1
        lines[order.source]?.inFlight -= 1
        guard let walk = walks[key], walk.ticket == order.ticket else { return }
        walks[key]?.ticket = nil
        switch result {
        case .success(let page): stage(page, in: walk, now: now)
        case .failure(let error): stage(error, in: walk, now: now)
        }
        place(key, inFront: hasTurn(key), now: now)
    }

    /// A crawl keeps its place for some pages, then lets others go first.
    private mutating func hasTurn(_ key: CrawlKey) -> Bool {
        let turn = (walks[key]?.turn ?? 0) + 1
        walks[key]?.turn = turn < limits.yieldAfter ? turn : 0
        return turn < limits.yieldAfter
    }

    private mutating func stage(_ page: Page, in before: Walk, now: Timestamp) {
        var walk = before
        walk.ticket = nil
        let decision = StopRules.judge(page, of: walk.record, by: walk.source.pagination)
        let (fitting, tooLarge) = decision.publish ? partition(page.items) : (page.items, [])
        var published = decision
        published.publish = decision.publish && !page.items.isEmpty
        walk.record.take(page, oversized: tooLarge.count, published, at: now)
        let letters = tooLarge.map { letter(for: page.items[$0], of: walk) }
        var batch: ResultBatch?
        if published.publish {
            var content = page
            content.items = fitting
            batch = ResultBatch(
                crawl: before.record.crawl, run: before.record.run, source: before.record.source,
                number: before.record.pages + 1, cursor: before.record.cursor, total: walk.record.totalItems,
                page: content, output: walk.source.output, traceparent: before.record.traceparent)
        }
        walk.stage(batch, deadLetters: letters)
        if walk.record.isEnded { walk.stageRecord() }
        heldBytes += walk.heldBytes - before.heldBytes
        walks[walk.key] = walk
        for letter in letters { tell(.deadLetter(letter)) }
        if !walk.staged.isEmpty { markStaged(walk.key) }
    }

    private mutating func stage(_ error: SourceError, in before: Walk, now: Timestamp) {
        var walk = before
        walk.ticket = nil
        let decision = FailureRules.judge(error, of: walk.record, from: walk.source, now: now, using: &generator)
        walk.record.take(error, decision, at: now)
        tell(.troubled(walk.record, error))
        switch decision {
        case .end, .hole: walk.stageRecord()
        case .retry(let notBefore):
            if notBefore - now > limits.reportWaitsOver { walk.stageRecord() }
        }
        walks[walk.key] = walk
        if !walk.staged.isEmpty { markStaged(walk.key) }
    }

    // MARK: Items too large for a record

    private func partition(_ items: Items) -> (fitting: Items, tooLarge: [Int]) {
        let tooLarge = items.ranges.indices.filter { items.ranges[$0].count > maxItemBytes }
        if tooLarge.isEmpty { return (items, []) }
        let fitting = items.ranges.filter { $0.count <= maxItemBytes }
        return (Items(bytes: items.bytes, ranges: fitting), tooLarge)
    }

    private func letter(for item: ArraySlice<UInt8>, of walk: Walk) -> DeadLetter {
        DeadLetter(
            kind: .itemTooLarge, reason: "an item of \(item.count) bytes; a record holds at most \(maxItemBytes)",
            content: .item(crawl: walk.record.crawl, head: Array(item.prefix(1_024)), size: item.count),
            partition: walk.owned.partition, position: walk.record.newestJob, attempts: 1)
    }
}
