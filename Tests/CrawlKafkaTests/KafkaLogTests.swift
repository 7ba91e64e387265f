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

    /// What asks more of a broker than some can do is a test of its own, skipped with the reason.
    static func isShownHere(_ requirement: CrawlLogConformance.Requirement) -> Bool {
        !requirement.needs.contains(.noticesCrashes) && !sharesTheGroup.contains(requirement)
    }

    /// These have two members, whose rebalance noida-db now and then does not finish when it is busy.
    static let sharesTheGroup: Set<CrawlLogConformance.Requirement> = [
        .revokingIsAwaited, .revokingDoesNotWaitForDelivery, .staleOwnerIsRefusedAsAWhole, .formerOwnershipIsRefused,
        .cancelledMemberLeaves,
    ]

    @Test(
        .broker(.staleGenerationRefused, .waitsForOpenTransactions, .timesOutTransactions), .timeLimit(.minutes(5)),
        arguments: CrawlLogConformance.Requirement.allCases.filter { !Self.isShownHere($0) })
    func `keeps what it promises when members come, go and crash`(
        requirement: CrawlLogConformance.Requirement
    ) async throws {
        try await `keeps what a crawl log promises`(requirement: requirement)
    }
}
