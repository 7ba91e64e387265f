import Kafka
import Threads

/// Records that a reader's thread hands over.
final class Collected: Sendable {
    private let box = Monitor<[ConsumedRecord]>([])

    var records: [ConsumedRecord] { box.withLock { $0 } }

    func append(_ records: [ConsumedRecord]) { box.withLock { $0 += records } }
}
