import Crawl
import HTTP
import JSONText

/// A `PageSource` over HTTP for one crawl: a source file and the params of a job.
struct HTTPPageSource: PageSource {
    let file: SourceFile
    let values: TemplateValues
    let client: HTTPClient
    /// The time, which the waits that an upstream asks for are counted from.
    let now: @Sendable () -> Timestamp
    private let reader: PageReader
    private let secrets: Set<Secret>

    init(file: SourceFile, values: TemplateValues, client: HTTPClient, now: @escaping @Sendable () -> Timestamp) {
        self.file = file
        self.values = values
        self.client = client
        self.now = now
        reader = PageReader(file)
        secrets = Set(file.request.templates.flatMap(\.secrets))
    }

    func fetch(_ request: PageRequest) async throws(SourceError) -> Page {
        let (prepared, values) = try prepare(request)
        let failure = FailureReport(source: file.name, redaction: file.request.redaction(values), now: now)
        let exchange = Exchange(client: client, allowHosts: file.paging.allowHosts, failure: failure)
        let answer = try await exchange.run(prepared)
        do {
            let (items, signals) = try reader.read(answer.response, at: answer.url, page: request.page)
            return Page(
                items: items, signals: signals, status: answer.response.status,
                url: failure.redaction.url(answer.url), fetchedAt: now(), cost: answer.cost)
        } catch {
            var asked = prepared
            asked.url = answer.url
            let reason =
                "answered \(answer.response.status), but \(error.message); the body is "
                + failure.redaction.excerpt(answer.response.body)
            throw failure.make(.malformed, asked, reason, status: answer.response.status, cost: answer.cost)
        }
    }

    private func prepare(_ request: PageRequest) throws(SourceError) -> (PreparedRequest, TemplateValues) {
        do {
            let values = TemplateValues(params: values.params, secrets: try values.secrets.snapshot(of: secrets))
            let (address, placed) = try file.paging.locate(request.cursor, pageSize: request.pageSize)
            var prepared = try file.request.prepare(
                at: address, placed: placed, merge: file.paging.merge, values)
            if let traceparent = request.traceparent { prepared.addHeader("traceparent", traceparent) }
            return (prepared, values)
        } catch {
            let kind: SourceError.Class =
                switch error.kind {
                case .secret: .unavailable
                case .value: .rejected
                }
            throw SourceError(kind, "\(file.name): \(error.message)", cost: Cost())
        }
    }
}

extension RequestPlan {
    /// What must not be shown of this plan's requests.
    func redaction(_ values: TemplateValues) -> Redaction {
        var hidden = credentials.compactMap { try? values.secrets.value(of: $0) }
        if let authentication {
            hidden += authentication.templates.compactMap { try? $0.render(values) }
            if case .basic = authentication, let header = try? authentication.header(values) {
                hidden.append(String(header.value.dropFirst("Basic ".count)))
            }
        }
        return Redaction(names: credentialQueryNames, values: hidden)
    }
}
