import Crawl

/// What every `CrawlLog` has to keep, as functions that throw a `ConformanceFailure` in words where it does not.
///
/// A test target runs them all against its log, each on fresh topics:
/// ```swift
/// @Test(arguments: CrawlLogConformance.Requirement.allCases)
/// func `the log keeps what a crawl log promises`(_ requirement: CrawlLogConformance.Requirement) async throws {
///     try await CrawlLogConformance.check(requirement, on: MyLogUnderTest())
/// }
/// ```
/// Skip a requirement whose `needs` the log at hand does not have, and say so.
public enum CrawlLogConformance {
    public enum Requirement: String, Sendable, CaseIterable {
        // Transactions
        case committedStepIsVisibleAsAWhole
        case abortedTransactionIsInvisible
        case abortedWorkCommitsAgain
        case offsetsAloneCommit
        case bigBatchArrivesWhole
        case itemsArriveByteForByte
        case deadLetterCarriesTheBytesUntouched
        // Delivery
        case jobsComeInOrder
        case committedJobIsNotDeliveredAgain
        case uncommittedJobIsDeliveredAgain
        case nextJobComesBackInItsPartition
        case jobComesBackAsWritten
        case resetDeliversEverythingAgain
        // The ledger
        case ledgerComesBeforeJobs
        case ledgerHoldsWhatOthersCommitted
        case recordComesBackAsWritten
        case forgottenCrawlIsGone
        // Ownership
        case revokingIsAwaited
        case revokingDoesNotWaitForDelivery
        case staleOwnerIsRefusedAsAWhole
        case formerOwnershipIsRefused
        case cancelledMemberLeaves
        case crashedMemberIsReplaced
        case crashInACommitLeavesAllOrNothing

        /// What the log at hand must be able to show.
        public var needs: Set<LogCapability> {
            switch self {
            case .abortedTransactionIsInvisible, .abortedWorkCommitsAgain: [.abortsOnDemand]
            case .resetDeliversEverythingAgain: [.resetsOffsets]
            case .crashedMemberIsReplaced, .crashInACommitLeavesAllOrNothing: [.noticesCrashes]
            default: []
            }
        }
    }

    /// Throws a `ConformanceFailure` if the log does not keep the requirement. The log's topics must be empty.
    public static func check(_ requirement: Requirement, on log: any LogUnderTest) async throws {
        let missing = requirement.needs.subtracting(log.capabilities).map(\.rawValue).sorted()
        guard missing.isEmpty else { throw ConformanceFailure("\(requirement) needs \(missing)") }
        let stage = ConformanceStage(log)
        let result: Result<Void, any Error>
        do {
            try await run(requirement, on: stage)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        let violations = await stage.close()
        try result.get()
        if let violation = violations.first { throw ConformanceFailure("\(requirement): \(violation)") }
    }

    private static func run(_ requirement: Requirement, on stage: ConformanceStage) async throws {
        switch requirement {
        case .committedStepIsVisibleAsAWhole: try await stage.committedStepIsVisibleAsAWhole()
        case .abortedTransactionIsInvisible: try await stage.abortedTransactionIsInvisible()
        case .abortedWorkCommitsAgain: try await stage.abortedWorkCommitsAgain()
        case .offsetsAloneCommit: try await stage.offsetsAloneCommit()
        case .bigBatchArrivesWhole: try await stage.bigBatchArrivesWhole()
        case .itemsArriveByteForByte: try await stage.itemsArriveByteForByte()
        case .deadLetterCarriesTheBytesUntouched: try await stage.deadLetterCarriesTheBytesUntouched()
        case .jobsComeInOrder: try await stage.jobsComeInOrder()
        case .committedJobIsNotDeliveredAgain: try await stage.committedJobIsNotDeliveredAgain()
        case .uncommittedJobIsDeliveredAgain: try await stage.uncommittedJobIsDeliveredAgain()
        case .nextJobComesBackInItsPartition: try await stage.nextJobComesBackInItsPartition()
        case .jobComesBackAsWritten: try await stage.jobComesBackAsWritten()
        case .resetDeliversEverythingAgain: try await stage.resetDeliversEverythingAgain()
        case .ledgerComesBeforeJobs: try await stage.ledgerComesBeforeJobs()
        case .ledgerHoldsWhatOthersCommitted: try await stage.ledgerHoldsWhatOthersCommitted()
        case .recordComesBackAsWritten: try await stage.recordComesBackAsWritten()
        case .forgottenCrawlIsGone: try await stage.forgottenCrawlIsGone()
        case .revokingIsAwaited: try await stage.revokingIsAwaited()
        case .revokingDoesNotWaitForDelivery: try await stage.revokingDoesNotWaitForDelivery()
        case .staleOwnerIsRefusedAsAWhole: try await stage.staleOwnerIsRefusedAsAWhole()
        case .formerOwnershipIsRefused: try await stage.formerOwnershipIsRefused()
        case .cancelledMemberLeaves: try await stage.cancelledMemberLeaves()
        case .crashedMemberIsReplaced: try await stage.crashedMemberIsReplaced()
        case .crashInACommitLeavesAllOrNothing: try await stage.crashInACommitLeavesAllOrNothing()
        }
    }
}
