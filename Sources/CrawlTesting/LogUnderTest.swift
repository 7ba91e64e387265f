import Crawl

/// A crawl log as the conformance suite sees it, with a view from outside. One instance serves one requirement: its topics
/// are its own and empty.
public protocol LogUnderTest: Sendable {
    /// What the log at hand can show.
    var capabilities: Set<LogCapability> { get }
    /// How long a thing may take that happens by itself: a rebalance, the end of a crashed member's session.
    var patience: Duration { get }
    /// Partitions of the jobs topic; at least 2.
    var partitions: Int32 { get }

    /// The log of a new member of the one group. It joins when the suite calls `run`.
    func makeMember() async throws -> any CrawlLog
    /// Ends a member without a word, as SIGKILL does: nothing is committed, nobody is told. Its `run` and `commit` may
    /// throw or, if nothing can stop them, have no effect any more.
    func crash(_ member: any CrawlLog) async throws
    /// Makes the next commit of the member abort after its records were sent. Needs `abortsOnDemand`.
    func abortNextCommit(of member: any CrawlLog) async throws

    /// Puts a message on the jobs topic as a user does.
    func produce(_ trigger: Trigger, to partition: Int32) async throws -> JobPosition
    /// All result pages of a partition in their order, as a reader with `read_committed` sees them once no transaction
    /// is open. The parts of a page are joined.
    func pages(of partition: Int32) async throws -> [CommittedPage]
    /// All crawl records of a partition in their order, read likewise; a tombstone has none.
    func records(of partition: Int32) async throws -> [CommittedRecord]
    /// All dead letters, read likewise.
    func deadLetters() async throws -> [CommittedDeadLetter]
    /// Where each jobs partition continues; a partition without a committed offset is missing.
    func committedOffsets() async throws -> [Int32: Int64]
    /// Makes the group begin again with the first job. There is no member while it is called. Needs `resetsOffsets`.
    func resetOffsets() async throws
}

extension LogUnderTest {
    public func abortNextCommit(of member: any CrawlLog) async throws {
        throw ConformanceFailure("this log cannot abort on demand")
    }

    public func resetOffsets() async throws {
        throw ConformanceFailure("the offsets of this log cannot be reset")
    }
}

/// What not every log, or not every broker behind it, can show.
public enum LogCapability: String, Sendable, CaseIterable {
    /// A commit can be made to abort from outside.
    case abortsOnDemand
    /// The offsets of the group can be reset.
    case resetsOffsets
    /// A crashed member is noticed, and what it left open is ended, within the log's patience.
    case noticesCrashes
}

/// A message that a user puts on the jobs topic.
public enum Trigger: Sendable {
    case job(Job)
    /// Bytes as they are; not a job.
    case raw(ReceivedRecord)
}

/// A result page that everybody can see.
public struct CommittedPage: Sendable, Hashable {
    public var crawl: String
    public var run: Int64
    public var number: Int64
    /// The items as text, byte for byte.
    public var items: [String]

    public init(crawl: String, run: Int64, number: Int64, items: [String]) {
        self.crawl = crawl
        self.run = run
        self.number = number
        self.items = items
    }
}

/// A record of the crawls topic that everybody can see.
public struct CommittedRecord: Sendable, Hashable {
    public var crawl: String
    /// `nil` is a tombstone.
    public var record: CrawlRecord?

    public init(crawl: String, record: CrawlRecord?) {
        self.crawl = crawl
        self.record = record
    }
}

/// A dead letter that everybody can see.
public struct CommittedDeadLetter: Sendable, Hashable {
    public var kind: DeadLetter.Kind
    /// Key and value as they are in the record, and the headers without those that say why it is here.
    public var record: ReceivedRecord

    public init(kind: DeadLetter.Kind, record: ReceivedRecord) {
        self.kind = kind
        self.record = record
    }
}

/// A promise that the log under test does not keep.
public struct ConformanceFailure: Error, Sendable, Hashable, CustomStringConvertible {
    public var description: String

    public init(_ description: String) { self.description = description }
}
