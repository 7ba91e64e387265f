import Crawl
import HTTP
import JSONText

/// Takes the items and the signals out of a successful response.
struct PageReader: Sendable {
    /// Why a success is not what was promised, in words.
    struct Problem: Error, Sendable, Hashable {
        let message: String
    }

    private let extraction: ExtractionPlan
    private let signals: SignalReader
    private let extractor: JSONExtractor
    private let credentialNames: Set<String>

    init(_ file: SourceFile) {
        extraction = file.extraction
        signals = SignalReader(file.paging)
        extractor = JSONExtractor(items: file.extraction.items, signals: signals.pointers)
        credentialNames = file.request.credentialQueryNames
    }

    /// - Parameters:
    ///   - url: that answered.
    ///   - page: the number of the page in the run; on the first one the items must be there.
    func read(
        _ response: HTTPResponse, at url: URLReference, page: Int64
    ) throws(Problem) -> (items: Items, signals: Signals) {
        // No content is a page without items (RFC 9110, section 15.3.5), whatever the status says about it.
        if response.body.allSatisfy({ [0x20, 0x09, 0x0A, 0x0D].contains($0) }) {
            guard !mayHaveBeenCut(response, url) else {
                throw Problem(message: "it has neither content nor a length, so that it may have been cut")
            }
            return (Items(bytes: [], ranges: []), signals(response, url) { _ in nil })
        }
        let body = try utf8(response)
        let found: JSONExtraction
        do {
            found = try extractor.extract(from: body)
        } catch {
            throw Problem(message: describe(error, response))
        }
        let ranges: [Range<Int>]
        switch found.items {
        case .found(let list): ranges = list
        case .null: ranges = []
        case .missing:
            guard extraction.acceptsMissingItems(onPage: page) else {
                throw Problem(message: "it has nothing at \(extraction.items.shown), where the items should be")
            }
            ranges = []
        }
        if ranges.isEmpty, let errors = reportedErrors(body) {
            throw Problem(message: "it has no items and reports errors: \(errors)")
        }
        let pointers = signals.pointers
        let read = signals(response, url) { pointer in
            guard let index = pointers.firstIndex(of: pointer), let slice = found.signals[index] else { return nil }
            return .value(kind: slice.kind, text: slice.text(in: body), string: slice.string(in: body))
        }
        return (Items(bytes: body, ranges: ranges), read)
    }

    /// Without a length, the content of HTTP/1 ends where the connection does (RFC 9112, section 6.3), and an upstream that
    /// broke off looks the same as one that had nothing to say. TLS tells the two apart, and HTTP/2 is not spoken without.
    private func mayHaveBeenCut(_ response: HTTPResponse, _ url: URLReference) -> Bool {
        let hasLength = ["content-length", "transfer-encoding"].contains { response.headers.first($0) != nil }
        let hasNone = response.status == 204 || response.status == 205
        return !hasLength && !hasNone && response.body.isEmpty && url.scheme?.lowercased() == "http"
    }

    /// What a page says under `errors` or `error`, as GraphQL (specification, section 7.1) and JSON:API do with a 200.
    /// A page without items that reports an error is not the empty page that ends a crawl; with items it is a page.
    private func reportedErrors(_ body: [UInt8]) -> String? {
        let found = try? Self.errorsExtractor.extract(from: body)
        for slice in found?.signals.compactMap(\.self) ?? [] {
            let text = slice.text(in: body)
            let isNothing =
                switch slice.kind {
                case .null: true
                case .bool: text == "false"
                case .number: Double(text) == 0
                case .string: text == "\"\""
                case .array, .object: !text.utf8.dropFirst().dropLast().contains { $0 > 0x20 }
                }
            if !isNothing { return String(text.prefix(120)) }
        }
        return nil
    }

    private static let errorsExtractor = JSONExtractor(
        items: nil, signals: [JSONPointer(tokens: ["errors"]), JSONPointer(tokens: ["error"])])

    private func signals(
        _ response: HTTPResponse, _ url: URLReference, _ value: (JSONPointer) -> SignalReader.Found?
    ) -> Signals {
        var read = signals.read(links: response.headers.all("link"), url: url) { path in
            switch path {
            case .body(let pointer): value(pointer) ?? .absent
            case .header(let name): response.headers.first(name).map(SignalReader.Found.header) ?? .absent
            }
        }
        // A next link often repeats the whole request; its credentials are added again when it is asked for, and do
        // not belong into a job.
        if case .url(let next) = read.next, !credentialNames.isEmpty {
            var reference = URLReference(next)
            var query = QueryText(reference.query)
            for name in credentialNames { query.remove(name) }
            reference.query = query.text
            read.next = .url(reference.text)
        }
        return read
    }

    private func utf8(_ response: HTTPResponse) throws(Problem) -> [UInt8] {
        do {
            return try TextEncoding.utf8(response.body, contentType: response.headers.first("content-type"))
        } catch {
            throw Problem(message: error.message)
        }
    }

    private func describe(_ error: JSONError, _ response: HTTPResponse) -> String {
        let type = response.headers.first("content-type").map { "\"\($0)\"" } ?? "no content type"
        switch error.kind {
        case .unexpected: return error.description
        case .notUTF8, .malformed, .tooDeep, .tooLarge, .badPointer, .noMemory:
            return "it is not usable JSON (\(type)): \(error)"
        }
    }
}

/// Where the items of a page are.
struct ExtractionPlan: Sendable, Hashable {
    enum MissingItems: Sendable, Hashable {
        case error, empty
        /// An error on page 1, where a wrong path shows; empty later, for upstreams that leave an empty list out.
        case errorOnFirstPage
    }

    var items: JSONPointer
    var missingItems: MissingItems

    func acceptsMissingItems(onPage page: Int64) -> Bool {
        switch missingItems {
        case .error: false
        case .empty: true
        case .errorOnFirstPage: page > 1
        }
    }
}

extension JSONPointer {
    /// For messages: the empty pointer is invisible otherwise.
    var shown: String { tokens.isEmpty ? "the top" : "\"\(description)\"" }
}
