/// The first bytes of a body in quotes, for messages: at most 120, control characters as spaces, what is not UTF-8 as
/// a dot.
func excerpt(_ body: [UInt8]) -> String {
    if body.isEmpty { return "an empty body" }
    let start = body.prefix(120)
    var text = ""
    for scalar in String(decoding: start, as: UTF8.self).unicodeScalars {
        switch scalar.properties.generalCategory {
        case .control: if text.last != " " { text += " " }
        case _ where scalar == "\u{FFFD}": text += "."
        default: text.unicodeScalars.append(scalar)
        }
    }
    return "\"\(text)\(body.count > start.count ? "…" : "")\""
}
