/// What the process environment says about the way to a server.
///
/// It is read once and given to libcurl explicitly: libcurl by itself would ask `getenv` for each connection, ignores
/// `HTTP_PROXY` in capitals, and leaves the certificate variables to the curl command.
struct NetworkEnvironment: Sendable {
    /// Proxy for `http://` and for `https://` URLs.
    var httpProxy: String?
    var httpsProxy: String?
    /// Hosts that are asked directly, in libcurl's syntax.
    var noProxy: String?
    /// PEM file and hashed directory of trusted certificates; nil is libcurl's default.
    var certificateFile: String?
    var certificateDirectory: String?

    init(_ environment: [String: String]) {
        func first(_ names: String...) -> String? {
            names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        }
        httpsProxy = first("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
        // In a CGI program HTTP_PROXY is what a client sent as the header `Proxy` (CVE-2016-5385).
        let isCGI = environment["REQUEST_METHOD"] != nil
        httpProxy =
            first("http_proxy") ?? (isCGI ? nil : first("HTTP_PROXY")) ?? first("all_proxy", "ALL_PROXY")
        noProxy = first("no_proxy", "NO_PROXY")
        certificateFile = first("CURL_CA_BUNDLE", "SSL_CERT_FILE")
        certificateDirectory = first("SSL_CERT_DIR")
    }

    func proxy(for url: String) -> String? {
        url.prefix(8).lowercased() == "https://" ? httpsProxy : httpProxy
    }
}
