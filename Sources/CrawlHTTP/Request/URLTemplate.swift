/// The `url` of a source file.
///
/// Values of params are percent-encoded wherever they stand, so that none can change the structure of the URL. Values of
/// the environment are encoded in the path and the query; before the path they are the operator's own text
/// (`${API_BASE}/v1/items`), and are not treated as credentials.
struct URLTemplate: Sendable, Hashable {
    let template: Template

    /// - Throws: if a param could choose the host. `https://{{tenant}}.example.com` may be written: what follows the
    ///   param belongs to the domain of a known owner.
    init(_ template: Template) throws(TemplateProblem) {
        var head = ""
        for (index, part) in template.parts.enumerated() {
            switch part {
            case .literal(let text): head += text
            case .secret: head += Self.isPastAuthority(head) ? "x" : "https://x"
            case .param(let name):
                if !Self.isPastAuthority(head) {
                    guard head.contains("://"), index + 1 < template.parts.count,
                        case .literal(let next) = template.parts[index + 1], next.hasPrefix(".")
                    else {
                        throw TemplateProblem(
                            "{{\(name)}} would choose the host; a param in it must be followed by \".\"")
                    }
                }
                head += "x"
            }
        }
        self.template = template
    }

    /// A URL without places.
    init(literal: String) { template = Template(literal: literal) }

    /// A secret stands behind a `?`. Such a URL cannot be told from its credentials.
    var holdsSecretInQuery: Bool {
        var isInQuery = false
        for part in template.parts {
            switch part {
            case .literal(let text): isInQuery = isInQuery || text.contains("?")
            case .param: break
            case .secret: if isInQuery { return true }
            }
        }
        return false
    }

    /// The secrets in the path and the query.
    var credentials: Set<Secret> {
        var head = ""
        var found: Set<Secret> = []
        for part in template.parts {
            switch part {
            case .literal(let text): head += text
            case .param: head += "x"
            case .secret(let secret):
                if Self.isPastAuthority(head) { found.insert(secret) } else { head += head.isEmpty ? "https://x" : "x" }
            }
        }
        return found
    }

    func render(_ values: TemplateValues) throws(RequestProblem) -> String {
        var url = ""
        for part in template.parts {
            switch part {
            case .literal(let text): url += text
            case .param(let name): url += PercentEncoding.encode(values.params[name] ?? "")
            case .secret(let secret):
                let value = try values.secrets.value(of: secret)
                url += Self.isPastAuthority(url) ? PercentEncoding.encode(value) : value
            }
        }
        return url
    }

    private static func isPastAuthority(_ head: String) -> Bool {
        guard let start = head.firstRange(of: "://") else { return false }
        return head[start.upperBound...].contains { "/?#".contains($0) }
    }
}
