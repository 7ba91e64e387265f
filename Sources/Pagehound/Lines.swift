import Crawl
import Glibc

/// Writes a line to standard error in one write, so that the lines of threads do not mix.
public func writeToStandardError(_ line: String) { writeLine(line, to: STDERR_FILENO) }

/// Writes a line to a descriptor in one write: it reaches a pipe when it is said.
package func writeLine(_ line: String, to descriptor: Int32) {
    var bytes = Array((line + "\n").utf8)[...]
    while !bytes.isEmpty {
        let written = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        guard written > 0 || errno == EINTR else { return }
        bytes = bytes.dropFirst(max(0, written))
    }
}

extension WorkerEvent {
    /// What a person who reads along wants to know; `nil` for what happens all the time.
    public var line: String? {
        switch self {
        case .assigned(let owned, let crawls): "partition \(owned.partition): owned, \(crawls) crawls in its ledger"
        case .givenUp(let partitions, let lost):
            "partitions \(partitions.map(\.partition).sorted()): \(lost ? "lost" : "given up")"
        case .began(let record): "crawl \(record.crawl): run \(record.run) of \(record.source) begins"
        case .troubled(let record, let error):
            "crawl \(record.crawl): page \(record.pages + 1): \(error.kind.rawValue): \(error.message)"
        case .ended(let record): "crawl \(record.crawl): \(record.ending)"
        case .deadLetter(let letter):
            "dead letter from partition \(letter.partition), offset \(letter.position.offset): "
                + "\(letter.kind.rawValue): \(letter.reason)"
        case .dropped: nil
        case .aborted(let reason): "a transaction was aborted and is made again: \(reason)"
        }
    }
}

extension CrawlRecord {
    /// `complete (total_reached), 80 pages, 7910 items`
    package var ending: String { "\(state), \(pages) pages, \(items) items" + (end?.error.map { ": \($0)" } ?? "") }

    /// `running`, or `complete (total_reached)`.
    package var state: String {
        guard let end else { return status.rawValue }
        return "\(end.verdict.rawValue) (\(end.reason.rawValue))"
    }
}
