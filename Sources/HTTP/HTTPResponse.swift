/// A whole response: one that was cut, or that could not be decoded, is an `HTTPError` instead.
public struct HTTPResponse: Sendable {
    /// The status code of the final response, 200 to 599 where the server keeps to RFC 9110.
    public var status: Int
    public var headers: HTTPHeaders
    /// The content with its content codings undone. Its capacity is at least `count + 64`, so that a parser that reads
    /// past the end, as simdjson does, can work in place.
    public var body: [UInt8]
    /// The size in bytes of the content as received, before decompression; headers do not count.
    public var wireBytes: Int64
    /// The URL that was asked for.
    public var url: String

    public init(status: Int, headers: HTTPHeaders, body: [UInt8], wireBytes: Int64, url: String) {
        self.status = status
        self.headers = headers
        self.body = body
        self.wireBytes = wireBytes
        self.url = url
    }
}
