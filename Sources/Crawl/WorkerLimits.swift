/// How much a worker takes on, and how long it waits.
public struct WorkerLimits: Sendable, Hashable {
    /// Pages of one crawl that may be fetched ahead of what is committed. 0 is the plain chain: one job, one page.
    /// Defaults to 128.
    public var runAheadPages: Int
    /// Bytes of one crawl's pages that may be held ahead of what is committed. Defaults to 8 MiB.
    public var runAheadBytes: Int
    /// Bytes of all pages that may be held ahead of what is committed. Defaults to 128 MiB.
    public var stagedBytes: Int
    /// A transaction takes no further crawl when it holds so many bytes of pages. Defaults to 16 MiB.
    public var transactionBytes: Int
    /// Crawls that fetch at the same time; others wait in line. Defaults to 64.
    public var maxCrawlsInFlight: Int
    /// A crawl that others wait for goes to the end of the line after so many pages. Defaults to 16.
    public var yieldAfter: Int
    /// Offsets alone, with nothing else to commit, wait so long. Defaults to 50 ms.
    public var commitInterval: Duration
    /// A job that has been held so long without a step is re-issued to the end of the jobs topic, so that it does not
    /// hold the committed offset back. Defaults to 60 s.
    public var parkAfter: Duration
    /// A wait longer than this is written to the crawl's record. Defaults to 1 s.
    public var reportWaitsOver: Duration
    /// Ended crawls are forgotten after this. Defaults to 7 days.
    public var ledgerRetention: Duration
    /// Crawls held in memory at once; when there are more, no further jobs are taken. Defaults to 100,000.
    public var maxCrawlsHeld: Int

    public init(
        runAheadPages: Int = 128, runAheadBytes: Int = 8 << 20, stagedBytes: Int = 128 << 20,
        transactionBytes: Int = 16 << 20, maxCrawlsInFlight: Int = 64, yieldAfter: Int = 16,
        commitInterval: Duration = .milliseconds(50), parkAfter: Duration = .seconds(60),
        reportWaitsOver: Duration = .seconds(1), ledgerRetention: Duration = .seconds(7 * 86_400),
        maxCrawlsHeld: Int = 100_000
    ) {
        self.runAheadPages = runAheadPages
        self.runAheadBytes = runAheadBytes
        self.stagedBytes = stagedBytes
        self.transactionBytes = transactionBytes
        self.maxCrawlsInFlight = maxCrawlsInFlight
        self.yieldAfter = yieldAfter
        self.commitInterval = commitInterval
        self.parkAfter = parkAfter
        self.reportWaitsOver = reportWaitsOver
        self.ledgerRetention = ledgerRetention
        self.maxCrawlsHeld = maxCrawlsHeld
    }
}
