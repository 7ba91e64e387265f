/// What follows a page that could not be had.
public enum FailureDecision: Sendable, Hashable {
    /// Try the same page again, not before that moment.
    case retry(notBefore: Timestamp)
    /// The page is missing for good; the walk goes on behind it.
    case hole(next: PageCursor)
    case end(CrawlRecord.End)
}

/// Retry, wait, hole or end: what follows an error of the upstream. An error is never a page.
public struct FailureRules: Sendable {
    let source: Source
    let record: CrawlRecord
    let error: SourceError

    /// - Parameters:
    ///   - record: the crawl before this attempt.
    ///   - generator: draws the jitter.
    public static func judge(
        _ error: SourceError, of record: CrawlRecord, from source: Source, now: Timestamp,
        using generator: inout some RandomNumberGenerator
    ) -> FailureDecision {
        FailureRules(source: source, record: record, error: error).decision(now: now, using: &generator)
    }

    private func decision(now: Timestamp, using generator: inout some RandomNumberGenerator) -> FailureDecision {
        if let status = error.status, record.pages > 0 || record.from != nil,
            source.pagination.stopOnStatus.contains(status)
        {
            return .end(.init(.complete, .endStatus))
        }
        switch error.kind {
        case .unauthorized: return .end(.init(.failed, .unauthorized, error: error.message))
        case .rejected: return forGood(.rejected)
        case .unavailable, .malformed:
            guard record.guards.attempts + 1 < source.retry.attempts else { return forGood(.retriesExhausted) }
            return .retry(notBefore: now + delay(attempt: record.guards.attempts, using: &generator))
        case .throttled, .notReady:
            guard record.guards.throttles < source.retry.throttleBudget else { return forGood(.retriesExhausted) }
            return .retry(notBefore: now + delay(attempt: record.guards.throttles, using: &generator))
        }
    }

    /// Exponential back-off with full jitter, and at least what the upstream asks for: a Retry-After of 0 is no hot
    /// loop, one of a year is no stuck crawl (mautrix/meta #321).
    private func delay(attempt: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        let ceiling = min(source.retry.maxDelay, source.retry.baseDelay * (1 << min(attempt, 20)))
        let jitter = Duration.milliseconds(Int64.random(in: 0...max(0, ceiling.milliseconds), using: &generator))
        return max(jitter, min(error.retryAfter ?? .zero, source.retry.maxWait))
    }

    /// A page number or offset is an address, so the walk can go on behind a missing page (hahwul/urx #361); a cursor is a chain.
    private func forGood(_ reason: EndReason) -> FailureDecision {
        let failed = FailureDecision.end(.init(.failed, reason, error: error.message))
        guard record.pages > 0, record.guards.holesInARow < source.pagination.maxHoles else { return failed }
        switch (source.pagination.strategy, record.cursor) {
        case (.pageNumber, .page(let number)): return .hole(next: .page(number + 1))
        case (.offset, .offset(let offset)):
            guard let size = source.pagination.pageSize else { return failed }
            return .hole(next: .offset(offset + Int64(size)))
        default: return failed
        }
    }
}

extension CrawlRecord {
    /// The crawl after a failed attempt.
    mutating func take(_ error: SourceError, _ decision: FailureDecision, at now: Timestamp) {
        cost = cost + error.cost
        updatedAt = now
        switch decision {
        case .retry(let notBefore):
            retries += 1
            switch error.kind {
            case .throttled, .notReady: guards.throttles += 1
            case .unavailable, .malformed, .unauthorized, .rejected: guards.attempts += 1
            }
            status = .waiting
            self.notBefore = notBefore
        case .hole(let next):
            if let cursor { holes.append(cursor) }
            cursor = next
            status = .running
            notBefore = nil
            guards.holesInARow += 1
            guards.attempts = 0
            guards.throttles = 0
            guards.previousItems = nil
        case .end(let end): finish(end, at: now)
        }
    }
}
