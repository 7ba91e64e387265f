import Crawl
import HTTP
import JSONText
import YAML

/// Decodes a source file. All that is wrong with it is reported at once.
struct SourceFileReader {
    let problems: YAMLProblems
    let secrets: SecretReader

    init(file: String, secrets: SecretReader) {
        problems = YAMLProblems(file: file) { nearestName(to: $0, among: $1) }
        self.secrets = secrets
    }

    func read(_ bytes: [UInt8]) throws(YAMLProblemList) -> SourceFile {
        let node = problems.parse(bytes)
        let file = node.flatMap(read)
        try problems.check()
        guard let file else { throw YAMLProblemList([]) }
        return file
    }

    /// `nil` only where a problem was reported.
    private func read(_ node: YAMLNode) -> SourceFile? {
        let request = YAMLMapping(node, problems: problems).mapping("request", required: true).map(readRequest)
        let root = YAMLMapping(withEnvironment(node), problems: problems)
        root.allow("request")
        let name = readName(root)
        let (pagination, paging) = PagingReader(root.mapping("pagination", required: true), problems).read()
        let file = SourceFile(
            name: name ?? "", pagination: pagination, retry: readRetry(root.mapping("retry")),
            output: readOutput(root.mapping("output")), pace: readPace(root.mapping("pace")),
            limits: readLimits(root.mapping("limits")), request: request?.plan ?? .unreadable, paging: paging,
            extraction: readExtraction(root.mapping("extract", required: true)))
        root.finish()
        if let request { PlacementCheck(file: file, request: request, problems: problems).run() }
        return file
    }

    private func readRequest(_ mapping: YAMLMapping) -> RequestReader.Result {
        RequestReader(mapping: mapping, problems: problems, secrets: secrets).read()
    }

    private func readName(_ root: YAMLMapping) -> String? {
        guard let name = root.string("name", required: true) else { return nil }
        let isPlain = name.utf8.allSatisfy { PercentEncoding.isUnreserved($0) && $0 != UInt8(ascii: "~") }
        if name.isEmpty || !isPlain { root.report("name", "must be letters, digits, \"-\", \"_\" and \".\"") }
        return name
    }

    private func readExtraction(_ mapping: YAMLMapping?) -> ExtractionPlan {
        var plan = ExtractionPlan(items: JSONPointer(tokens: []), missingItems: .errorOnFirstPage)
        guard let mapping else { return plan }
        if let pointer = mapping.pointer("items_path", required: true) { plan.items = pointer }
        switch mapping.choice("missing_items", among: ["error", "empty"]) {
        case "error": plan.missingItems = .error
        case "empty": plan.missingItems = .empty
        default: break
        }
        mapping.finish()
        return plan
    }

    private func readRetry(_ mapping: YAMLMapping?) -> RetryPolicy {
        var policy = RetryPolicy()
        guard let mapping else { return policy }
        policy.attempts = mapping.int("attempts", in: 1...1_000) ?? policy.attempts
        policy.baseDelay = mapping.duration("base_delay") ?? policy.baseDelay
        policy.maxDelay = mapping.duration("max_delay") ?? policy.maxDelay
        policy.maxWait = mapping.duration("max_wait") ?? policy.maxWait
        policy.throttleBudget = mapping.int("throttle_budget", in: 0...1_000_000) ?? policy.throttleBudget
        if policy.maxDelay < policy.baseDelay { mapping.report("max_delay", "must not be less than base_delay") }
        mapping.finish()
        return policy
    }

    private func readOutput(_ mapping: YAMLMapping?) -> Output {
        guard let mapping else { return .page }
        let per = mapping.choice("per", among: ["page", "item"], required: true)
        let key = mapping.pointer("key")
        if key != nil && per == "page" { mapping.report("key", "is only for \"per: item\"") }
        mapping.finish()
        return per == "item" ? .item(key: key?.description) : .page
    }

