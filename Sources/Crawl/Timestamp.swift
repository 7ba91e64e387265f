import FoundationEssentials

/// A moment in time as Kafka counts it: milliseconds since 1970-01-01T00:00:00Z.
///
/// Decisions never read a clock; they are given a `Timestamp`.
public struct Timestamp: Sendable, Hashable, Comparable {
    public var milliseconds: Int64

    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// The system's clock. Only shells read it.
    public static var now: Timestamp { Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000)) }

    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }

    public static func + (time: Timestamp, wait: Duration) -> Timestamp {
        Timestamp(milliseconds: time.milliseconds.addingReportingOverflow(wait.milliseconds).partialValue)
    }

    public static func - (later: Timestamp, earlier: Timestamp) -> Duration {
        .milliseconds(later.milliseconds - earlier.milliseconds)
    }
}

extension Duration {
    /// Whole milliseconds, rounded towards zero.
    public var milliseconds: Int64 {
        components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
    }
}
