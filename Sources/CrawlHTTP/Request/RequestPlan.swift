/// What a source sends, before any page is asked for.
struct RequestPlan: Sendable, Hashable {
    var method: String
    var url: URLTemplate
    var headers: [NamedTemplate]
    /// Added to the query that the URL has itself; a name that is in both counts here only.
    var query: [NamedTemplate]
    var body: BodyTemplate?
    var authentication: Authentication?

    /// All templates, to find the params and the secrets.
    var templates: [Template] {
        [url.template] + (headers + query).map(\.value) + (body?.templates ?? []) + (authentication?.templates ?? [])
    }

    /// What the source file hides: every value that a secret has a part in. The place before the path of the URL is
    /// left out, it is an address.
    var credentials: Set<Secret> {
        var secrets = url.credentials
        for template in templates where template != url.template { secrets.formUnion(template.secrets) }
        return secrets
    }

    /// Names of query parameters whose values are never shown, and are not kept in a page cursor.
    var credentialQueryNames: Set<String> {
        var names = Set(query.filter(\.value.holdsSecret).map(\.name))
        if case .apiKeyQuery(let name, _) = authentication { names.insert(name) }
        return names
    }
}

/// A header or a query parameter with a template for its value. A name may come several times.
struct NamedTemplate: Sendable, Hashable {
    var name: String
    var value: Template
}
