import Crawl
import JSONText
import Kafka

/// Reads what is on the topics `jobs` and `crawls`.
///
/// Jobs come from anybody, so they are read strictly: what is not understood to the last field is unusable, with a
/// reason that names the field. Crawl records are the workers' own: fields that a newer version added are passed over.
public enum WireDecoder {
    /// Largest value of a user's job, in bytes. The workers' next jobs repeat what it says, and must stay sendable.
    public static let maxUserJobBytes = 128 << 10
    /// Largest value of any job, in bytes.
    public static let maxJobBytes = 1 << 20
    /// Levels of arrays and objects in a user's job.
    public static let maxUserJobDepth = 64
    /// Longest crawl id, in bytes. It stands in keys, headers and log lines.
    public static let maxCrawlBytes = 1_024

    /// The job in a record of the topic `jobs`.
    ///
    /// The crawl id is the record's key, or the field `crawl` without a key, or `<partition>-<offset>` without both. If
    /// both are there they must be the same.
    public static func job(_ record: ConsumedRecord, owned: PartitionEpoch) -> DeliveredJob {
        let headers = record.headers.map { ReceivedRecord.Header(name: $0.name, value: $0.value) }
        let content: DeliveredJob.Content
        do throws(WireError) {
            content = .job(try job(record))
        } catch {
            content = .unusable(kind: .malformedJob, reason: error.reason)
        }
        return DeliveredJob(
            owned: owned,
            position: JobPosition(offset: record.offset, timestamp: Timestamp(milliseconds: record.timestamp)),
            content: content, received: ReceivedRecord(key: record.key, value: record.value, headers: headers))
    }

    private static let common = ["source", "crawl", "action", "params", "from", "follow", "limits"]
    private static let continuing = ["run", "step", "cursor", "pages", "items"]
    private static let actions = ["start", "cancel", "pause", "resume", "restart", "next"]

    private static func job(_ record: ConsumedRecord) throws(WireError) -> Job {
        guard let bytes = record.value else {
            throw WireError("the value is null; a job is a JSON object such as {\"source\":\"products\"}")
        }
        let object = try WireObject(try parse(bytes, maxBytes: maxJobBytes), in: bytes, valid: common + continuing)
        let action = try action(object)
        if case .next = action {
            // The worker's own: it may carry a cursor of any shape.
        } else {
            try checkUserJob(bytes)
        }
        let source = try object.text("source")
        guard source != "" else { throw WireError("source: must not be empty") }
        return Job(
            crawl: try crawl(record, object), action: action, source: source, params: try object.params(),
            from: try object.cursor("from"), follow: try object.flag("follow") ?? true, limits: try object.limits(),
            traceparent: WireHeaders.traceparent(in: record.headers))
    }

    /// - Parameter maxDepth: without it, all that the reader can hold: a page cursor is whatever an upstream made it.
    static func parse(
        _ bytes: [UInt8], maxDepth: Int = .max, maxBytes: Int
    ) throws(WireError) -> JSONNode {
        do throws(JSONError) {
            return try JSONNode.parse(bytes, maxDepth: maxDepth, maxBytes: maxBytes)
        } catch {
            throw WireError("the value: \(error)")
        }
    }

    private static func checkUserJob(_ bytes: [UInt8]) throws(WireError) {
        _ = try parse(bytes, maxDepth: maxUserJobDepth, maxBytes: maxUserJobBytes)
    }

    private static func action(_ object: WireObject) throws(WireError) -> Job.Action {
        let name = try object.text("action") ?? "start"
        if name == "next" {
            let source = try object.text("source")
            _ = try object.required("source", source)
            return .next(try continuation(object))
        }
        if let field = continuing.first(where: object.contains) {
            throw WireError("\(field): only a worker's \"next\" job has this field; a cursor to begin at is \"from\"")
        }
        switch name {
        case "start": return .start
        case "cancel": return .cancel
        case "pause": return .pause
        case "resume": return .resume
        case "restart": return .restart
        default:
            let near = nearestName(to: name, among: actions).map { "; did you mean \"\($0)\"?" } ?? ""
            throw WireError(
                "action: must be one of \(actions.joined(separator: ", ")), not "
                    + "\(object.node("action").map { WireObject.shortened(object.bytes[$0.range]) } ?? name)\(near)")
        }
    }

    private static func continuation(_ object: WireObject) throws(WireError) -> Continuation {
        Continuation(
            run: try object.required("run", try object.integer("run", in: 1...WireObject.maxCount)),
            step: try object.required("step", try object.integer("step")),
            cursor: try object.cursor("cursor"),
            pages: try object.required("pages", try object.integer("pages")),
            items: try object.required("items", try object.integer("items")))
    }

    // MARK: Crawl ids

    private static func crawl(_ record: ConsumedRecord, _ object: WireObject) throws(WireError) -> String {
        let field = try object.text("crawl")
        if let field { try check(field, "crawl") }
        guard let key = record.key else { return field ?? "\(record.partition)-\(record.offset)" }
        let id = try crawl(key)
        if let field, field != id {
            let values =
                "\(WireObject.shortened(quoted(field)[...])), the key is \(WireObject.shortened(quoted(id)[...]))"
            throw WireError("crawl: must be the same as the record's key if both are there; it is \(values)")
        }
        return id
    }

    /// The crawl id in a record's key.
    static func crawl(_ key: [UInt8]) throws(WireError) -> String {
        guard let id = String(validating: key, as: UTF8.self) else {
            throw WireError("the key: must be a crawl id in UTF-8")
        }
        try check(id, "the key")
        return id
    }

    private static func check(_ id: String, _ place: String) throws(WireError) {
        guard !id.isEmpty else { throw WireError("\(place): a crawl id must not be empty") }
        guard id.utf8.count <= maxCrawlBytes else {
            throw WireError("\(place): a crawl id has at most \(maxCrawlBytes) bytes; this one has \(id.utf8.count)")
        }
        guard !id.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw WireError("\(place): a crawl id must not have control characters")
        }
    }

    private static func quoted(_ text: String) -> [UInt8] {
        var writer = JSONWriter(capacity: text.utf8.count + 2)
        writer.string(text)
        return writer.bytes
    }
}
