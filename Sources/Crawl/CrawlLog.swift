/// The log that crawls live in: jobs come from it, steps are committed to it, nothing else is stored anywhere.
///
/// What an implementation promises, and `CrawlTesting` checks:
/// - A transaction is all or nothing: records, dead letters and job offsets become visible together or never.
/// - A job is delivered until an offset past it was committed; it is then not delivered again to any
///   member, unless someone resets the offsets.
/// - `assigned` comes before any job of the partition, with the ledger as of every transaction that was committed for
///   it, by whomever; no other member can commit for the partition from then on.
/// - A transaction that touches a partition this member does not own any more is refused as a whole.
public protocol CrawlLog: Sendable {
    /// An item larger than this, in bytes, does not fit into a record.
    var maxItemBytes: Int { get }
    /// Partitions of the jobs topic.
    var partitionCount: Int { get }

    /// Joins the group and delivers to `receiver` until the task is cancelled; then gives all partitions up, through
    /// `revoking`, and returns. Throws `LogFailure` if the log cannot be used any more by this process.
    func run(_ receiver: any JobReceiver) async throws(LogFailure)

    /// Commits a transaction. Only one is under way at a time.
    func commit(_ transaction: Transaction) async throws(LogFailure) -> CommitOutcome
}

/// Takes what a log delivers.
public protocol JobReceiver: Sendable {
    /// The partition is owned and its ledger restored.
    func assigned(_ partition: AssignedPartition) async
    /// The partitions are about to be given up. Returns when what is done is committed, or at once if `lost`: then they
    /// already belong to someone else and nothing of them can be committed any more. Returns soon when its task is
    /// cancelled, with what was not committed undone.
    func revoking(_ partitions: [PartitionEpoch], lost: Bool) async
    /// Takes jobs, in offset order for each partition. Suspends while there is no room for more; returns soon when its
    /// task is cancelled, and jobs that were not taken are then not done.
    func deliver(_ jobs: [DeliveredJob]) async
}

/// A partition of the jobs topic during one ownership: the epoch is new each time the partition is assigned, so that
/// what belongs to an earlier ownership is recognised.
public struct PartitionEpoch: Sendable, Hashable {
    public var partition: Int32
    public var epoch: Int64

    public init(partition: Int32, epoch: Int64) {
        self.partition = partition
        self.epoch = epoch
    }
}

/// A partition with what is known of its crawls.
public struct AssignedPartition: Sendable {
    public var owned: PartitionEpoch
    public var ledger: [CrawlRecord]

    public init(owned: PartitionEpoch, ledger: [CrawlRecord]) {
        self.owned = owned
        self.ledger = ledger
    }
}

/// A message of the jobs topic as it was delivered.
public struct DeliveredJob: Sendable {
    public var owned: PartitionEpoch
    public var position: JobPosition
    public var content: Content
    /// The record as received, for the dead-letter topic.
    public var received: ReceivedRecord

    public enum Content: Sendable, Hashable {
        case job(Job)
        /// It cannot be understood; the reason names the field and the nearest valid name.
        case unusable(kind: DeadLetter.Kind, reason: String)
    }

    public init(owned: PartitionEpoch, position: JobPosition, content: Content, received: ReceivedRecord) {
        self.owned = owned
        self.position = position
        self.content = content
        self.received = received
    }
}

/// Bytes of a record, untouched. Null stays null and is not the same as empty.
public struct ReceivedRecord: Sendable, Hashable {
    public var key: [UInt8]?
    public var value: [UInt8]?
    public var headers: [Header]

    public struct Header: Sendable, Hashable {
        public var name: [UInt8]
        public var value: [UInt8]?

        public init(name: [UInt8], value: [UInt8]?) {
            self.name = name
            self.value = value
        }
    }

    public init(key: [UInt8]? = nil, value: [UInt8]? = nil, headers: [Header] = []) {
        self.key = key
        self.value = value
        self.headers = headers
    }
}

/// All that becomes visible together.
public struct Transaction: Sendable {
    public var steps: [Step] = []
    public var deadLetters: [DeadLetter] = []
    /// Crawls whose ended records are forgotten. A step of the same crawl in the same transaction comes after that.
    public var forgotten: [ForgottenCrawl] = []
    /// Where each touched partition continues, even where that did not move: this is what refuses a member that lost
    /// the partition.
    public var offsets: [PartitionOffset] = []

