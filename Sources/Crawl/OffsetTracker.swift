/// Which delivered jobs of one partition are done, and where the partition therefore continues: behind the longest
/// prefix of delivered jobs that are done.
///
/// Gaps between delivered offsets are normal: control records of transactions, compaction, aborted data.
struct OffsetTracker: Sendable {
    /// Delivered and not done, in offset order.
    private var open: [Int64] = []
    /// Done, but behind an open one.
    private var doneAhead: Set<Int64> = []
    /// One past the last delivered job; `nil` before the first.
    private var end: Int64?
    private var head = 0

    /// Where the partition continues; `nil` before anything was delivered.
    var next: Int64? { head < open.count ? open[head] : end }

    /// Jobs that are delivered and not done.
    var openCount: Int { open.count - head - doneAhead.count }

    /// False if the job was delivered before in this ownership.
    mutating func deliver(_ offset: Int64) -> Bool {
        if let end, offset < end { return false }
        open.append(offset)
        end = offset + 1
        return true
    }

    mutating func finish(_ offsets: some Sequence<Int64>) {
        doneAhead.formUnion(offsets)
        while head < open.count, doneAhead.remove(open[head]) != nil { head += 1 }
        if head > 512, head * 2 > open.count {
            open.removeFirst(head)
            head = 0
        }
    }

    /// Where the partition would continue if these jobs were done too.
    func next(after offsets: some Sequence<Int64>) -> Int64? {
        let finishing = Set(offsets)
        var index = head
        while index < open.count, finishing.contains(open[index]) || doneAhead.contains(open[index]) { index += 1 }
        return index < open.count ? open[index] : end
    }
}
