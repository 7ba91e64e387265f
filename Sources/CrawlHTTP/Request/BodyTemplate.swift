import JSONText

/// A JSON body with templates in its strings.
indirect enum BodyTemplate: Sendable, Hashable {
    /// A number, true, false or null as JSON text, or a cursor that was put in its place.
    case raw(String)
    case string(Template)
    case array([BodyTemplate])
    case object([Member])

    struct Member: Sendable, Hashable {
        var name: String
        var value: BodyTemplate
    }

    /// All templates in the body.
    var templates: [Template] {
        switch self {
        case .raw: []
        case .string(let template): [template]
        case .array(let elements): elements.flatMap(\.templates)
        case .object(let members): members.flatMap(\.value.templates)
        }
    }

    /// A copy with JSON text at the pointer. Members that are missing are made; elements of arrays must be there.
    func placing(_ json: String, at tokens: ArraySlice<String>) throws(TemplateProblem) -> BodyTemplate {
        guard let token = tokens.first else { return .raw(json) }
        let rest = tokens.dropFirst()
        switch self {
        case .object(var members):
            if let index = members.firstIndex(where: { $0.name == token }) {
                members[index].value = try members[index].value.placing(json, at: rest)
            } else {
                members.append(Member(name: token, value: try BodyTemplate.object([]).placing(json, at: rest)))
            }
            return .object(members)
        case .array(var elements):
            guard let index = Int(token), elements.indices.contains(index) else {
                throw TemplateProblem("the body has an array of \(elements.count) where the pointer says \"\(token)\"")
            }
            elements[index] = try elements[index].placing(json, at: rest)
            return .array(elements)
        case .raw("null"):
            // A body may show the place of its cursor with a null.
            return try BodyTemplate.object([]).placing(json, at: tokens)
        case .raw, .string:
            throw TemplateProblem("the body has a plain value where the pointer goes on with \"\(token)\"")
        }
    }

    /// The body as compact JSON, in the order of the source file.
    func render(_ values: TemplateValues) throws(RequestProblem) -> [UInt8] {
        var writer = JSONWriter()
        try write(values, to: &writer)
        return writer.bytes
    }

    private func write(_ values: TemplateValues, to writer: inout JSONWriter) throws(RequestProblem) {
        switch self {
        case .raw(let json): writer.raw(json)
        case .string(let template): writer.string(try template.render(values))
        case .array(let elements):
            writer.beginArray()
            for element in elements { try element.write(values, to: &writer) }
            writer.endArray()
        case .object(let members):
            writer.beginObject()
            for member in members {
                writer.key(member.name)
                try member.value.write(values, to: &writer)
            }
            writer.endObject()
        }
    }
}
