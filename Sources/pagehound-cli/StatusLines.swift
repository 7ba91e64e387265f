import Crawl
import FoundationEssentials
import Pagehound

/// How crawls are shown to a person.
enum StatusLines {
    /// One line a crawl, the newest first.
    static func table(_ records: [CrawlRecord]) -> String {
        let head = ["CRAWL", "SOURCE", "STATUS", "PAGES", "ITEMS", "UPDATED"]
        let rows = records.sorted { $0.updatedAt > $1.updatedAt }.map { record in
            [
                record.crawl, record.source, record.state, String(record.pages), items(of: record),
                time(record.updatedAt),
            ]
        }
        let widths = head.indices.map { column in ([head] + rows).map { $0[column].count }.max() ?? 0 }
        return ([head] + rows).map { row in
            zip(row, widths).map { $0.padding(to: $1) }.joined(separator: "  ").trimmingTrailingSpaces()
        }.joined(separator: "\n")
    }

    /// All that is known of one crawl.
    static func details(of record: CrawlRecord) -> String {
        var rows = [
            ("crawl", record.crawl), ("run", String(record.run)), ("source", record.source),
            ("status", record.state), ("pages", String(record.pages)), ("items", items(of: record)),
            ("requests", String(record.cost.requests)), ("retries", String(record.retries)),
            ("started", time(record.startedAt)), ("updated", time(record.updatedAt)),
        ]
        if let moment = record.notBefore { rows.append(("not before", time(moment))) }
        if let error = record.end?.error { rows.append(("error", error)) }
        if !record.holes.isEmpty { rows.append(("pages missing", String(record.holes.count))) }
        if record.oversizedItems > 0 { rows.append(("items too large", String(record.oversizedItems))) }
        if record.totalMismatch { rows.append(("note", "the upstream promised another number of items than it gave")) }
        let width = rows.map(\.0.count).max() ?? 0
        return rows.map { $0.0.padding(to: width + 2) + $0.1 }.joined(separator: "\n")
    }

    /// `crawl products-1: complete (total_reached), 80 pages, 7910 items, in 12.4 s`
    static func verdict(of record: CrawlRecord) -> String {
        let seconds = Double((record.updatedAt - record.startedAt).milliseconds) / 1_000
        let rounded = (seconds * 10).rounded() / 10
        return "crawl \(record.crawl): \(record.ending), in \(rounded) s"
    }

    private static func items(of record: CrawlRecord) -> String {
        record.totalItems.map { "\(record.items) of \($0)" } ?? String(record.items)
    }

    private static func time(_ moment: Timestamp) -> String {
        Date(timeIntervalSince1970: Double(moment.milliseconds / 1_000)).formatted(.iso8601)
    }
}

extension String {
    fileprivate func padding(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }

    fileprivate func trimmingTrailingSpaces() -> String {
        String(reversed().drop { $0 == " " }.reversed())
    }
}
