import Crawl
import JSONText

// A page cursor is an object with one field that says what kind it is: {"page":3}, {"offset":200},
// {"token":any JSON value}, {"url":"https://…"}. Null is the first page of the source.

extension WireObject {
    private static let kinds = ["page", "offset", "token", "url"]

    /// The page cursor in a field; `nil` if it is null or absent.
    func cursor(_ name: String) throws(WireError) -> PageCursor? {
        guard let node = value(name) else { return nil }
        return try cursor(name, node)
    }

    func cursors(_ name: String) throws(WireError) -> [PageCursor] {
        guard let node = node(name) else { return [] }
        guard case .array(let elements) = node.content else { throw wrong(name, node, "a list of page cursors") }
        var cursors: [PageCursor] = []
        cursors.reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() { cursors.append(try cursor("\(name)[\(index)]", element)) }
        return cursors
    }

    private func cursor(_ name: String, _ node: JSONNode) throws(WireError) -> PageCursor {
        guard node.kind == .object else {
            throw wrong(
                name, node, "a page cursor such as {\"page\":2}, {\"offset\":100}, {\"token\":…} or {\"url\":\"…\"}")
        }
        let object = try WireObject(node, in: bytes, path: "\(path)\(name).", valid: Self.kinds)
        let names = object.names
        guard names.count == 1 else {
            let found = names.isEmpty ? "none" : names.joined(separator: " and ")
            throw WireError("\(path)\(name): must have one of page, offset, token, url; it has \(found)")
        }
        if let number = try object.integer("page") { return .page(number) }
        if let offset = try object.integer("offset") { return .offset(offset) }
        if let url = try object.text("url") {
            guard !url.isEmpty else { throw WireError("\(path)\(name).url: must not be empty") }
            return .url(url)
        }
        let token = try object.required("token", object.node("token"))
        return .token(RawJSON(token.text(in: bytes)))
    }
}

extension JSONWriter {
    mutating func cursor(_ cursor: PageCursor?) {
        guard let cursor else { return null() }
        beginObject()
        switch cursor {
        case .page(let number):
            key("page")
            int(number)
        case .offset(let offset):
            key("offset")
            int(offset)
        case .token(let json):
            key("token")
            raw(json.text)
        case .url(let url):
            key("url")
            string(url)
        }
        endObject()
    }

    mutating func field(_ name: String, _ text: String) {
        key(name)
        string(text)
    }

    mutating func field(_ name: String, _ number: Int64) {
        key(name)
        int(number)
    }

    /// A field that is left out if there is nothing to say.
    mutating func optional(_ name: String, _ text: String?) {
        if let text { field(name, text) }
    }

    mutating func optional(_ name: String, _ number: Int64?) {
        if let number { field(name, number) }
    }

    mutating func optional(_ name: String, _ moment: Timestamp?) { optional(name, moment?.rfc3339) }

    mutating func optional(_ name: String, _ cursor: PageCursor?) {
        guard let cursor else { return }
        key(name)
        self.cursor(cursor)
    }

    mutating func params(_ params: [String: String]) {
        guard !params.isEmpty else { return }
        key("params")
        beginObject()
        for (name, text) in params.sorted(by: { $0.key < $1.key }) { field(name, text) }
        endObject()
    }

    mutating func limits(_ limits: Limits) {
        guard limits != Limits() else { return }
        key("limits")
        beginObject()
        optional("max_pages", limits.maxPages)
        optional("max_items", limits.maxItems)
        optional("deadline", limits.deadline)
        endObject()
    }
}

extension WireObject {
    /// The `limits` of a job or a crawl; `null` for a limit is no limit.
    func limits(valid: [String]? = ["max_pages", "max_items", "deadline"]) throws(WireError) -> Limits {
        guard value("limits") != nil, let object = try object("limits", valid: valid) else { return Limits() }
        return Limits(
            maxPages: object.value("max_pages") == nil ? nil : try object.integer("max_pages", in: 1 ... .max),
            maxItems: object.value("max_items") == nil ? nil : try object.integer("max_items", in: 1 ... .max),
            deadline: object.value("deadline") == nil ? nil : try object.moment("deadline"))
    }

    /// The `params` of a job or a crawl: strings, and numbers and booleans as they are written.
    func params() throws(WireError) -> [String: String] {
        guard let node = node("params") else { return [:] }
        guard case .object(let fields) = node.content else { throw wrong("params", node, "an object") }
        let object = try WireObject(node, in: bytes, path: "\(path)params.", valid: nil)
        var params: [String: String] = [:]
        for field in fields {
            guard !field.key.isEmpty, !field.keyHasLoneSurrogate else {
                let name = Self.shortened(bytes[field.keyRange])
                throw WireError("\(path)params.\(name): must be a name that is not empty and is Unicode")
            }
            switch field.value.content {
            case .string(let text) where !field.value.hasLoneSurrogate: params[field.key] = text
            case .number(let digits): params[field.key] = digits
            case .bool(let flag): params[field.key] = flag ? "true" : "false"
            case .string, .null, .array, .object:
                throw object.wrong(field.key, field.value, "a string, a number, true or false")
            }
        }
        return params
    }
}
