import Foundation
import Kafka
import Threads

/// What a `read_committed` reader finds on the topics of a deployment.
struct Committed {
    /// Of each crawl, the batches in the order of the log.
    var pages: [String: [Batch]] = [:]
    /// Of each crawl, the records in which it has ended.
    var ends: [String: [EndRecord]] = [:]
    /// How many records each topic holds.
    var counts: [String: Int] = [:]

    struct Batch: Decodable, Hashable {
        var crawl: String
        var run: Int64
        var page: Int64
        var part: Int64
        var parts: Int64
        var items: [Item]
    }

    /// An item of an upstream for tests; only its identity matters.
    struct Item: Decodable, Hashable {
        var id: String?
        var alpha3: String?

        enum CodingKeys: String, CodingKey {
            case id
            case alpha3 = "alpha_3"
        }

        var identity: String { id ?? alpha3 ?? "" }
    }

    struct EndRecord: Decodable, Hashable {
        var crawl: String
        var run: Int64
        var step: Int64
        var status: String
        var pages: Int64
        var items: Int64
        var verdict: String?
        var reason: String?
    }

    /// Reads `pages` and `crawls` whole.
    static func read(_ deployment: Deployment) async throws -> Committed {
        let (client, pages, crawls) = (deployment.client, deployment.pages, deployment.crawls)
        var found = Committed()
        let decoder = JSONDecoder()
        for record in try await records(of: pages, client) {
            let batch = try decoder.decode(Batch.self, from: Data(record.value ?? []))
            found.pages[batch.crawl, default: []].append(batch)
            found.counts[pages, default: 0] += 1
        }
        for record in try await records(of: crawls, client) {
            found.counts[crawls, default: 0] += 1
            guard let value = record.value else { continue }
            let end = try decoder.decode(EndRecord.self, from: Data(value))
            if end.status == "ended" { found.ends[end.crawl, default: []].append(end) }
        }
        return found
    }

    /// All committed records of a topic, partition after partition.
    static func records(of topic: String, _ client: ClientConfiguration) async throws -> [ConsumedRecord] {
        let admin = try Admin(client)
        let count = try await admin.partitionCounts([topic])[topic]
        await admin.close()
        let reader = try PartitionReader(client)
        let collected = Box()
        for partition in 0..<Int32(count ?? 0) {
            try await reader.read(TopicPartition(topic: topic, partition: partition)) { records in
                collected.append(records)
            }
        }
        await reader.close()
        return collected.records
    }

    /// What is wrong with a crawl of `count` pages with distinct items; empty if each page is there once and in order.
    func faults(of crawl: String, pages count: Int64, itemsPerPage: Int) -> [String] {
        var faults: [String] = []
        let batches = pages[crawl] ?? []
        let numbers = batches.map(\.page)
        if numbers != Array(1...count) {
            let times = Dictionary(numbers.map { ($0, 1) }, uniquingKeysWith: +)
            let missing = (1...count).filter { times[$0] == nil }
            let twice = times.filter { $0.value > 1 }.keys.sorted()
            faults.append("\(crawl): \(numbers.count) pages; missing \(missing.count), more than once \(twice)")
            if missing.isEmpty, twice.isEmpty { faults.append("\(crawl): out of order \(numbers)") }
        }
        let identities = batches.flatMap(\.items).map(\.identity)
        if Set(identities).count != identities.count { faults.append("\(crawl): an item came twice") }
        if identities.count != Int(count) * itemsPerPage { faults.append("\(crawl): \(identities.count) items") }
        let verdicts = ends[crawl] ?? []
        if verdicts.count != 1 { faults.append("\(crawl): \(verdicts.count) verdicts") }
        if let end = verdicts.first, end.verdict != "complete" || end.pages != count || end.run != 1 {
            faults.append("\(crawl): ended as \(end)")
        }
        return faults
    }
}

private final class Box: Sendable {
    private let content = Monitor<[ConsumedRecord]>([])
    var records: [ConsumedRecord] { content.withLock { $0 } }
    func append(_ records: [ConsumedRecord]) { content.withLock { $0 += records } }
}
