/// One thing that is wrong with a file.
public struct YAMLProblem: Sendable, Hashable, CustomStringConvertible {
    public var file: String
    public var place: YAMLPlace
    public var message: String

    public init(file: String, place: YAMLPlace, message: String) {
        self.file = file
        self.place = place
        self.message = message
    }

    /// `products.yaml:3:5: unknown key …`, as compilers write it, so that editors find the place.
    public var description: String { "\(file):\(place): \(message)" }
}

/// All that is wrong with a file, in its order.
public struct YAMLProblemList: Error, Sendable, Hashable, CustomStringConvertible {
    public var problems: [YAMLProblem]

    public init(_ problems: [YAMLProblem]) { self.problems = problems }

    public var description: String { problems.map(\.description).joined(separator: "\n") }
}

/// Collects what is wrong with a file while it is read to the end, so that all of it is said at once.
public final class YAMLProblems {
    public let file: String
    public private(set) var all: [YAMLProblem] = []
    private let nearest: (String, [String]) -> String?

    /// - Parameters:
    ///   - file: the name for messages.
    ///   - nearest: finds the name that was probably meant among valid ones.
    public init(file: String, nearest: @escaping (_ name: String, _ valid: [String]) -> String?) {
        self.file = file
        self.nearest = nearest
    }

    public var isEmpty: Bool { all.isEmpty }

    public func report(_ message: String, at place: YAMLPlace) {
        all.append(YAMLProblem(file: file, place: place, message: message))
    }

    public func report(_ error: YAMLError) { report(error.message, at: error.place) }

    /// Reads a file's text; reports and returns `nil` if it is not YAML.
    public func parse(_ bytes: [UInt8]) -> YAMLNode? {
        do throws(YAMLError) {
            return try YAMLNode.parse(bytes)
        } catch {
            report(error)
            return nil
        }
    }

    /// Throws if anything was reported.
    public func check() throws(YAMLProblemList) {
        guard !all.isEmpty else { return }
        let ordered = all.sorted { ($0.place.line, $0.place.column) < ($1.place.line, $1.place.column) }
        throw YAMLProblemList(ordered)
    }

    /// The name that was probably meant.
    public func nearestName(to name: String, among valid: [String]) -> String? { nearest(name, valid) }

    /// "did you mean …" for an unknown name, or the valid ones if none is near.
    func advice(for name: String, among valid: [String]) -> String {
        if let near = nearest(name, valid) { return "did you mean \"\(near)\"?" }
        return valid.isEmpty ? "none is valid here" : "valid are \(valid.sorted().joined(separator: ", "))"
    }
}
