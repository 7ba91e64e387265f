import YAML

/// Decodes `request` of a source file.
struct RequestReader {
    /// The plan, and where its parts are in the file, for checks that need other sections too.
    struct Result {
        var plan: RequestPlan
        var mapping: YAMLMapping
    }

    let mapping: YAMLMapping
    let problems: YAMLProblems
    let secrets: SecretReader

    private static let methods = ["GET", "POST", "PUT", "PATCH", "QUERY"]
    /// The client writes these itself.
    private static let reservedHeaders: Set<String> = [
        "host", "content-length", "transfer-encoding", "connection", "accept-encoding",
    ]

    func read() -> Result {
        let body = mapping.node("body").flatMap { BodyReader(template: template, problems: problems).read($0) }
        let method = mapping.choice("method", among: Self.methods) ?? (body == nil ? "GET" : "POST")
        let headers = readHeaders()
        let plan = RequestPlan(
            method: method, url: readURL() ?? RequestPlan.unreadable.url, headers: headers, query: readQuery(),
            body: body, authentication: readAuthentication())
        if plan.authentication != nil, headers.contains(where: { $0.name.lowercased() == "authorization" }) {
            mapping.report("headers", "has an Authorization next to \"auth\"; keep one of them")
        }
        mapping.finish()
        return Result(plan: plan, mapping: mapping)
    }

    private func readURL() -> URLTemplate? {
        guard let text = mapping.string("url", required: true), let node = mapping.node("url"),
            let template = template(text, node.place)
        else { return nil }
        do {
            let url = try URLTemplate(template)
            try check(url)
            return url
        } catch {
            mapping.report("url", error.message)
            return nil
        }
    }

    private func check(_ url: URLTemplate) throws(TemplateProblem) {
        let params = Dictionary(uniqueKeysWithValues: url.template.params.map { ($0, "x") })
        // A secret that cannot be had has been reported with its template.
        guard let text = try? url.render(TemplateValues(params: params, secrets: secrets)) else { return }
        let reference = URLReference(text)
        guard Origin(reference) != nil else {
            throw TemplateProblem("must be an absolute http:// or https:// URL with a plain host")
        }
        guard PercentEncoding.repair(text) == text else {
            throw TemplateProblem("has characters that must be percent-encoded in a URL")
        }
        if reference.authority?.contains("@") == true {
            throw TemplateProblem("must not hold a user or a password; write them under \"auth\"")
        }
        if reference.fragment != nil { throw TemplateProblem("must not have a fragment; it is never sent") }
        if url.holdsSecretInQuery {
            throw TemplateProblem("must not hold a secret in its query; write it under \"query\"")
        }
    }

    private func readHeaders() -> [NamedTemplate] {
        guard let headers = mapping.mapping("headers") else { return [] }
        var names: Set<String> = []
        return headers.keys.compactMap { name in
            guard let text = headers.string(name, required: true), let node = headers.node(name),
                let template = template(text, node.place)
            else { return nil }
            if !HeaderName.isValid(name) || Self.reservedHeaders.contains(name.lowercased()) {
                headers.report(name, "is not a header that can be set here")
            }
            if !names.insert(name.lowercased()).inserted { headers.report(name, "is here twice") }
            return NamedTemplate(name: name, value: template)
        }
    }

    private func readQuery() -> [NamedTemplate] {
        guard let query = mapping.mapping("query") else { return [] }
        return query.keys.flatMap { name in
            let values = query.strings(name) ?? [""]
            let place = query.node(name)?.place ?? query.place(of: name)
            return values.compactMap { template($0, place).map { NamedTemplate(name: name, value: $0) } }
        }
    }

    private func readAuthentication() -> Authentication? {
        guard let auth = mapping.mapping("auth") else { return nil }
        defer { auth.finish() }
        switch auth.choice("type", among: ["bearer", "basic", "api_key"], required: true) {
        case "bearer": return required("token", auth).map(Authentication.bearer)
        case "basic":
            let (username, password) = (required("username", auth), required("password", auth))
            guard let username, let password else { return nil }
            return .basic(username: username, password: password)
        case "api_key":
            return readKey(auth)
        default:
            auth.allow("token", "username", "password", "in", "name", "value")
            return nil
        }
    }

    private func readKey(_ auth: YAMLMapping) -> Authentication? {
        let place = auth.choice("in", among: ["header", "query"], required: true)
        let (name, value) = (auth.string("name", required: true), required("value", auth))
        guard let name, let value else { return nil }
        if place == "query" { return .apiKeyQuery(name: name, value: value) }
        if !HeaderName.isValid(name) { auth.report("name", "is not a header's name") }
        return .apiKeyHeader(name: name, value: value)
    }

    private func required(_ key: String, _ mapping: YAMLMapping) -> Template? {
        guard let text = mapping.string(key, required: true), let node = mapping.node(key) else { return nil }
        return template(text, node.place)
    }

    /// Reads a template and looks once for the secrets it needs, so that a missing one is found at start.
    private func template(_ text: String, _ place: YAMLPlace) -> Template? {
        do {
            let template = try Template(text)
            for secret in template.secrets.sorted(by: { $0.description < $1.description }) {
                do {
                    _ = try secrets.value(of: secret)
                } catch {
                    problems.report(error.message, at: place)
                }
            }
            return template
        } catch {
            problems.report(error.message, at: place)
            return nil
        }
    }
}

extension RequestPlan {
    /// Stands for a request that could not be read, while the rest of the file is checked.
    static let unreadable = RequestPlan(
        method: "GET", url: URLTemplate(literal: "https://unreadable.invalid/"), headers: [], query: [], body: nil,
        authentication: nil)
}
