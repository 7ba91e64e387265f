/// The query of a URL as a list of `name=value` pieces that stay as they were written.
struct QueryText: Sendable, Hashable {
    private(set) var pieces: [Substring]

    /// Cuts at `&`. Empty pieces stay, so that a query that nothing is done to stays the same text.
    init(_ query: String?) {
        pieces = query.map { $0.isEmpty ? [] : $0.split(separator: "&", omittingEmptySubsequences: false) } ?? []
    }

    /// The query, or `nil` if there is none.
    var text: String? { pieces.isEmpty ? nil : pieces.joined(separator: "&") }

    func contains(_ name: String) -> Bool { pieces.contains { Self.name(of: $0) == name } }

    mutating func remove(_ name: String) { pieces.removeAll { Self.name(of: $0) == name } }

    /// Adds `name=value`, both encoded here.
    mutating func append(_ name: String, _ value: String) {
        pieces.append(PercentEncoding.encode(name) + "=" + PercentEncoding.encode(value))
    }

    /// Replaces the value of each named piece that `isSecret` picks, for messages.
    func redacted(_ isSecret: (String) -> Bool) -> QueryText {
        var copy = self
        copy.pieces = pieces.map { piece in
            isSecret(Self.name(of: piece)) ? (piece.prefix { $0 != "=" }) + "=***" : piece
        }
        return copy
    }

    private static func name(of piece: Substring) -> String {
        PercentEncoding.decodeName(piece.prefix { $0 != "=" })
    }
}
