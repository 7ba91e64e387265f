/// What a worker tells those who watch it.
public enum WorkerEvent: Sendable {
    case assigned(PartitionEpoch, crawls: Int)
    case givenUp([PartitionEpoch], lost: Bool)
    /// A run began.
    case began(CrawlRecord)
    /// An attempt at a page failed and is made again, or the page is given up.
    case troubled(CrawlRecord, SourceError)
    /// A run ended and its record is committed.
    case ended(CrawlRecord)
    /// A job or an item was set aside.
    case deadLetter(DeadLetter)
    /// A job was dropped because it was done before.
    case dropped(crawl: String)
    /// A transaction came to nothing and is tried again.
    case aborted(reason: String)
}
