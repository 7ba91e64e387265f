import Crawl
import JSONText
import YAML

/// Decodes `pagination` of a source file.
struct PagingReader {
    private enum Kind: String, CaseIterable {
        case pageNumber = "page_number"
        case offset, cursor
        case headerCursor = "header_cursor"
        case jsonLink = "json_link"
        case headerLink = "header_link"
        case singlePage = "single_page"

        /// The keys that only some strategies have.
        var ownKeys: Set<String> {
            switch self {
            case .pageNumber: ["page", "inject_on_first_request", "max_holes"]
            case .offset: ["offset", "inject_on_first_request", "max_holes"]
            case .cursor, .headerCursor: ["cursor", "cursor_path", "stop_on_total"]
            case .jsonLink:
                ["next_path", "next_url_base", "merge_params", "stop_on_total"]
            case .headerLink: ["next_url_base", "merge_params", "stop_on_total"]
            case .singlePage: []
            }
        }
    }

    private let mapping: YAMLMapping?
    private let problems: YAMLProblems

    init(_ mapping: YAMLMapping?, _ problems: YAMLProblems) {
        self.mapping = mapping
        self.problems = problems
    }

    func read() -> (Pagination, PagingPlan) {
        let nothing = (Pagination(.singlePage), PagingPlan(strategy: .singlePage))
        guard let mapping else { return nothing }
        guard let kind = readKind(mapping) else { return nothing }
        refuseKeysOfOthers(kind, mapping)
        var (pagination, paging) = readStrategy(kind, mapping) ?? nothing
        readSignals(mapping, &pagination, &paging)
        readStops(mapping, &pagination)
        readLinks(mapping, &paging)
        mapping.finish()
        return (pagination, paging)
    }

    private func readKind(_ mapping: YAMLMapping) -> Kind? {
        if mapping.string("type") == "keyset" {
            mapping.report("type", "\"keyset\" is not supported yet")
            return nil
        }
        return mapping.choice("type", as: Kind.self, required: true)
    }

    private func refuseKeysOfOthers(_ kind: Kind, _ mapping: YAMLMapping) {
        let others = Kind.allCases.reduce(into: Set<String>()) { $0.formUnion($1.ownKeys) }.subtracting(kind.ownKeys)
        for key in mapping.keys where others.contains(key) {
            // Asked for, so that it is not called unknown as well.
            mapping.allow(key)
            mapping.report(key, "has no meaning for the type \(kind.rawValue)")
        }
    }

    private func readStrategy(_ kind: Kind, _ mapping: YAMLMapping) -> (Pagination, PagingPlan)? {
        switch kind {
        case .pageNumber:
            guard let (first, place) = readCounter("page", first: 1, mapping) else { return nil }
            return (Pagination(.pageNumber(first: first)), PagingPlan(strategy: .pageNumber(first: first, at: place)))
        case .offset:
            guard let (first, place) = readCounter("offset", first: 0, mapping) else { return nil }
            return (Pagination(.offset(first: first)), PagingPlan(strategy: .offset(first: first, at: place)))
        case .cursor, .headerCursor:
            let place = mapping.mapping("cursor", required: true).flatMap { cursor in
                defer { cursor.finish() }
                return readPlacement(cursor)
            }
            guard let path = readCursorPath(kind, mapping), let place else { return nil }
            return (Pagination(.cursor), PagingPlan(strategy: .cursor(at: place, from: path)))
        case .jsonLink:
            guard let path = mapping.signalPath("next_path", required: true) else { return nil }
            return (Pagination(.link), PagingPlan(strategy: .link(from: path)))
        case .headerLink: return (Pagination(.link), PagingPlan(strategy: .headerLink))
        case .singlePage: return (Pagination(.singlePage), PagingPlan(strategy: .singlePage))
        }
    }

    private func readCursorPath(_ kind: Kind, _ mapping: YAMLMapping) -> SignalPath? {
        guard let path = mapping.signalPath("cursor_path", required: true) else { return nil }
        if case .body = path, kind == .headerCursor {
            mapping.report("cursor_path", "must be header:NAME for the type header_cursor")
        }
        return path
    }

