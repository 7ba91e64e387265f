import Testing

@testable import Crawl

@Suite struct `Offset tracker` {
    @Test func `a partition continues behind the longest prefix of done jobs, over gaps`() {
        var tracker = OffsetTracker()
        #expect(tracker.next == nil)
        let taken = [3, 4, 9, 12].map { tracker.deliver($0) }
        #expect(taken == [true, true, true, true])
        #expect(tracker.next == 3)
        tracker.finish([4, 12])
        #expect(tracker.next == 3)
        #expect(tracker.next(after: [3]) == 9)
        tracker.finish([3])
        #expect(tracker.next == 9)
        tracker.finish([9])
        #expect(tracker.next == 13)
    }

    @Test func `a job delivered twice is taken once`() {
        var tracker = OffsetTracker()
        let taken = [5, 5, 4].map { tracker.deliver($0) }
        #expect(taken == [true, false, false])
    }

    @Test(arguments: 1...50)
    func `it agrees with a plain list of what is open`(seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        var tracker = OffsetTracker()
        var open: [Int64] = []
        var last: Int64 = 0
        for _ in 0..<3_000 {
            if Bool.random(using: &generator) || open.isEmpty {
                last += Int64.random(in: 1...3, using: &generator)
                if tracker.deliver(last) { open.append(last) }
            } else {
                let done = open.remove(at: Int.random(in: 0..<open.count, using: &generator))
                tracker.finish([done])
            }
            #expect(tracker.next == open.first ?? last + 1)
            #expect(tracker.openCount == open.count)
        }
    }
}
