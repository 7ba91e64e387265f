import Crawl

// What ownership promises: one owner at a time, and nobody else commits.

extension ConformanceStage {
    /// A member that had all partitions, and another that has some of them now.
    private func share() async throws -> (first: ConformanceMember, second: ConformanceMember) {
        let first = try await joinAlone()
        let second = try await join()
        try await waitUntilShared(first, second)
        return (first, second)
    }

    /// Waits until both members have a share, and all partitions have an owner.
    private func waitUntilShared(_ first: ConformanceMember, _ second: ConformanceMember) async throws {
        try await eventually("all partitions to be shared") {
            let counts = [first, second].map(\.receiver.seen.owned.count)
            return !counts.contains(0) && counts[0] + counts[1] == Int(self.log.partitions)
        }
    }

    func revokingIsAwaited() async throws {
        let first = try await joinAlone()
        first.receiver.revocation.close()
        let second = try await join()
        let revoked = try await first.wait(for: "partitions to be given up") { $0.revoked.first }
        try expect(!revoked.lost, "partitions were lost, not given up")
        let owned = try await firstOf(revoked.partitions)
        // It is still the owner: what it commits now, the next owner finds.
        try await first.commit(
            Transaction([.sample("a", in: owned.partition)], at: [.init(owned: owned, next: 0)]))
        first.receiver.revocation.open()
        try await waitUntilShared(first, second)
        let next = second.receiver.seen.owned[owned.partition] == nil ? first : second
        try await expect("the ledger of the next owner", next.ledger(owned.partition).map(\.crawl), is: ["a"])
    }

    private func firstOf(_ partitions: [PartitionEpoch]) async throws -> PartitionEpoch {
        guard let owned = partitions.first else { throw ConformanceFailure("no partition is given up") }
        return owned
    }

    func revokingDoesNotWaitForDelivery() async throws {
        for partition in 0..<log.partitions { _ = try await produce("a", to: partition) }
        let first = try await join()
        first.receiver.delivery.close()
        _ = try await first.wait(for: "a delivery that is held up") { $0.deliveriesUnderWay > 0 ? () : nil }
        let second = try await join()
        _ = try await first.wait(for: "partitions to be given up beside a delivery") {
            $0.revoked.first.map { _ in () }
        }
        _ = try await second.wait(for: "the second member's share") { $0.owned.isEmpty ? nil : () }
        first.receiver.delivery.open()
    }

    func staleOwnerIsRefusedAsAWhole() async throws {
        let first = try await joinAlone()
        let all = first.receiver.seen.owned
        let second = try await join()
        try await waitUntilShared(first, second)
        guard let lost = second.receiver.seen.owned.keys.min().flatMap({ all[$0] }),
            let kept = first.receiver.seen.owned.values.min(by: { $0.partition < $1.partition })
        else { throw ConformanceFailure("the partitions are not shared") }
        let steps: [Step] = [.sample("kept", in: kept.partition), .sample("lost", in: lost.partition)]
        let outcome = try await first.log.commit(
            Transaction(steps, at: [.init(owned: kept, next: 0), .init(owned: lost, next: 0)]))
        try expect(outcome != .committed, "a transaction with a partition that is lost is committed")
        try await expectNothingVisible()
        try await first.commit(Transaction([steps[0]], at: [.init(owned: kept, next: 0)]))
        try await expect("pages of what was kept", log.pages(of: kept.partition).map(\.crawl), is: ["kept"])
        try await expect("pages of what was lost", log.pages(of: lost.partition), is: [])
    }

    func formerOwnershipIsRefused() async throws {
        let first = try await joinAlone()
        let before = first.receiver.seen.owned
        let second = try await join()
        try await waitUntilShared(first, second)
        guard let partition = second.receiver.seen.owned.keys.min(), let former = before[partition] else {
            throw ConformanceFailure("the partitions are not shared")
        }
        await second.stop()
        try await first.waitForPartitions(Int(log.partitions))
        let now = try await first.owned(partition)
        try expect(now != former, "a partition that came back has the epoch that it had before")
        let step = Step.sample("a", in: partition)
        let outcome = try await first.log.commit(Transaction([step], at: [.init(owned: former, next: 0)]))
        try expect(outcome != .committed, "a transaction of a former ownership is committed")
        try await expectNothingVisible()
        try await first.commit(Transaction([step], at: [.init(owned: now, next: 0)]))
        try await expect("pages", log.pages(of: partition).map(\.crawl), is: ["a"])
    }

    func cancelledMemberLeaves() async throws {
        let (first, second) = try await share()
        let owned = Set(first.receiver.seen.owned.values)
        await first.stop()
        let revoked = first.receiver.seen.revoked.filter { !$0.lost }.flatMap(\.partitions)
        try expect(owned.isSubset(of: revoked), "a member that was cancelled did not give up all that it had")
        try await second.waitForPartitions(Int(log.partitions))
    }

    func crashedMemberIsReplaced() async throws {
        let position = try await produce("a")
        let first = try await joinAlone()
        _ = try await first.job(0, at: position.offset)
        try await crash(first)
        let second = try await joinAlone()
        _ = try await second.job(0, at: position.offset)
    }

    func crashInACommitLeavesAllOrNothing() async throws {
        let position = try await produce("a")
        let first = try await joinAlone()
        let job = try await first.job(0, at: position.offset)
        let steps = (0..<20).map { Step.sample("crawl-\($0)", goesOn: true) }
        let transaction = Transaction(steps, at: [.init(owned: job.owned, next: position.offset + 1)])
        let commit = Task { try await first.log.commit(transaction) }
        try await crash(first)
        _ = await commit.result
        let second = try await joinAlone()
        let found = try await second.ledger(0).count
        let pages = try await log.pages(of: 0).count
        let offset = try await log.committedOffsets()[0]
        let isWhole = (found, pages, offset) == (20, 20, position.offset + 1)
        let isNothing = (found, pages, offset) == (0, 0, nil)
        try expect(isWhole || isNothing, "a crash left \(found) records, \(pages) pages, the offset \(offset ?? -1)")
        if isNothing { _ = try await second.job(0, at: position.offset) }
    }
}
