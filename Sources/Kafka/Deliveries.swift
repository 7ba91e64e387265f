import CRdKafka
import Threads

/// Which records of which batch were delivered: filled by the event thread, awaited by who produced.
final class Deliveries: Sendable {
    /// The delivery reports of one batch of records.
    struct Batch: Sendable {
        var outstanding = 0
        /// The first failure, and the records that failed with it.
        var failure: KafkaError?
        var failedRecords: [Int] = []
        /// Where each record is, as far as reported.
        var positions: [Int: RecordPosition] = [:]
        /// Only the position of the first record with an offset is kept.
        var keepsOnePosition = false
    }

    private let batches = Monitor<[UInt32: Batch]>([:])

    func open(_ batch: UInt32, keepsOnePosition: Bool) {
        batches.withLock { $0[batch] = Batch(keepsOnePosition: keepsOnePosition) }
    }

    func expect(_ batch: UInt32) { batches.withLock { $0[batch]?.outstanding += 1 } }

    /// The record was refused at once: no report will come.
    func doNotExpect(_ batch: UInt32) { batches.update { $0[batch]?.outstanding -= 1 } }

    /// Waits until all reports are there. False if the deadline came first.
    func waitForAll(_ batch: UInt32, until deadline: ContinuousClock.Instant) -> Bool {
        batches.wait(until: deadline) { ($0[batch]?.outstanding ?? 0) == 0 }
    }

    /// Waits until fewer reports are missing than now, so that there is room in the queue. False if the deadline came
    /// first.
    func waitForRoom(_ batch: UInt32, until deadline: ContinuousClock.Instant) -> Bool {
        let before = batches.withLock { $0[batch]?.outstanding ?? 0 }
        if before == 0 { pause(.milliseconds(1)) }
        return batches.wait(until: deadline) { before == 0 || ($0[batch]?.outstanding ?? 0) < before }
            && !deadline.isPast
    }

    func close(_ batch: UInt32) -> Batch { batches.withLock { $0.removeValue(forKey: batch) ?? Batch() } }

    func peek(_ batch: UInt32) -> Batch { batches.withLock { $0[batch] ?? Batch() } }

    /// Takes the reports of one event.
    func take(_ event: OpaquePointer) {
        batches.update { batches in
            while let message = rd_kafka_event_message_next(event) {
                let tag = UInt(bitPattern: message.pointee._private)
                let batch = UInt32(truncatingIfNeeded: tag >> 32)
                batches[batch]?.take(message.pointee, record: Int(UInt32(truncatingIfNeeded: tag)))
            }
        }
    }

    /// What a record carries to its report: batch and index in one pointer-sized number.
    static func tag(_ batch: UInt32, record: Int) -> UnsafeMutableRawPointer? {
        UnsafeMutableRawPointer(bitPattern: UInt(batch) << 32 | UInt(UInt32(record)))
    }
}

extension Deliveries.Batch {
    mutating func take(_ message: rd_kafka_message_t, record: Int) {
        outstanding -= 1
        if message.err != RD_KAFKA_RESP_ERR_NO_ERROR {
            let error = KafkaError(message.err)
            // Records that are purged because another one failed do not hide which one that was.
            if failure == nil || failure?.isPurge == true && !error.isPurge {
                failure = error
                failedRecords = []
            }
            if failure == error { failedRecords.append(record) }
        } else if message.offset >= 0, !keepsOnePosition || positions.isEmpty {
            positions[record] = RecordPosition(
                topic: String(cString: rd_kafka_topic_name(message.rkt)), partition: message.partition,
                offset: message.offset)
        }
    }
}

extension KafkaError {
    /// The record was given up because the transaction was.
    var isPurge: Bool { code == .purgeQueue || code == .purgeInflight }
}
