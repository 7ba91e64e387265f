extension WorkerState {
    /// The next transaction, or `nil` if there is nothing to commit now. One is under way at a time.
    ///
    /// Every partition that it touches sends its offset, also where that did not move: this is what refuses a member
    /// that lost the partition (KIP-447).
    package mutating func takeTransaction(now: Timestamp) -> Transaction? {
        guard underWay == nil, retryCommitAt.map({ $0 <= now }) ?? true else { return nil }
        var transaction = Transaction()
        let (crawls, jobs) = takeSteps(into: &transaction)
        let touched = Set(transaction.steps.map(\.partition))
        let isWorthIt =
            !touched.isEmpty || partitions.values.contains { $0.hasStaged || $0.isDraining && $0.hasProgress }
        if !isWorthIt, now < lastCommitAt + limits.commitInterval { return nil }
        for (partition, state) in partitions where touched.contains(partition) || state.hasStaged || state.hasProgress {
            partitions[partition]?.take(into: &transaction, jobs: jobs[partition] ?? [])
        }
        if transaction.isEmpty { return nil }
        underWay = TransactionUnderWay(transaction: transaction, crawls: crawls)
        return transaction
    }

    /// Takes the steps of crawls with something staged, first come first served, up to a size; gives them, and the
    /// jobs that are done with them by partition.
    private mutating func takeSteps(into transaction: inout Transaction) -> ([CrawlKey], jobs: [Int32: [Int64]]) {
        var crawls: [CrawlKey] = []
        var jobs: [Int32: [Int64]] = [:]
        var bytes = 0
        // After aborts in a row it tries less at once: a thin line may not take all of it before the transaction times out.
        while bytes < max(1, limits.transactionBytes >> min(abortsInARow, 8)), let key = staged.popFirst() {
            guard stagedKeys.remove(key) != nil, var walk = walks[key] else { continue }
            bytes += walk.staged.bytes
            let taken = walk.takeStep()
            walks[key] = walk
            crawls.append(key)
            transaction.steps.append(taken.step)
            transaction.deadLetters += taken.deadLetters
            jobs[key.partition, default: []] += taken.jobs
        }
        return (crawls, jobs)
    }

    /// What became of the transaction under way.
    package mutating func settle(_ outcome: CommitOutcome, now: Timestamp) {
        guard let (transaction, crawls) = underWay.map({ ($0.transaction, $0.crawls) }) else { return }
        underWay = nil
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
        for (key, step) in zip(crawls, transaction.steps) where epochs[step.partition].map(isCurrent) == true {
            settle(key, step, committed: outcome == .committed, now: now)
        }
    }

    private mutating func settle(_ key: CrawlKey, _ step: Step, committed: Bool, now: Timestamp) {
        if committed {
            partitions[key.partition]?.ledger[key.crawl] = step.record
            if step.record.isEnded { tell(.ended(step.record)) }
        }
        change(key, now: now) { committed ? $0.committed() : $0.aborted() }
        if committed, let walk = walks[key], walk.isAtRest(limits) { leave(walk, now: now) }
    }

    /// The crawl is at rest: what came meanwhile is admitted by what is now committed.
    private mutating func leave(_ walk: Walk, now: Timestamp) {
        remove(walk.key)
        // Jobs that were absorbed while the step was under way are behind it now.
        partitions[walk.key.partition]?.offsets.finish(walk.jobs)
        for follower in walk.followers { admit(follower, now: now) }
    }
}
