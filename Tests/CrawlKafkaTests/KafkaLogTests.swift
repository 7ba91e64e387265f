import BrokerSupport
import CrawlTesting
import Testing

@Suite(.broker(.readCommitted)) struct `The crawl log on Kafka` {
    @Test(
        .timeLimit(.minutes(5)),
        arguments: CrawlLogConformance.Requirement.allCases.filter(Self.isShownHere))
    func `keeps what a crawl log promises`(requirement: CrawlLogConformance.Requirement) async throws {
        let log = try await KafkaLogUnderTest()
        let result = await Task { try await CrawlLogConformance.check(requirement, on: log) }.result
        await log.close()
        try result.get()
    }

    /// What a broker that never ends open transactions cannot show is a suite of its own, skipped with the reason.
    static func isShownHere(_ requirement: CrawlLogConformance.Requirement) -> Bool {
        !requirement.needs.contains(.noticesCrashes) && !needsStrictGroups.contains(requirement)
    }

    static let needsStrictGroups: Set<CrawlLogConformance.Requirement> = [.staleOwnerIsRefusedAsAWhole]

    @Test(
        .broker(.staleGenerationRefused, .waitsForOpenTransactions, .timesOutTransactions), .timeLimit(.minutes(5)),
        arguments: CrawlLogConformance.Requirement.allCases.filter { !Self.isShownHere($0) })
    func `keeps what it promises when members crash or go stale`(
        requirement: CrawlLogConformance.Requirement
    ) async throws {
        try await `keeps what a crawl log promises`(requirement: requirement)
    }
}
