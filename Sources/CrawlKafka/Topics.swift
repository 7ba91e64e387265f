/// The four topics of a deployment. A second deployment beside it has another prefix.
public struct Topics: Sendable, Hashable {
    /// Defaults to `pagehound.`.
    public var prefix: String

    public init(prefix: String = "pagehound.") { self.prefix = prefix }

    /// Jobs: the triggers of users, and the workers' own next jobs.
    public var jobs: String { prefix + "jobs" }
    /// Result batches.
    public var pages: String { prefix + "pages" }
    /// Crawl records; compacted. Each crawl is in the partition of its jobs.
    public var crawls: String { prefix + "crawls" }
    /// Dead letters.
    public var dead: String { prefix + "dead" }

    public var all: [String] { [jobs, pages, crawls, dead] }
}
