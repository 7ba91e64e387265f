import Synchronization
import Threads

/// Which partitions this member owns, and since which epoch. Written by the poll thread, read by whoever commits.
///
/// librdkafka's own flag for a lost assignment is reset by the answer to the rebalance, and may be missed when the next
/// one is waiting already (#5604), so ownership is counted here.
final class Ownership: Sendable {
    private struct State {
        var epochs: [Int32: Int64] = [:]
        var revoking: Set<Int32> = []
        /// The member id at the last assignment; empty after membership was lost.
        var member = ""
    }
    private let state = Monitor(State())
    private let topic: String

    /// Epochs are counted for the whole process: no two ownerships of any consumer share one.
    private static let lastEpoch = Atomic<Int64>(0)

    init(topic: String) { self.topic = topic }

    func assign(_ partitions: [Int32], member: String) -> [OwnedPartition] {
        state.withLock { state in
            state.member = member
            return partitions.map { partition in
                let epoch = Self.lastEpoch.add(1, ordering: .relaxed).newValue
                state.epochs[partition] = epoch
                state.revoking.remove(partition)
                return OwnedPartition(topic: topic, partition: partition, epoch: epoch)
            }
        }
    }

    /// The partitions that are still owned of these; nothing more of them is delivered, but commits go on.
    func startRevoking(_ partitions: [Int32]) -> [OwnedPartition] {
        state.withLock { state in
            let owned = partitions.compactMap { partition in
                state.epochs[partition].map { OwnedPartition(topic: topic, partition: partition, epoch: $0) }
            }
            state.revoking.formUnion(owned.map(\.partition))
            return owned
        }
    }

    func remove(_ partitions: [OwnedPartition]) {
        state.withLock { state in
            for owned in partitions where state.epochs[owned.partition] == owned.epoch {
                state.epochs[owned.partition] = nil
                state.revoking.remove(owned.partition)
            }
        }
    }

    /// Membership is gone: everything is lost at once.
    func removeAll() -> [OwnedPartition] {
        let all = assignment
        state.withLock { state in
            state.epochs = [:]
            state.revoking = []
            state.member = ""
        }
        return all
    }

    func epoch(of partition: Int32) -> Int64? { state.withLock { $0.epochs[partition] } }

    func owns(_ owned: OwnedPartition) -> Bool {
        owned.topic == topic && state.withLock { $0.epochs[owned.partition] == owned.epoch }
    }

    func delivers(_ owned: OwnedPartition) -> Bool {
        state.withLock { $0.epochs[owned.partition] == owned.epoch && !$0.revoking.contains(owned.partition) }
    }

    var assignment: [OwnedPartition] {
        state.withLock { state in
            state.epochs.sorted { $0.key < $1.key }
                .map { OwnedPartition(topic: topic, partition: $0.key, epoch: $0.value) }
        }
    }

    var member: String { state.withLock { $0.member } }

    /// Throws if one of the partitions is not owned in its epoch.
    func check(_ partitions: some Sequence<OwnedPartition>) throws(KafkaError) {
        for owned in partitions where !owns(owned) {
            throw KafkaError(.assignmentLost, "\(owned) is not owned any more", disposition: .abortable)
        }
    }
}
