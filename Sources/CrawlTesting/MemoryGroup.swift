import Crawl

/// A consumer group as Kafka's coordinator runs it: members rejoin, a generation begins when all have, and a partition
/// passes from one member to another only after the first gave it up or was expelled.
public struct MemoryGroup: Sendable, Equatable {
    public enum Assignment: Sendable, CaseIterable {
        /// Members keep what they will own again (KIP-429).
        case cooperative
        /// Members give up everything before each generation.
        case eager
    }

    struct Member: Sendable, Equatable {
        /// Partitions with the epoch of their ownership.
        var owned: [Int32: Int64] = [:]
        /// Told to give up, and not done yet. The member does not rejoin before.
        var revoking: Set<Int32> = []
        /// What the newest generation gives it.
        var assignment: Set<Int32> = []
        /// The newest generation that it was told of; offsets are committed under this one.
        var generation: Int64 = -1
        var hasRejoined = true
    }

    /// What a member learns from the coordinator.
    public struct News: Sendable, Hashable {
        /// To be given up: finish, then call `gaveUp`.
        public var revoked: [PartitionEpoch] = []
        /// Owned from now on.
        public var assigned: [PartitionEpoch] = []
        /// The group went on without this member; nothing that it owned is its own any more.
        public var isExpelled = false
    }

    private let assignment: Assignment
    private let partitions: [Int32]
    private var isGathering = false
    private var newestMember = 0
    private var newestEpoch: Int64 = 0
    private(set) var members: [Int: Member] = [:]
    public private(set) var generation: Int64 = 0

    init(partitions: Int32, assignment: Assignment) {
        self.partitions = Array(0..<partitions)
        self.assignment = assignment
    }

    /// True if every member owns what it shall own.
    public var isStable: Bool {
        !isGathering && members.values.allSatisfy { $0.generation == generation && $0.revoking.isEmpty }
    }

    public var isEmpty: Bool { members.isEmpty }

    /// True if a heartbeat of the member would change something.
    public func hasNews(for member: Int) -> Bool {
        guard let state = members[member] else { return true }
        guard state.revoking.isEmpty else { return false }
        return isGathering ? !state.hasRejoined : state.generation != generation
    }

    mutating func join() -> Int {
        newestMember += 1
        members[newestMember] = Member()
        rebalance(rejoined: newestMember)
        return newestMember
    }

    /// The member left, or its session ran out. Of the second it is told only when it asks.
    mutating func remove(_ member: Int) {
        guard members.removeValue(forKey: member) != nil else { return }
        rebalance(rejoined: nil)
    }

    /// Asks the members to rejoin, as a new topic partition or an administrator would.
    mutating func rebalance() { rebalance(rejoined: nil) }

    /// What the member has to do next. Returns nothing new while it is giving partitions up.
    mutating func heartbeat(_ member: Int) -> News {
        guard let state = members[member] else { return News(isExpelled: true) }
        guard state.revoking.isEmpty else { return News() }
        if isGathering {
            return state.hasRejoined ? News() : rejoin(member)
        }
        return state.generation == generation ? News() : sync(member)
    }

    mutating func gaveUp(_ member: Int) {
        guard let revoked = members[member]?.revoking, !revoked.isEmpty else { return }
        for partition in revoked { members[member]?.owned[partition] = nil }
        members[member]?.revoking = []
        if !isGathering { rebalance(rejoined: member) }
    }

    func owns(_ member: Int, _ owned: PartitionEpoch) -> Bool {
        members[member]?.owned[owned.partition] == owned.epoch
    }

    private mutating func rejoin(_ member: Int) -> News {
        if assignment == .eager, members[member]?.owned.isEmpty == false {
            let all = Set(members[member]?.owned.keys.map { $0 } ?? [])
            members[member]?.revoking = all
            return News(revoked: epochs(of: member, all))
        }
        members[member]?.hasRejoined = true
        beginGenerationIfComplete()
        return News()
    }

    private mutating func sync(_ member: Int) -> News {
        guard var state = members[member] else { return News(isExpelled: true) }
        state.generation = generation
        state.revoking = Set(state.owned.keys).subtracting(state.assignment)
        let new = state.assignment.subtracting(state.owned.keys).sorted()
        for partition in new {
            newestEpoch += 1
            state.owned[partition] = newestEpoch
        }
        members[member] = state
        return News(revoked: epochs(of: member, state.revoking), assigned: epochs(of: member, Set(new)))
    }

    private func epochs(of member: Int, _ chosen: Set<Int32>) -> [PartitionEpoch] {
        chosen.sorted().compactMap { partition in
            members[member]?.owned[partition].map { PartitionEpoch(partition: partition, epoch: $0) }
        }
    }

    private mutating func rebalance(rejoined: Int?) {
        if !isGathering {
            isGathering = true
            for member in members.keys where member != rejoined { members[member]?.hasRejoined = false }
        }
        beginGenerationIfComplete()
    }

    private mutating func beginGenerationIfComplete() {
        guard isGathering, members.values.allSatisfy(\.hasRejoined) else { return }
        isGathering = false
        generation += 1
        for (member, share) in shares() {
            let others = members.filter { $0.key != member }.flatMap(\.value.owned.keys)
            members[member]?.assignment = share.subtracting(others)
        }
    }

    /// An even share for each member, close to what each owns already.
    private func shares() -> [Int: Set<Int32>] {
        var shares: [Int: Set<Int32>] = [:]
        var free = Set(partitions)
        let order = members.keys.sorted { (members[$0]?.owned.count ?? 0, $1) > (members[$1]?.owned.count ?? 0, $0) }
        for (rank, member) in order.enumerated() {
            let size = partitions.count / order.count + (rank < partitions.count % order.count ? 1 : 0)
            let kept = Set((members[member]?.owned.keys.sorted() ?? []).prefix(size))
            shares[member] = kept
            free.subtract(kept)
        }
        for (rank, member) in order.enumerated() {
            let size = partitions.count / order.count + (rank < partitions.count % order.count ? 1 : 0)
            for partition in free.sorted().prefix(size - (shares[member]?.count ?? 0)) {
                shares[member]?.insert(partition)
                free.remove(partition)
            }
        }
        return shares
    }
}
