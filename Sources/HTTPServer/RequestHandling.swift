import CMicrohttpd

/// libmicrohttpd's callbacks: collects a request, then lets the handler answer it.
final class RequestHandling: Sendable {
    private let maxBodyBytes: Int
    private let handler: @Sendable (ServerRequest) -> ServerResponse

    init(maxBodyBytes: Int, handler: @escaping @Sendable (ServerRequest) -> ServerResponse) {
        self.maxBodyBytes = maxBodyBytes
        self.handler = handler
    }

    /// What is known of a request between the calls. libmicrohttpd makes them one after another, on one thread.
    private final class Progress {
        let target: String
        var hasBegun = false
        var body: [UInt8] = []
        var isTooLarge = false

        init(target: String) { self.target = target }
    }

    static let begin:
        @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?)
            -> UnsafeMutableRawPointer? = { _, target, _ in
                Unmanaged.passRetained(Progress(target: String(cString: target!))).toOpaque()
            }

    static let end: MHD_RequestCompletedCallback = { _, _, state, _ in
        guard let progress = state?.pointee else { return }
        Unmanaged<Progress>.fromOpaque(progress).release()
        state?.pointee = nil
    }

    static let handle: MHD_AccessHandlerCallback = { owner, connection, _, method, _, upload, uploadCount, state in
        let handling = Unmanaged<RequestHandling>.fromOpaque(owner!).takeUnretainedValue()
        let progress = Unmanaged<Progress>.fromOpaque(state!.pointee!).takeUnretainedValue()
        guard progress.hasBegun else {
            progress.hasBegun = true
            return .YES
        }
        guard uploadCount!.pointee == 0 else {
            handling.take(UnsafeRawBufferPointer(start: upload, count: uploadCount!.pointee), progress)
            uploadCount!.pointee = 0
            return .YES
        }
        return send(handling.answer(connection!, String(cString: method!), progress), on: connection!)
    }

    private func take(_ chunk: UnsafeRawBufferPointer, _ progress: Progress) {
        progress.isTooLarge = progress.isTooLarge || chunk.count > maxBodyBytes - progress.body.count
        if progress.isTooLarge { progress.body = [] } else { progress.body.append(contentsOf: chunk) }
    }

    private func answer(_ connection: OpaquePointer, _ method: String, _ progress: Progress) -> ServerResponse {
        guard !progress.isTooLarge else { return .text("the body has more than \(maxBodyBytes) bytes\n", status: 413) }
        return handler(
            ServerRequest(
                method: method, target: progress.target, headers: RequestHandling.headers(of: connection),
                body: progress.body))
    }

    private static func headers(of connection: OpaquePointer) -> [(name: String, value: String)] {
        var lines: [(name: String, value: String)] = []
        withUnsafeMutablePointer(to: &lines) { lines in
            let add: MHD_KeyValueIterator = { lines, _, name, value in
                lines!.assumingMemoryBound(to: [(name: String, value: String)].self).pointee
                    .append((String(cString: name!), value.map { String(cString: $0) } ?? ""))
                return .YES
            }
            _ = MHD_get_connection_values(connection, .HEADER_KIND, add, lines)
        }
        return lines
    }

    private static func send(_ answer: ServerResponse, on connection: OpaquePointer) -> MHD_Result {
        var body = answer.body
        let created = body.withUnsafeMutableBytes { bytes in
            MHD_create_response_from_buffer(bytes.count, bytes.baseAddress, .RESPMEM_MUST_COPY)
        }
        guard let response = created else { return .NO }
        defer { MHD_destroy_response(response) }
        for (name, value) in answer.headers
        where MHD_add_response_header(response, name, value) != .YES {
            return send(.text("the handler gave an invalid header \(name)\n", status: 500), on: connection)
        }
        return MHD_queue_response(connection, UInt32(clamping: answer.status), response)
    }
}