    public init() {}

    public var isEmpty: Bool { steps.isEmpty && deadLetters.isEmpty && forgotten.isEmpty && offsets.isEmpty }
}

/// One step of one crawl.
public struct Step: Sendable {
    public var partition: Int32
    public var batches: [ResultBatch]
    public var record: CrawlRecord
    /// The job that goes on; `nil` if the crawl ended, or if the job at hand stays the one that goes on.
    public var next: Job?

    public init(partition: Int32, batches: [ResultBatch], record: CrawlRecord, next: Job?) {
        self.partition = partition
        self.batches = batches
        self.record = record
        self.next = next
    }
}

/// One page of results.
public struct ResultBatch: Sendable {
    public var crawl: String
    public var run: Int64
    public var source: String
    /// From 1 in the run.
    public var number: Int64
    /// The cursor that the page was fetched with.
    public var cursor: PageCursor?
    /// The promised total in items, as known after this page.
    public var total: Int64?
    public var page: Page
    public var output: Output
    public var traceparent: String?

    public init(
        crawl: String, run: Int64, source: String, number: Int64, cursor: PageCursor?, total: Int64?, page: Page,
        output: Output, traceparent: String?
    ) {
        self.crawl = crawl
        self.run = run
        self.source = source
        self.number = number
        self.cursor = cursor
        self.total = total
        self.page = page
        self.output = output
        self.traceparent = traceparent
    }
}

/// Something that could not be used, or a crawl that failed, set aside for people.
public struct DeadLetter: Sendable, Hashable {
    public enum Kind: String, Sendable, CaseIterable {
        /// The job cannot be understood.
        case malformedJob = "malformed_job"
        /// The job names a source that this worker does not have.
        case unknownSource = "unknown_source"
        /// The job's params do not fit the source.
        case unusableParams = "unusable_params"
        /// The job steers a crawl that is not known.
        case unknownCrawl = "unknown_crawl"
        /// The crawl failed; the value is the job that goes on from the failed page.
        case crawlFailed = "crawl_failed"
        /// An item is larger than a record may be.
        case itemTooLarge = "item_too_large"
    }

    public enum Content: Sendable, Hashable {
        /// The record as received.
        case received(ReceivedRecord)
        /// A job to be sent again when the cause is mended.
        case job(Job)
        /// The first bytes of an item that does not fit, and its whole size in bytes.
        case item(crawl: String, head: [UInt8], size: Int)
    }

    public var kind: Kind
    public var reason: String
    public var content: Content
    public var partition: Int32
    public var position: JobPosition
    public var attempts: Int

    public init(
        kind: Kind, reason: String, content: Content, partition: Int32, position: JobPosition, attempts: Int
    ) {
        self.kind = kind
        self.reason = reason
        self.content = content
        self.partition = partition
        self.position = position
        self.attempts = attempts
    }
}

extension DeadLetter {
    /// About how many bytes it holds in memory.
    var size: Int {
        switch content {
        case .received(let record):
            (record.key?.count ?? 0) + (record.value?.count ?? 0)
                + record.headers.reduce(0) { $0 + $1.name.count + ($1.value?.count ?? 0) }
        case .item(_, let head, _): head.count
        case .job: 1_024
        }
    }
}

/// An ended crawl whose record is kept no longer.
public struct ForgottenCrawl: Sendable, Hashable {
    public var partition: Int32
    public var crawl: String

    public init(partition: Int32, crawl: String) {
        self.partition = partition
        self.crawl = crawl
    }
}

/// Where a partition continues: all jobs before `next` are done.
public struct PartitionOffset: Sendable, Hashable {
    public var owned: PartitionEpoch
    public var next: Int64

    public init(owned: PartitionEpoch, next: Int64) {
        self.owned = owned
        self.next = next
    }
}

/// What became of a transaction.
public enum CommitOutcome: Sendable, Hashable {
    case committed
    /// Nothing became visible. The same work may be committed again, except that of partitions no longer owned.
    case aborted(reason: String)
}

/// The log cannot be used any more by this process.
public struct LogFailure: Error, Sendable, Hashable {
    /// One line for the person who reads the worker's last words.
    public var message: String

    public init(_ message: String) { self.message = message }
}
