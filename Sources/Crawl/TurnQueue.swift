/// First come, first served; who has a turn left goes back to the front.
struct TurnQueue<Element: Sendable>: Sendable {
    private var front: [Element] = []
    private var back: [Element] = []
    private var head = 0

    var isEmpty: Bool { front.isEmpty && head == back.count }

    mutating func append(_ element: Element) { back.append(element) }
    mutating func putInFront(_ element: Element) { front.append(element) }

    mutating func popFirst() -> Element? {
        if let element = front.popLast() { return element }
        guard head < back.count else { return nil }
        defer {
            head += 1
            if head > 512, head * 2 > back.count {
                back.removeFirst(head)
                head = 0
            }
        }
        return back[head]
    }
}
