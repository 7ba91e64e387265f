extension CrawlRecord {
    /// The last known totals, with what this page says (a total that is not repeated still counts: dlt-hub/dlt #1414).
    func totals(after page: Page) -> (items: Int64?, pages: Int64?) {
        switch page.signals.total {
        case .items(let items): (items, totalPages)
        case .pages(let pages): (totalItems, pages)
        case nil: (totalItems, totalPages)
        }
    }

    /// The crawl after a page, as the stop rules decided. Items that are too large for a record are counted apart.
    mutating func take(_ page: Page, oversized: Int, _ decision: PageDecision, at now: Timestamp) {
        (totalItems, totalPages) = totals(after: page)
        cost = cost + page.cost
        if decision.end?.verdict != .failed { remember(page) }
        if decision.publish {
            pages += 1
            items += Int64(page.items.count - oversized)
            oversizedItems += Int64(oversized)
        }
        if let totalItems, items + oversizedItems > totalItems { totalMismatch = true }
        status = .running
        notBefore = nil
        updatedAt = now
        cursor = decision.next ?? cursor
        if let end = decision.end { finish(end, at: now) }
    }

    /// What the guards keep of a page.
    private mutating func remember(_ page: Page) {
        guards.trail.append(Fingerprint.of(cursor))
        if cursor == nil, !page.url.isEmpty { guards.trail.append(Fingerprint.of(.url(page.url))) }
        guards.previousItems = Fingerprint.of(page.items)
        guards.emptyPages = page.items.isEmpty ? guards.emptyPages + 1 : 0
        guards.holesInARow = 0
        guards.attempts = 0
        guards.throttles = 0
    }

    /// Ends the run. What is missing makes a complete end a truncated one.
    mutating func finish(_ end: End, at now: Timestamp) {
        status = .ended
        notBefore = nil
        updatedAt = now
        self.end = end
        guard end.verdict == .complete else { return }
        // Where the run began at the first page, what was promised and what came can be compared.
        if from == nil, let totalItems, items + oversizedItems != totalItems { totalMismatch = true }
        if !holes.isEmpty {
            self.end = End(
                .truncated, .holes, error: "\(holes.count) pages failed for good; then \(end.reason.rawValue)")
        } else if oversizedItems > 0 {
            let error = "\(oversizedItems) items were too large for a record; then \(end.reason.rawValue)"
            self.end = End(.truncated, .oversizedItems, error: error)
        }
    }
}
