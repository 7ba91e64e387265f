/// The name that somebody probably meant, for messages about an unknown one: "unknown field "sorce"; did you mean
/// "source"?". `nil` if none is near: more than a third of the letters would have to change.
///
/// Near is the Damerau-Levenshtein distance (a swap of neighbours counts once), capitals not minded, and `-`, `_` and
/// nothing are the same. The first of several at the same distance wins.
public func nearestName(to name: String, among candidates: [String]) -> String? {
    let wanted = folded(name)
    var nearest: (name: String, distance: Int)?
    for candidate in candidates {
        let folded = folded(candidate)
        let longest = max(wanted.count, folded.count)
        let allowed = max(1, longest / 3)
        // Far texts are not worth the table; it also bounds the work for a hostile name.
        guard abs(wanted.count - folded.count) <= allowed else { continue }
        let distance = editDistance(wanted, folded)
        if distance <= allowed, distance < longest, distance < nearest?.distance ?? .max {
            nearest = (candidate, distance)
        }
    }
    return nearest?.name
}

private func folded(_ name: String) -> [UInt8] {
    name.utf8.compactMap { byte in
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "_"): nil
        case 0x41...0x5A: byte | 0x20
        default: byte
        }
    }
}

private func editDistance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for i in left.indices {
        var row = [i + 1]
        row.reserveCapacity(right.count + 1)
        for j in right.indices {
            let isSame = left[i] == right[j]
            var best = min(last[j + 1] + 1, row[j] + 1, last[j] + (isSame ? 0 : 1))
            if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                best = min(best, beforeLast[j - 1] + 1)
            }
            row.append(best)
        }
        beforeLast = last
        last = row
    }
    return last[right.count]
}
