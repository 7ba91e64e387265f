/// The known name that is closest to a mistyped one, for error messages.
///
/// - Returns: the name with the least edit distance, if that is at most a third of the longer name (at least 1);
///   `nil` if none is near.
public func nearestName(to name: String, among known: [String]) -> String? {
    let candidates = known.map { (name: $0, distance: editDistance(name.lowercased(), $0.lowercased())) }
    guard let best = candidates.min(by: { ($0.distance, $0.name) < ($1.distance, $1.name) }) else { return nil }
    return best.distance <= max(1, max(name.count, best.name.count) / 3) ? best.name : nil
}

/// Levenshtein distance over characters; long texts are cut, because nobody mistypes a name of 64 characters.
private func editDistance(_ left: String, _ right: String) -> Int {
    let (left, right) = (Array(left.prefix(64)), Array(right.prefix(64)))
    var row = Array(0...right.count)
    for (i, a) in left.enumerated() {
        var diagonal = row[0]
        row[0] = i + 1
        for (j, b) in right.enumerated() {
            let cost = a == b ? diagonal : diagonal + 1
            diagonal = row[j + 1]
            row[j + 1] = min(cost, row[j] + 1, row[j + 1] + 1)
        }
    }
    return row[right.count]
}