    private func readPace(_ mapping: YAMLMapping?) -> SourceFile.Pace {
        var pace = SourceFile.Pace(maxInFlight: 64, requestsPerSecond: nil)
        guard let mapping else { return pace }
        pace.maxInFlight = mapping.int("max_in_flight", in: 1...10_000) ?? pace.maxInFlight
        pace.requestsPerSecond = mapping.double("requests_per_second")
        if let rate = pace.requestsPerSecond, rate <= 0 { mapping.report("requests_per_second", "must be more than 0") }
        mapping.finish()
        return pace
    }

    private func readLimits(_ mapping: YAMLMapping?) -> HTTPLimits {
        var limits = HTTPLimits()
        guard let mapping else { return limits }
        limits.connectTimeout = mapping.positiveDuration("connect_timeout") ?? limits.connectTimeout
        limits.idleTimeout = mapping.positiveDuration("idle_timeout") ?? limits.idleTimeout
        limits.totalTimeout = mapping.positiveDuration("total_timeout") ?? limits.totalTimeout
        limits.maxBodyBytes = mapping.bytes("max_body") ?? limits.maxBodyBytes
        limits.maxHeaderBytes = mapping.bytes("max_headers") ?? limits.maxHeaderBytes
        limits.maxRatio = mapping.int("max_ratio", in: 1...100_000) ?? limits.maxRatio
        mapping.finish()
        return limits
    }

    /// Everything but the request is the same for all jobs and holds no secret: `${NAME}` is put in at once.
    private func withEnvironment(_ node: YAMLNode) -> YAMLNode {
        guard case .mapping(let entries) = node.content else { return node }
        var copy = node
        copy.content = .mapping(
            entries.map { entry in
                guard entry.key != "request" else { return entry }
                return YAMLEntry(key: entry.key, keyPlace: entry.keyPlace, value: entry.value.mapScalars(fillIn))
            })
        return copy
    }

    private func fillIn(_ scalar: YAMLScalar, at place: YAMLPlace) -> YAMLScalar {
        guard scalar.text.contains("${") || scalar.text.contains("{{") else { return scalar }
        do {
            let template = try Template(scalar.text)
            if !template.params.isEmpty {
                problems.report("{{ }} is for values under \"request\" only", at: place)
                return scalar
            }
            if template.secrets.contains(where: { if case .file = $0 { true } else { false } }) {
                problems.report("${file:…} is for values under \"request\" only", at: place)
                return scalar
            }
            let text = try template.render(TemplateValues(params: [:], secrets: secrets))
            return YAMLScalar(text, style: scalar.style)
        } catch let error as TemplateProblem {
            problems.report(error.message, at: place)
        } catch let error as RequestProblem {
            problems.report(error.message, at: place)
        } catch {
            problems.report("\(error)", at: place)
        }
        return scalar
    }
}

extension YAMLMapping {
    /// A JSON Pointer.
    func pointer(_ key: String, required: Bool = false) -> JSONPointer? {
        guard let text = string(key, required: required) else { return nil }
        do {
            return try JSONPointer(text)
        } catch {
            report(key, "is not a JSON Pointer: \(error.message)")
            return nil
        }
    }

    /// A JSON Pointer, or `header:NAME`.
    func signalPath(_ key: String, required: Bool = false) -> SignalPath? {
        guard let text = string(key, required: required) else { return nil }
        guard text.hasPrefix("header:") else { return pointer(key).map(SignalPath.body) }
        let name = String(text.dropFirst("header:".count))
        if HeaderName.isValid(name) { return .header(name) }
        report(key, "names no header; it is a JSON Pointer or header:NAME")
        return nil
    }

    func positiveDuration(_ key: String) -> Duration? {
        guard let duration = duration(key) else { return nil }
        if duration <= .zero { report(key, "must be more than 0") }
        return duration
    }
}

/// Names of header fields.
enum HeaderName {
    /// A token (RFC 9110, section 5.6.2).
    static func isValid(_ name: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy { byte in
                switch byte {
                case 48...57, 65...90, 97...122: true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }
}
