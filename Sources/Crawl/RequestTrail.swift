/// The requests of a run, remembered in constant memory, to see when one comes again.
///
/// The last 16 are kept exactly. A longer cycle is found by Brent's method: one earlier request is held still while
/// the walk goes on, and replaced by the newest after 1, 2, 4, 8 … requests, so that any cycle is met within three
/// times its length. The trail is part of the crawl record, so it survives restarts.
public struct RequestTrail: Sendable, Hashable {
    public static let window = 16

    /// Hashes of the last requests, oldest first, at most `window`.
    public private(set) var recent: [UInt64]
    /// The request that is held still.
    public private(set) var held: UInt64?
    /// Requests since `held` was taken.
    public private(set) var sinceHeld: Int64
    /// Take a new `held` after so many requests.
    public private(set) var reach: Int64

    public init(recent: [UInt64] = [], held: UInt64? = nil, sinceHeld: Int64 = 0, reach: Int64 = 1) {
        self.recent = recent
        self.held = held
        self.sinceHeld = sinceHeld
        self.reach = reach
    }

    /// True if this request was made before, as far as the trail remembers.
    public func contains(_ request: UInt64) -> Bool { held == request || recent.contains(request) }

    /// Adds a request.
    public mutating func append(_ request: UInt64) {
        recent.append(request)
        if recent.count > Self.window { recent.removeFirst() }
        sinceHeld += 1
        if held == nil || sinceHeld >= reach {
            held = request
            sinceHeld = 0
            reach *= 2
        }
    }
}
