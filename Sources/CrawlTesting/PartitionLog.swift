import Crawl

/// One partition of a topic, as Kafka keeps it: records and the control records that end transactions share the
/// offsets, and a reader with `read_committed` sees neither aborted records nor anything past the last stable offset.
public struct PartitionLog<Value: Sendable>: Sendable {
    public struct Record: Sendable {
        public var offset: Int64
        public var timestamp: Timestamp
        /// The transaction that wrote it; `nil` if none did.
        public var transaction: TransactionID?
        public var value: Value
    }

    private var records: [Record] = []
    private var aborted: Set<TransactionID> = []
    /// Open transactions, each with the offset of its first record here.
    private var open: [TransactionID: Int64] = [:]

    /// The high watermark: the offset that the next record gets.
    public private(set) var end: Int64 = 0

    public init() {}

    /// The last stable offset: the first record of an open transaction, or the end.
    public var stableEnd: Int64 { open.isEmpty ? end : open.values.min() ?? end }

    @discardableResult
    public mutating func append(_ value: Value, at time: Timestamp, in transaction: TransactionID? = nil) -> Int64 {
        let offset = end
        if let transaction, open[transaction] == nil { open[transaction] = offset }
        records.append(Record(offset: offset, timestamp: time, transaction: transaction, value: value))
        end += 1
        return offset
    }

    /// Writes the control record of a transaction, if it wrote here. The control record takes an offset, too.
    public mutating func finish(_ transaction: TransactionID, committed: Bool) {
        guard open.removeValue(forKey: transaction) != nil else { return }
        if !committed { aborted.insert(transaction) }
        end += 1
    }

    /// What a reader with `read_committed` sees from `start` on, at most `limit` records.
    public func committed(from start: Int64 = 0, limit: Int = .max) -> [Record] {
        visible(from: start, before: stableEnd, limit: limit)
    }

    /// What a reader that waited for no transaction sees of the finished ones; only a broken reader does this.
    func committedOrUnfinished() -> [Record] { visible(from: 0, before: end, limit: .max) }

    private func visible(from start: Int64, before end: Int64, limit: Int) -> [Record] {
        var result: [Record] = []
        var index = firstIndex(notBefore: start)
        while index < records.count, records[index].offset < end, result.count < limit {
            let record = records[index]
            if record.transaction.map(aborted.contains) != true { result.append(record) }
            index += 1
        }
        return result
    }

    private func firstIndex(notBefore offset: Int64) -> Int {
        var low = 0
        var high = records.count
        while low < high {
            let middle = (low + high) / 2
            if records[middle].offset < offset { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Drops the stable records that `isObsolete` names; their offsets stay unused, as after compaction.
    mutating func compact(_ isObsolete: (Record) -> Bool) {
        let stable = stableEnd
        let gone = aborted
        records.removeAll { record in
            record.offset < stable && (record.transaction.map(gone.contains) == true || isObsolete(record))
        }
    }
}

/// Names one transaction of a `MemoryBroker`.
public struct TransactionID: Sendable, Hashable, Comparable {
    public var number: Int

    public static func < (left: TransactionID, right: TransactionID) -> Bool { left.number < right.number }
}
