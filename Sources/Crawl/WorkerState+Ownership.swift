extension WorkerState {
    /// The partition is owned, and this is its ledger.
    package mutating func assign(_ partition: AssignedPartition, now: Timestamp) {
        if let earlier = partitions[partition.owned.partition] { drop([earlier.owned], lost: true) }
        partitions[partition.owned.partition] = PartitionState(partition)
        tell(.assigned(partition.owned, crawls: partition.ledger.count))
    }

    /// Nothing new begins in the partitions; what is staged may still be committed.
    package mutating func drain(_ owned: [PartitionEpoch]) {
        for owned in owned where isCurrent(owned) { partitions[owned.partition]?.isDraining = true }
        for (key, walk) in walks where owned.contains(walk.owned) {
            walks[key]?.giveUpFetch()
            abandoned += walks[key]?.takeAbandoned() ?? []
        }
    }

    /// Nothing of the partitions is staged or under way any more.
    package func isDrained(_ owned: [PartitionEpoch]) -> Bool {
        let live = owned.filter(isCurrent)
        if live.isEmpty { return true }
        if let underWay, underWay.transaction.offsets.contains(where: { live.contains($0.owned) }) {
            return false
        }
        if live.contains(where: { partitions[$0.partition].map { $0.hasStaged || $0.hasProgress } ?? false }) {
            return false
        }
        return !walks.values.contains { live.contains($0.owned) && !$0.staged.isEmpty }
    }

    /// The partitions are not owned any more.
    package mutating func drop(_ owned: [PartitionEpoch], lost: Bool = false) {
        tell(.givenUp(owned, lost: lost))
        for owned in owned where isCurrent(owned) { partitions[owned.partition] = nil }
        for (key, walk) in walks where owned.contains(walk.owned) { remove(key) }
    }

    /// Forgets crawls that ended long ago.
    package mutating func sweep(now: Timestamp) {
        let limit = Timestamp(milliseconds: now.milliseconds - limits.ledgerRetention.milliseconds)
        for partition in partitions.keys { partitions[partition]?.forget(endedBefore: limit) }
    }
}
