/// JSON text exactly as it was received: never parsed into a number or a string and written out again, so that
/// 2^64, `1.0`, duplicate keys and key order survive.
public struct RawJSON: Sendable, Hashable {
    public let text: String

    /// - Parameter text: one well-formed JSON value. Whoever makes a `RawJSON` has validated it.
    public init(_ text: String) { self.text = text }
}

/// Where a page is in its source. *Position*, *offset* and *partition* alone are Kafka's words.
public enum PageCursor: Sendable, Hashable {
    /// The number of the page, as the upstream counts.
    case page(Int64)
    /// How many items come before the page.
    case offset(Int64)
    /// What the upstream said stands for the page: any JSON value, opaque. `0`, `false` and `" x "` are tokens.
    case token(RawJSON)
    /// The absolute URL of the page.
    case url(String)
}
