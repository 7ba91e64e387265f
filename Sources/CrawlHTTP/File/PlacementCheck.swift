import YAML

/// Checks what `pagination` puts into the request against the request itself.
struct PlacementCheck {
    let file: SourceFile
    let request: RequestReader.Result
    let problems: YAMLProblems

    func run() {
        let places = [file.paging.strategy.place, file.paging.limitPlace].compactMap(\.self)
        for place in places { check(place) }
        if places.count == 2, places[0] == places[1] {
            problems.report("page and limit have the same place in the request", at: request.mapping.place)
        }
    }

    private func check(_ place: Placement) {
        switch place {
        case .query(let name):
            let isKey = file.request.credentialQueryNames.contains(name)
            if isKey || file.request.query.contains(where: { $0.name == name }) {
                report("query", "sets \"\(name)\", which pagination sets for each page")
            }
        case .header(let name):
            if file.request.headers.contains(where: { $0.name.lowercased() == name.lowercased() }) {
                report("headers", "sets \"\(name)\", which pagination sets for each page")
            }
        case .path(let name):
            if !file.request.url.template.params.contains(name) {
                report("url", "has no {{\(name)}}, where pagination would put its value")
            }
        case .body(let pointer):
            guard let body = file.request.body else {
                report("body", "is missing, where pagination puts \"\(pointer)\"; it may be {}")
                return
            }
            do {
                _ = try body.placing("0", at: pointer.tokens[...])
            } catch {
                report("body", "has no place \"\(pointer)\" for pagination: \(error.message)")
            }
        }
    }

    private func report(_ key: String, _ message: String) { request.mapping.report(key, message) }
}
