import Crawl
import CrawlTesting
import Testing

/// The conformance suite must be able to fail: each promise that is broken on purpose is noticed.
struct MemoryLogLapseTests {
    @Test(arguments: [
        (MemoryBroker.Defect.acceptsStaleOwners, CrawlLogConformance.Requirement.staleOwnerIsRefusedAsAWhole),
        (.acceptsStaleOwners, .formerOwnershipIsRefused),
        (.restoresNothing, .ledgerComesBeforeJobs),
        (.restoresNothing, .ledgerHoldsWhatOthersCommitted),
        (.restoresNothing, .recordComesBackAsWritten),
        (.restoresNothing, .revokingIsAwaited),
        (.showsAborted, .abortedTransactionIsInvisible),
        (.commitsOffsetsEarly, .abortedTransactionIsInvisible),
    ])
    func `a broken broker does not pass`(
        defect: MemoryBroker.Defect, requirement: CrawlLogConformance.Requirement
    ) async {
        let cluster = MemoryCluster(MemoryBroker(partitions: 2, defects: [defect]))
        let log = MemoryLogUnderTest(cluster, patience: .seconds(5))
        await #expect(throws: ConformanceFailure.self) {
            try await CrawlLogConformance.check(requirement, on: log)
        }
    }

    @Test(arguments: [
        (LapsedLog.Lapse.reversesJobs, CrawlLogConformance.Requirement.jobsComeInOrder),
        (.deliversTwice, .jobsComeInOrder),
        (.losesNextJobs, .committedStepIsVisibleAsAWhole),
        (.losesNextJobs, .nextJobComesBackInItsPartition),
        (.losesDeadLetters, .deadLetterCarriesTheBytesUntouched),
        (.makesNullEmpty, .deadLetterCarriesTheBytesUntouched),
        (.keepsForgotten, .forgottenCrawlIsGone),
        (.reordersItems, .itemsArriveByteForByte),
        (.reordersItems, .bigBatchArrivesWhole),
        (.losesOffsets, .offsetsAloneCommit),
        (.losesOffsets, .committedJobIsNotDeliveredAgain),
        (.doesNotSayWhatItRevokes, .cancelledMemberLeaves),
        (.assignsTwice, .uncommittedJobIsDeliveredAgain),
        (.saysCommittedWhenAborted, .abortedTransactionIsInvisible),
    ])
    func `a log with a lapse does not pass`(
        lapse: LapsedLog.Lapse, requirement: CrawlLogConformance.Requirement
    ) async {
        let log = MemoryLogUnderTest(MemoryCluster(), patience: .seconds(1), lapse: lapse)
        await #expect(throws: ConformanceFailure.self) {
            try await CrawlLogConformance.check(requirement, on: log)
        }
    }
}

/// A log in memory that breaks one promise.
final class LapsedLog: CrawlLog {
    enum Lapse: Sendable, CaseIterable {
        case reversesJobs, deliversTwice, losesNextJobs, losesDeadLetters, makesNullEmpty, keepsForgotten, reordersItems
        case losesOffsets, doesNotSayWhatItRevokes, assignsTwice, saysCommittedWhenAborted
    }

    let log: MemoryLog
    private let lapse: Lapse
    var maxItemBytes: Int { log.maxItemBytes }
    var partitionCount: Int { log.partitionCount }

    init(_ log: MemoryLog, _ lapse: Lapse) {
        self.log = log
        self.lapse = lapse
    }

    func run(_ receiver: any JobReceiver) async throws(LogFailure) {
        try await log.run(LapsedReceiver(receiver: receiver, lapse: lapse))
    }

    func commit(_ transaction: Transaction) async throws(LogFailure) -> CommitOutcome {
        var sent = transaction
        switch lapse {
        case .losesNextJobs: for index in sent.steps.indices { sent.steps[index].next = nil }
        case .losesDeadLetters: sent.deadLetters = []
        case .keepsForgotten: sent.forgotten = []
        case .losesOffsets: for index in sent.offsets.indices { sent.offsets[index].next = 0 }
        case .reordersItems: for index in sent.steps.indices { sent.steps[index].reorderItems() }
        case .reversesJobs, .deliversTwice, .makesNullEmpty, .doesNotSayWhatItRevokes, .assignsTwice: break
        case .saysCommittedWhenAborted:
            _ = try await log.commit(transaction)
            return .committed
        }
        return try await log.commit(sent)
    }
}

extension Step {
    fileprivate mutating func reorderItems() {
        for index in batches.indices {
            let items = batches[index].page.items
            batches[index].page.items = Items(bytes: items.bytes, ranges: items.ranges.reversed())
        }
    }
}

private struct LapsedReceiver: JobReceiver {
    let receiver: any JobReceiver
    let lapse: LapsedLog.Lapse

    func assigned(_ partition: AssignedPartition) async {
        await receiver.assigned(partition)
        if lapse == .assignsTwice { await receiver.assigned(partition) }
    }

    func revoking(_ partitions: [PartitionEpoch], lost: Bool) async {
        if lapse != .doesNotSayWhatItRevokes { await receiver.revoking(partitions, lost: lost) }
    }

    func deliver(_ jobs: [DeliveredJob]) async {
        switch lapse {
        case .reversesJobs: await receiver.deliver(jobs.reversed())
        case .deliversTwice: await receiver.deliver(jobs + jobs)
        case .makesNullEmpty: await receiver.deliver(jobs.map(\.withoutNull))
        default: await receiver.deliver(jobs)
        }
    }
}

extension DeliveredJob {
    fileprivate var withoutNull: DeliveredJob {
        var copy = self
        copy.received.value = received.value ?? []
        return copy
    }
}
