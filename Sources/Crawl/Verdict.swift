/// How a crawl ended.
public enum Verdict: String, Sendable, Hashable, CaseIterable {
    /// All that the upstream has.
    case complete
    /// A limit ended it, or pages are missing.
    case truncated
    case failed, cancelled, expired
}

/// The rule that ended a crawl. Every end has a name, and no limit or guard reads as `complete`.
public enum EndReason: String, Sendable, Hashable, CaseIterable {
    // complete
    case hasMoreFalse = "has_more_false"
    case noNewItems = "no_new_items"
    case clampedEnd = "clamped_end"
    case totalReached = "total_reached"
    case emptyPage = "empty_page"
    case noNextCursor = "no_next_cursor"
    case shortPage = "short_page"
    case endStatus = "end_status"
    case singlePage = "single_page"
    // truncated
    case limitHit = "limit_hit"
    case holes
    case oversizedItems = "oversized_items"
    case onePage = "one_page"
    // failed
    case inconsistentSignal = "inconsistent_signal"
    case cursorLoop = "cursor_loop"
    case retriesExhausted = "retries_exhausted"
    case rejected
    case unauthorized
    case unusableParams = "unusable_params"
    /// A rule that this version does not know; read from the record of a newer one.
    case unknown
    // by people
    case cancelled
    case deadline
}
