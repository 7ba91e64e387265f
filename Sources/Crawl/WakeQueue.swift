/// Keys that are due at a moment, earliest first: a binary heap. A key may be in it more than once; whoever takes one
/// looks whether it is still due.
struct WakeQueue<Key: Sendable>: Sendable {
    private var heap: [(at: Timestamp, key: Key)] = []

    var earliest: Timestamp? { heap.first?.at }

    mutating func insert(_ key: Key, at time: Timestamp) {
        heap.append((time, key))
        var child = heap.count - 1
        while child > 0, heap[child].at < heap[(child - 1) / 2].at {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Takes the earliest key if it is due.
    mutating func popDue(_ now: Timestamp) -> Key? {
        guard let first = heap.first, first.at <= now else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            let children = (parent * 2 + 1)..<min(parent * 2 + 3, max(heap.count, parent * 2 + 1))
            guard let least = children.min(by: { heap[$0].at < heap[$1].at }), heap[least].at < heap[parent].at else {
                return first.key
            }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
