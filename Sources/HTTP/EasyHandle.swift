import CCurl

/// Everything that is the same for all requests of a client.
struct TransferSettings: Sendable {
    var limits: HTTPLimits
    var userAgent: String
    var network: NetworkEnvironment
}

/// A libcurl easy handle: the options and the result of one transfer at a time. Frees what it owns.
///
/// It must be taken out of its multi handle before it is released.
final class EasyHandle {
    let pointer: UnsafeMutableRawPointer
    private var headerList: UnsafeMutablePointer<curl_slist>?
    private let errorText: UnsafeMutablePointer<CChar>

    init() {
        guard let pointer = curl_easy_init() else { fatalError("out of memory: curl_easy_init") }
        self.pointer = pointer
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        curl_easy_cleanup(pointer)
        curl_slist_free_all(headerList)
        errorText.deallocate()
    }

    /// Forgets the transfer before. Connections are kept: they belong to the multi handle.
    func reset() {
        curl_easy_reset(pointer)
        curl_slist_free_all(headerList)
        headerList = nil
        errorText[0] = 0
    }

    func onReceive(
        owner: UnsafeMutableRawPointer, header: @escaping ccurl_receive, content: @escaping ccurl_receive
    ) {
        ccurl_set_pointer(pointer, CURLOPT_HEADERDATA, owner)
        ccurl_set_pointer(pointer, CURLOPT_WRITEDATA, owner)
        ccurl_set_receive(pointer, CURLOPT_HEADERFUNCTION, header)
        ccurl_set_receive(pointer, CURLOPT_WRITEFUNCTION, content)
    }

    private func set(_ option: CURLoption, _ value: Int) { ccurl_set_long(pointer, option, value) }
    private func set(_ option: CURLoption, _ value: String?) { ccurl_set_string(pointer, option, value) }
}

// Before a transfer.
extension EasyHandle {
    func prepare(_ request: HTTPRequest, _ settings: TransferSettings) {
        ccurl_set_pointer(pointer, CURLOPT_ERRORBUFFER, errorText)
        set(CURLOPT_URL, request.url)
        set(CURLOPT_PATH_AS_IS, 1)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
        // Over TLS, wait for the first connection to say whether it can be shared before opening others.
        set(CURLOPT_PIPEWAIT, request.url.prefix(6).lowercased() == "https:" ? 1 : 0)
        set(CURLOPT_TCP_NODELAY, 1)
        set(CURLOPT_BUFFERSIZE, 64 << 10)
        set(CURLOPT_NOSIGNAL, 1)
        // Otherwise giving up a slow name lookup would hold up the loop until the lookup is done.
        set(CURLOPT_QUICK_EXIT, 1)
        set(CURLOPT_USERAGENT, settings.userAgent)
        set(CURLOPT_CONNECTTIMEOUT_MS, settings.limits.connectTimeout.curlMilliseconds)
        set(CURLOPT_TIMEOUT_MS, settings.limits.totalTimeout.curlMilliseconds)
        apply(settings.network, request.url)
        apply(request)
    }

    private func apply(_ network: NetworkEnvironment, _ url: String) {
        // Both are always set: an empty string keeps libcurl from looking at the environment itself.
        set(CURLOPT_PROXY, network.proxy(for: url) ?? "")
        set(CURLOPT_NOPROXY, network.noProxy ?? "")
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        if let file = network.certificateFile { set(CURLOPT_CAINFO, file) }
        if let directory = network.certificateDirectory { set(CURLOPT_CAPATH, directory) }
    }

