extension Redaction {
    /// The first bytes of a body in quotes, for messages: at most 120, control characters as one space, what is not
    /// UTF-8 as a dot. Secrets are taken out before it is cut, or a part of one would stay.
    func excerpt(_ body: [UInt8]) -> String {
        if body.isEmpty { return "an empty body" }
        let start = text(String(decoding: body.prefix(4_096), as: UTF8.self))
        var shown = ""
        for scalar in start.unicodeScalars {
            if shown.utf8.count + UTF8.width(scalar) > 120 { return "\"\(shown)…\"" }
            switch scalar.properties.generalCategory {
            case .control: if shown.last != " " { shown += " " }
            case _ where scalar == "\u{FFFD}": shown += "."
            default: shown.unicodeScalars.append(scalar)
            }
        }
        return "\"\(shown)\""
    }
}
