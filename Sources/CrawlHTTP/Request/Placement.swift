import JSONText

/// Where in the request a page number, an offset, a cursor or a page size goes.
enum Placement: Sendable, Hashable {
    case query(String)
    case header(String)
    /// In the JSON body.
    case body(JSONPointer)
    /// In the place `{{name}}` of the URL.
    case path(String)
}

/// A value with its place.
struct PlacedValue: Sendable, Hashable {
    let place: Placement
    /// For query, header and path, not encoded yet.
    let text: String
    /// For a body: JSON text that is passed on as it is.
    let json: String

    init(_ number: Int64, at place: Placement) {
        self.place = place
        text = String(number)
        json = text
    }

    init(text: String, json: String, at place: Placement) {
        self.place = place
        self.text = text
        self.json = json
    }
}
