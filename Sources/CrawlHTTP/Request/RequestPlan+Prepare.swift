extension RequestPlan {
    /// The plan for one page, rendered afresh.
    /// - Parameters:
    ///   - address: a URL that the upstream gave for the page; `nil` for the plan's own.
    ///   - placed: page number, cursor, page size.
    ///   - merge: whether parameters are added to an address of the upstream's.
    func prepare(
        at address: URLReference?, placed: [PlacedValue], merge: MergeParams, _ values: TemplateValues
    ) throws(RequestProblem) -> PreparedRequest {
        let own = URLReference(try url.render(values.adding(placed)))
        guard let home = Origin(own) else {
            throw RequestProblem(.value, "the url has no http or https host")
        }
        var prepared = PreparedRequest(method: method, url: address ?? own, home: home)
        try addHeaders(placed, values, to: &prepared)
        try addQuery(placed, mode: address == nil ? .replace : .add(merge), values, to: &prepared)
        if let body {
            prepared.body = try body.placing(placed).render(values)
            prepared.bodyHoldsCredentials = body.templates.contains(where: \.holdsSecret)
            prepared.addHeader("content-type", "application/json")
        }
        prepared.addHeader("accept", "application/json")
        return prepared
    }

    private func addHeaders(
        _ placed: [PlacedValue], _ values: TemplateValues, to prepared: inout PreparedRequest
    ) throws(RequestProblem) {
        for header in headers {
            let value = try Self.checked(try header.value.render(values), header.name)
            prepared.headers.append(.init(name: header.name, value: value))
        }
        if let header = try authentication?.header(values) {
            let value = try Self.checked(header.value, header.name)
            prepared.headers.append(.init(name: header.name, value: value))
        }
        for value in placed {
            guard case .header(let name) = value.place else { continue }
            prepared.headers.append(
                .init(name: name, value: try Self.checked(value.text, name), isPlaced: true))
        }
    }

    /// How the parameters meet the query that is there already.
    private enum QueryMode: Hashable {
        /// The plan's own URL: what is configured replaces what the URL says.
        case replace
        /// A URL of the upstream's.
        case add(MergeParams)
    }

    private func addQuery(
        _ placed: [PlacedValue], mode: QueryMode, _ values: TemplateValues, to prepared: inout PreparedRequest
    ) throws(RequestProblem) {
        var open: [(name: String, value: String)] = []
        for parameter in query {
            let value = try parameter.value.render(values)
            if parameter.value.holdsSecret {
                prepared.credentialQuery.append((parameter.name, value))
            } else {
                open.append((parameter.name, value))
            }
        }
        if case .apiKeyQuery(let name, let value) = authentication {
            prepared.credentialQuery.append((name, try value.render(values)))
        }
        for value in placed {
            if case .query(let name) = value.place { open.append((name, value.text)) }
        }
        var text = QueryText(prepared.url.query)
        switch mode {
        case .replace:
            for (name, _) in open { text.remove(name) }
            for (name, value) in open { text.append(name, value) }
        case .add(.never):
            return
        case .add(.missing):
            // What is configured is meant for the source's own origin.
            guard Origin(prepared.url) == prepared.home else { return }
            let there = text
            for (name, value) in open where !there.contains(name) { text.append(name, value) }
        }
        prepared.url.query = text.text ?? prepared.url.query
    }

    /// A line break in a header value would end the header.
    private static func checked(_ value: String, _ name: String) throws(RequestProblem) -> String {
        guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 9 }) else {
            throw RequestProblem(.value, "the value of the header \"\(name)\" has a control character")
        }
        return value
    }
}

/// Whether configured parameters are added to a next URL that the upstream gave.
enum MergeParams: Sendable, Hashable {
    /// The URL is used as it is.
    case never
    /// Parameters whose names the URL lacks are added.
    case missing
}

extension TemplateValues {
    /// With the values that have a place `{{name}}` in the URL.
    func adding(_ placed: [PlacedValue]) -> TemplateValues {
        var copy = self
        for value in placed {
            if case .path(let name) = value.place { copy.params[name] = value.text }
        }
        return copy
    }
}

extension BodyTemplate {
    func placing(_ placed: [PlacedValue]) throws(RequestProblem) -> BodyTemplate {
        var body = self
        for value in placed {
            guard case .body(let pointer) = value.place else { continue }
            do throws(TemplateProblem) {
                body = try body.placing(value.json, at: pointer.tokens[...])
            } catch {
                throw RequestProblem(.value, error.message)
            }
        }
        return body
    }
}
