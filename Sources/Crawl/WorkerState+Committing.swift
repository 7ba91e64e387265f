extension WorkerState {
    /// The next transaction, or `nil` if there is nothing to commit now. One is under way at a time.
    ///
    /// Every partition that it touches sends its offset, also where that did not move: this is what refuses a member
    /// that lost the partition (KIP-447).
    package mutating func takeTransaction(now: Timestamp) -> Transaction? {
        guard transactionUnderWay == nil, retryCommitAt.map({ $0 <= now }) ?? true else { return nil }
        var transaction = Transaction()
        let jobs = takeSteps(into: &transaction)
        let touched = Set(transaction.steps.map(\.partition))
        let isWorthIt =
            !touched.isEmpty || partitions.values.contains { $0.hasStaged || $0.isDraining && $0.hasProgress }
        if !isWorthIt, now < lastCommitAt + limits.commitInterval { return nil }
        for (partition, state) in partitions where touched.contains(partition) || state.hasStaged || state.hasProgress {
            partitions[partition]?.take(into: &transaction, jobs: jobs[partition] ?? [])
        }
        if transaction.isEmpty { return nil }
        transactionUnderWay = transaction
        return transaction
    }

    /// Takes the steps of crawls with something staged, first come first served, up to a size; gives the jobs that are
    /// done with them, by partition.
    private mutating func takeSteps(into transaction: inout Transaction) -> [Int32: [Int64]] {
        var jobs: [Int32: [Int64]] = [:]
        var bytes = 0
        // After aborts in a row it tries less at once: a thin line may not take all of it before the transaction times out.
        while bytes < max(1, limits.transactionBytes >> min(abortsInARow, 8)), let key = staged.popFirst() {
            guard stagedKeys.remove(key) != nil, var walk = walks[key] else { continue }
            bytes += walk.staged.bytes
            let taken = walk.takeStep()
            walks[key] = walk
            stepsUnderWay.append(key)
            transaction.steps.append(taken.step)
            transaction.deadLetters += taken.deadLetters
            jobs[key.partition, default: []] += taken.jobs
        }
        return jobs
    }

    /// What became of the transaction under way.
    package mutating func settle(_ outcome: CommitOutcome, now: Timestamp) {
        guard let transaction = transactionUnderWay else { return }
        let keys = stepsUnderWay
        transactionUnderWay = nil
        stepsUnderWay = []
        lastCommitAt = now
        switch outcome {
        case .committed: (abortsInARow, retryCommitAt) = (0, nil)
        case .aborted(let reason):
            abortsInARow += 1
            retryCommitAt = now + .milliseconds(20 << min(abortsInARow, 6))
            tell(.aborted(reason: reason))
        }
        for offset in transaction.offsets where isCurrent(offset.owned) {
            partitions[offset.owned.partition]?.settled(committed: outcome == .committed, next: offset.next)
        }
        let epochs = Dictionary(uniqueKeysWithValues: transaction.offsets.map { ($0.owned.partition, $0.owned) })
        for (key, step) in zip(keys, transaction.steps) where epochs[step.partition].map(isCurrent) == true {
            settle(key, step, committed: outcome == .committed, now: now)
        }
    }

    private mutating func settle(_ key: CrawlKey, _ step: Step, committed: Bool, now: Timestamp) {
        guard var walk = walks[key] else { return }
        let held = walk.heldBytes
        if committed {
            partitions[key.partition]?.ledger[key.crawl] = step.record
            walk.committed()
            if step.record.isEnded { tell(.ended(step.record)) }
        } else {
            walk.aborted()
        }
        heldBytes += walk.heldBytes - held
        walks[key] = walk
        if !walk.staged.isEmpty { markStaged(key) }
        if committed, walk.isAtRest(limits) { return leave(walk, now: now) }
        place(key, now: now)
    }

    /// The crawl is at rest: what came meanwhile is admitted by what is now committed.
    private mutating func leave(_ walk: Walk, now: Timestamp) {
        remove(walk.key)
        // Jobs that were absorbed while the step was under way are behind it now.
        partitions[walk.key.partition]?.offsets.finish(walk.jobs)
        for follower in walk.followers { admit(follower, now: now) }
    }
}