    private func readCounter(
        _ key: String, first: Int, _ mapping: YAMLMapping
    ) -> (first: Int64, place: Placement)? {
        guard let counter = mapping.mapping(key, required: true) else { return nil }
        defer { counter.finish() }
        let first = counter.int("first", in: 0...Int.max) ?? first
        return readPlacement(counter).map { (Int64(first), $0) }
    }

    /// `in` and `name`. A strategy without a place for its cursor would ask for the first page for ever.
    private func readPlacement(_ mapping: YAMLMapping) -> Placement? {
        let place = mapping.choice("in", among: ["query", "header", "body", "path"], required: true)
        guard let name = mapping.string("name", required: true), let place else { return nil }
        switch place {
        case "body":
            if let pointer = mapping.pointer("name"), !pointer.tokens.isEmpty { return .body(pointer) }
            if name.isEmpty { mapping.report("name", "must be a JSON Pointer to a place in the body") }
            return nil
        case "header" where !HeaderName.isValid(name):
            mapping.report("name", "is not a header's name")
            return nil
        case "header": return .header(name)
        case "path": return .path(name)
        default:
            if name.isEmpty { mapping.report("name", "must not be empty") }
            return .query(name)
        }
    }

    private func readSignals(_ mapping: YAMLMapping, _ pagination: inout Pagination, _ paging: inout PagingPlan) {
        paging.totalItems = mapping.signalPath("total_items_path")
        paging.totalPages = mapping.signalPath("total_pages_path")
        if paging.totalItems != nil && paging.totalPages != nil {
            mapping.report("total_pages_path", "cannot stand next to total_items_path; keep one of them")
        }
        paging.hasMore = mapping.signalPath("has_more_path")
        guard let limit = mapping.mapping("limit") else { return }
        defer { limit.finish() }
        paging.pageSize = limit.int("value", in: 1...1_000_000, required: true)
        pagination.pageSize = paging.pageSize
        if limit.contains("in") || limit.contains("name") { paging.limitPlace = readPlacement(limit) }
    }

    private func readStops(_ mapping: YAMLMapping, _ pagination: inout Pagination) {
        pagination.stopOnTotal = mapping.bool("stop_on_total") ?? pagination.stopOnTotal
        pagination.stopAfterShortPage = mapping.bool("stop_after_short_page") ?? pagination.stopAfterShortPage
        pagination.maxEmptyPages = mapping.int("max_empty_pages", in: 0...1_000_000) ?? pagination.maxEmptyPages
        pagination.maxHoles = mapping.int("max_holes", in: 0...1_000_000) ?? pagination.maxHoles
        for (index, text) in (mapping.strings("stop_on_status") ?? []).enumerated() {
            if let status = Int(text), (400...599).contains(status) {
                pagination.stopOnStatus.insert(status)
            } else {
                mapping.report("stop_on_status", "must be statuses from 400 to 599; number \(index + 1) is \"\(text)\"")
            }
        }
        if pagination.stopAfterShortPage && pagination.pageSize == nil {
            mapping.report("stop_after_short_page", "needs limit.value, which says what a full page is")
        }
        if pagination.stopOnTotal && !mapping.contains("total_items_path") && !mapping.contains("total_pages_path") {
            mapping.report("stop_on_total", "needs total_items_path or total_pages_path")
        }
    }

    private func readLinks(_ mapping: YAMLMapping, _ paging: inout PagingPlan) {
        paging.injectOnFirstRequest = mapping.bool("inject_on_first_request") ?? true
        if mapping.choice("merge_params", among: ["never", "missing"]) == "missing" { paging.merge = .missing }
        for text in mapping.strings("allow_hosts") ?? [] {
            if let host = AllowedHost(text) {
                paging.allowHosts.append(host)
            } else {
                mapping.report(
                    "allow_hosts", "must be hosts such as cdn.example.com or cdn.example.com:8443, not \"\(text)\"")
            }
        }
        guard let text = mapping.string("next_url_base") else { return }
        let base = URLReference(text)
        if Origin(base) != nil, base.query == nil, base.fragment == nil {
            paging.nextURLBase = base
        } else {
            mapping.report("next_url_base", "must be an absolute http:// or https:// URL without a query")
        }
    }
}
