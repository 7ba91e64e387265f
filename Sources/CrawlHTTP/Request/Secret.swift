import FoundationEssentials

/// A value that stands outside of the source file and is never printed.
enum Secret: Sendable, Hashable, CustomStringConvertible {
    case environment(String)
    /// An absolute path. One newline at the end of the file is not part of the value.
    case file(String)

    /// As it is written in a source file.
    var description: String {
        switch self {
        case .environment(let name): "${\(name)}"
        case .file(let path): "${file:\(path)}"
        }
    }
}

/// Why a request cannot be made, in words that show no secret.
struct RequestProblem: Error, Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        /// A secret cannot be had now.
        case secret
        /// A value does not fit in its place, or is of another kind than the source pages by.
        case value
    }

    let kind: Kind
    let message: String

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }
}

/// Looks secrets up. Files are read each time, so that a rotated token is used with the next request.
public struct SecretReader: Sendable {
    private let lookUp: @Sendable (Secret) throws(RequestProblem) -> String

    /// - Parameters:
    ///   - environment: variables and their values; defaults to the environment of the process, as it is now.
    ///   - file: the bytes of a file, `nil` if it cannot be read; defaults to reading it.
    public init(
        environment: [String: String] = ProcessInfo.processInfo.environment,
        file: @escaping @Sendable (String) -> [UInt8]? = { FileManager.default.contents(atPath: $0).map(Array.init) }
    ) {
        lookUp = { (secret) throws(RequestProblem) in
            switch secret {
            case .environment(let name):
                guard let value = environment[name] else { throw RequestProblem(.secret, "\(secret) is not set") }
                return value
            case .file(let path):
                guard let bytes = file(path) else { throw RequestProblem(.secret, "\(secret) cannot be read") }
                guard var text = String(validating: bytes, as: UTF8.self) else {
                    throw RequestProblem(.secret, "\(secret) is not UTF-8")
                }
                if text.hasSuffix("\n") || text.hasSuffix("\r\n") { text.removeLast() }
                return text
            }
        }
    }

    private init(_ found: [Secret: String]) {
        lookUp = { (secret) throws(RequestProblem) in
            guard let value = found[secret] else { throw RequestProblem(.secret, "\(secret) was not looked up") }
            return value
        }
    }

    func value(of secret: Secret) throws(RequestProblem) -> String { try lookUp(secret) }

    /// The given secrets as they are now, so that a request and what is said about it use the same values.
    func snapshot(of secrets: Set<Secret>) throws(RequestProblem) -> SecretReader {
        var found: [Secret: String] = [:]
        for secret in secrets.sorted(by: { $0.description < $1.description }) {
            found[secret] = try value(of: secret)
        }
        return SecretReader(found)
    }
}
