import Crawl
import FoundationEssentials
import HTTP
import YAML

/// Makes crawlable sources of source files.
public struct HTTPSources: Sendable {
    private let secrets: SecretReader
    private let userAgent: String
    private let now: @Sendable () -> Timestamp

    /// - Parameters:
    ///   - secrets: where `${NAME}` and `${file:/path}` are looked up.
    ///   - userAgent: sent unless a source file sets its own.
    ///   - now: the time, for waits that an upstream asks for.
    public init(
        secrets: SecretReader = SecretReader(), userAgent: String = "pagehound",
        now: @escaping @Sendable () -> Timestamp = HTTPSources.systemTime
    ) {
        self.secrets = secrets
        self.userAgent = userAgent
        self.now = now
    }

    /// The clock of the machine.
    public static let systemTime: @Sendable () -> Timestamp = {
        Timestamp(milliseconds: Int64((Date().timeIntervalSince1970 * 1_000).rounded(.down)))
    }

    /// Reads all `.yaml` and `.yml` files of a folder, in the order of their names.
    /// - Throws: the problems of all files. Two files may not have the same source name.
    public func load(directory: String) throws(YAMLProblemList) -> [Source] {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: directory) else {
            throw .one(directory, "cannot be listed")
        }
        var sources: [Source] = []
        var problems: [YAMLProblem] = []
        for name in names.sorted() where name.hasSuffix(".yaml") || name.hasSuffix(".yml") {
            let path = directory.hasSuffix("/") ? directory + name : "\(directory)/\(name)"
            do {
                let source = try load(file: path)
                if sources.contains(where: { $0.name == source.name }) {
                    problems += YAMLProblemList.one(path, "another file has the name \"\(source.name)\" too").problems
                }
                sources.append(source)
            } catch {
                problems += error.problems
            }
        }
        guard problems.isEmpty else { throw YAMLProblemList(problems) }
        return sources
    }

    /// Reads one source file.
    /// - Throws: all that is wrong with it, with file, line and column.
    public func load(file path: String) throws(YAMLProblemList) -> Source {
        guard let bytes = FileManager.default.contents(atPath: path) else { throw .one(path, "cannot be read") }
        return source(try read(Array(bytes), file: path))
    }

    /// Decodes the text of a source file.
    /// - Parameter file: the name for messages.
    public func read(_ text: [UInt8], file: String) throws(YAMLProblemList) -> SourceFile {
        try SourceFileReader(file: file, secrets: secrets).read(text)
    }

    /// The source that a file describes. It has a client of its own, with the limits of the file.
    public func source(_ file: SourceFile) -> Source {
        let client = HTTPClient(limits: file.limits, userAgent: userAgent)
        let (secrets, now) = (secrets, now)
        return Source(
            file.name, pagination: file.pagination, retry: file.retry, output: file.output,
            maxInFlight: file.pace.maxInFlight, requestsPerSecond: file.pace.requestsPerSecond
        ) { params throws(UnusableParams) in
            let values = TemplateValues(params: params, secrets: secrets)
            try file.check(values)
            return HTTPPageSource(file: file, values: values, client: client, now: now)
        }
    }
}

extension SourceFile {
    /// Checks the params of a job: none missing, none unknown, and a first request that can be sent.
    func check(_ values: TemplateValues) throws(UnusableParams) {
        let known = params
        for name in values.params.keys.sorted() where !known.contains(name) {
            let near = nearestName(to: name, among: known.sorted())
            let advice =
                near.map { "did you mean \"\($0)\"?" }
                ?? (known.isEmpty ? "it has none" : "it has \(known.sorted().joined(separator: ", "))")
            throw UnusableParams("source \"\(self.name)\" has no param \"\(name)\"; \(advice)")
        }
        for name in known.sorted() where values.params[name] == nil {
            throw UnusableParams("source \"\(self.name)\" needs the param \"\(name)\"")
        }
        // A dot segment would lead to another path than the one that is configured.
        for name in request.url.template.params.sorted() where [".", ".."].contains(values.params[name]) {
            throw UnusableParams(
                "the param \"\(name)\" is a part of the path and cannot be \"\(values.params[name] ?? "")\"")
        }
        do {
            let (address, placed) = try paging.locate(nil, pageSize: nil)
            _ = try request.prepare(at: address, placed: placed, merge: paging.merge, values)
        } catch {
            // A secret that is missing now is the worker's trouble, not the job's.
            if error.kind == .value { throw UnusableParams("source \"\(self.name)\": \(error.message)") }
        }
    }
}

extension YAMLProblemList {
    fileprivate static func one(_ file: String, _ message: String) -> YAMLProblemList {
        YAMLProblemList([YAMLProblem(file: file, place: YAMLPlace(line: 1, column: 1), message: message)])
    }
}