    private func apply(_ request: HTTPRequest) {
        if let body = request.body {
            ccurl_set_offset(pointer, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
            body.withUnsafeBytes { bytes in
                // The size decides, but a null pointer would mean a body from a read callback.
                let start = bytes.baseAddress ?? UnsafeRawPointer(errorText)
                ccurl_set_pointer(pointer, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: start))
            }
        }
        if request.method == "HEAD" {
            set(CURLOPT_NOBODY, 1)
        } else if request.method == "POST", request.body == nil {
            ccurl_set_offset(pointer, CURLOPT_POSTFIELDSIZE_LARGE, 0)
            set(CURLOPT_POST, 1)
        } else if request.body != nil || request.method != "GET" {
            set(CURLOPT_CUSTOMREQUEST, request.method)
        }
        for (name, value) in request.headers {
            // "Name:" would take the field away, "Name;" is how libcurl spells an empty one.
            add(value.isEmpty ? "\(name);" : "\(name): \(value)")
        }
        if !request.hasHeader("accept-encoding") { add("Accept-Encoding: \(ContentCoding.accepted)") }
        if request.body != nil || request.method == "POST" {
            if !request.hasHeader("content-type") { add("Content-Type:") }
            // No waiting for "100 Continue", which many servers never send.
            if !request.hasHeader("expect") { add("Expect:") }
        }
        ccurl_set_list(pointer, CURLOPT_HTTPHEADER, headerList)
    }

    private func add(_ line: String) {
        guard let list = curl_slist_append(headerList, line) else { fatalError("out of memory: curl_slist_append") }
        headerList = list
    }
}

// During and after a transfer.
extension EasyHandle {
    var status: Int { long(CURLINFO_RESPONSE_CODE) }
    var isHTTP2: Bool { long(CURLINFO_HTTP_VERSION) >= Int(CURL_HTTP_VERSION_2_0) }
    /// Whether the request has been given to a connection.
    var hasConnection: Bool { offset(CURLINFO_PRETRANSFER_TIME_T) > 0 }
    var bytesSent: Int64 { offset(CURLINFO_SIZE_UPLOAD_T) }

    private func long(_ info: CURLINFO) -> Int {
        var value = 0
        ccurl_get_long(pointer, info, &value)
        return value
    }

    private func offset(_ info: CURLINFO) -> Int64 {
        var value: curl_off_t = 0
        ccurl_get_offset(pointer, info, &value)
        return Int64(value)
    }

    /// libcurl's error codes in our kinds.
    func fault(_ code: CURLcode, isInHeaders: Bool) -> ContentFault {
        let text = errorText[0] == 0 ? String(cString: curl_easy_strerror(code)) : String(cString: errorText)
        let proxyStatus = long(CURLINFO_HTTP_CONNECTCODE)
        let isRefusedByProxy = status == 0 && proxyStatus != 0 && proxyStatus / 100 != 2
        let kind = isRefusedByProxy ? .connect : EasyHandle.kind(code, text, isInHeaders: isInHeaders)
        return ContentFault(kind: kind, reason: text)
    }

    private static func kind(_ code: CURLcode, _ text: String, isInHeaders: Bool) -> HTTPError.Kind {
        switch code {
        case CURLE_URL_MALFORMAT: .invalidURL
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .resolve
        case CURLE_COULDNT_CONNECT, CURLE_PROXY, CURLE_INTERFACE_FAILED: .connect
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CACERT_BADFILE,
            CURLE_SSL_CRL_BADFILE, CURLE_SSL_INVALIDCERTSTATUS:
            .tlsVerification
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_USE_SSL_FAILED,
            CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED:
            .tls
        case CURLE_OPERATION_TIMEDOUT: .timeout
        case CURLE_PARTIAL_FILE: isInHeaders ? .reset : .truncated
        case CURLE_BAD_CONTENT_ENCODING: .badEncoding
        // A bad chunk has no code of its own.
        case CURLE_RECV_ERROR where text.contains("hunk"): .truncated
        case CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING, CURLE_HTTP2, CURLE_HTTP2_STREAM: .reset
        // One header line beyond libcurl's limit, which was "out of memory" before 8.6.
        case CURLE_OUT_OF_MEMORY where isInHeaders, CURLcode(rawValue: 100) where isInHeaders: .headersTooLarge
        default: .other
        }
    }
}
