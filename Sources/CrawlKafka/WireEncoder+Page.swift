import Crawl
import JSONText
import Kafka

extension WireEncoder {
    /// A page as its source wants it written: one record, or as many parts as it takes, or one record an item, with the
    /// item's place in the page, from 1, in the header `item`.
    func records(for batch: ResultBatch) -> [ProducerRecord] {
        switch batch.output {
        case .page: parts(of: batch)
        case .item(let key): items(of: batch, key: key)
        }
    }

    // MARK: One record a page

    private func parts(of batch: ResultBatch) -> [ProducerRecord] {
        let envelope = Envelope(batch, longest: longestInEnvelope)
        var part = ProducerRecord(
            topic: topics.pages, key: Array(batch.crawl.utf8), value: [],
            headers: envelope.headers(part: batch.page.items.count))
        let groups = ItemGroups(batch.page.items, maxBytes: maxRecordBytes - Self.size(part) - envelope.maxBytes).all
        return groups.enumerated().map { index, group in
            part.headers = envelope.headers(part: index + 1)
            part.value = envelope.value(part: index + 1, of: groups.count, batch.page.items, group)
            return part
        }
    }

    /// What an upstream says may be of any length, the envelope may not: the items need the room.
    private var longestInEnvelope: Int { min(8 << 10, maxRecordBytes / 16) }

    // MARK: One record an item

    private func items(of batch: ResultBatch, key text: String?) -> [ProducerRecord] {
        // A pointer that is none was refused when the source was read.
        let pointer = text.flatMap { try? JSONPointer($0) }
        let extractor = JSONExtractor(items: nil, signals: pointer.map { [$0] } ?? [])
        let envelope = Envelope(batch, longest: longestInEnvelope)
        let crawl = Array(batch.crawl.utf8)
        let shared = envelope.headersOfItems
        return batch.page.items.ranges.enumerated().map { index, range in
            let item = Array(batch.page.items.bytes[range])
            let key = pointer == nil ? crawl : key(of: item, extractor) ?? crawl
            return ProducerRecord(
                topic: topics.pages, key: key, value: item,
                headers: shared + [RecordHeader("item", String(index + 1))])
        }
    }

    /// What the pointer finds: a string without its quotes, a number or boolean as it is written. Without such a value,
    /// or with one that is too long for a key, the item goes under the crawl id.
    private func key(of item: [UInt8], _ extractor: JSONExtractor) -> [UInt8]? {
        guard let found = try? extractor.extract(from: item).signals.first, let slice = found,
            slice.range.count <= longestInEnvelope
        else { return nil }
        switch slice.kind {
        case .string: return slice.string(in: item).map { Array($0.utf8) }
        case .number, .bool: return Array(item[slice.range])
        case .null, .array, .object: return nil
        }
    }
}

/// What a result batch says besides its items. Written once for all parts of a page.
private struct Envelope {
    private let batch: ResultBatch
    /// `{"crawl":…,"run":…,"source":…,"page":…`
    private let beginning: [UInt8]
    /// `"cursor":…,"url":…,"status":…,"fetched_at":…,"total":…`
    private let rest: [UInt8]
    private let cursor: String
    private let url: String

    /// - Parameter longest: bytes that the cursor and the URL may have, each.
    init(_ batch: ResultBatch, longest: Int) {
        self.batch = batch
        var json = JSONWriter()
        json.beginObject()
        json.field("crawl", batch.crawl)
        json.field("run", batch.run)
        json.field("source", batch.source)
        json.field("page", batch.number)
        beginning = json.bytes

        cursor = Self.text(of: batch.cursor, longest: longest)
        url = Self.shortened(batch.page.url, longest: longest)
        json = JSONWriter()
        json.key("cursor")
        json.raw(cursor)
        json.field("url", url)
        json.field("status", Int64(batch.page.status))
        json.field("fetched_at", batch.page.fetchedAt.rfc3339)
        json.key("total")
        if let total = batch.total { json.int(total) } else { json.null() }
        rest = json.bytes
    }

    /// The cursor as JSON; of one that is too long, how long it is.
    private static func text(of cursor: PageCursor?, longest: Int) -> String {
        var json = JSONWriter()
        json.cursor(cursor)
        guard json.bytes.count > longest else { return String(decoding: json.bytes, as: UTF8.self) }
        return "{\"left_out_bytes\":\(json.bytes.count)}"
    }

    private static func shortened(_ url: String, longest: Int) -> String {
        // A control character takes six bytes in JSON.
        guard url.utf8.count * 6 > longest else { return url }
        var json = JSONWriter()
        json.string(url)
        guard json.bytes.count > longest else { return url }
        return String(decoding: Array(url.utf8.prefix(longest / 6)), as: UTF8.self)
    }

    /// Bytes around the items, with numbers of any length.
    var maxBytes: Int { beginning.count + rest.count + 128 }

    func value(part: Int, of parts: Int, _ items: Items, _ group: ItemGroups.Group) -> [UInt8] {
        var value: [UInt8] = []
        value.reserveCapacity(maxBytes + group.bytes)
        value += beginning
        value += ",\"part\":\(part),\"parts\":\(parts),".utf8
        value += rest
        value += ",\"count\":\(group.items.count),\"items\":[".utf8
        group.append(items, to: &value)
        value += "]}".utf8
        return value
    }

    func headers(part: Int) -> [RecordHeader] { common + [RecordHeader("part", String(part))] + tracing }

    /// The whole envelope, for records of one item each.
    var headersOfItems: [RecordHeader] {
        var headers = common
        headers.append(RecordHeader("items", String(batch.page.items.count)))
        headers.append(RecordHeader("cursor", cursor))
        headers.append(RecordHeader("url", url))
        headers.append(RecordHeader("status", String(batch.page.status)))
        headers.append(RecordHeader("fetched-at", batch.page.fetchedAt.rfc3339))
        if let total = batch.total { headers.append(RecordHeader("total", String(total))) }
        return headers + tracing
    }

    private var common: [RecordHeader] {
        [
            RecordHeader("crawl", batch.crawl), RecordHeader("run", String(batch.run)),
            RecordHeader("source", batch.source), RecordHeader("page", String(batch.number)),
            RecordHeader(WireHeaders.contentType, "application/json"),
        ]
    }

    private var tracing: [RecordHeader] {
        batch.traceparent.map { [RecordHeader(WireHeaders.traceparent, $0)] } ?? []
    }
}

/// The items of a page, divided so that each group fits into a record. A page without items is one group.
private struct ItemGroups {
    struct Group {
        /// Indexes of the items.
        var items: Range<Int>
        /// Bytes of the items and what is between them.
        var bytes: Int

        /// Appends the items, with all that lies together copied in one piece.
        func append(_ items: Items, to value: inout [UInt8]) {
            guard var piece = self.items.first.map({ items.ranges[$0] }) else { return }
            for index in self.items.dropFirst() {
                let range = items.ranges[index]
                if ItemGroups.isSeparator(items, before: index) {
                    piece = piece.lowerBound..<range.upperBound
                } else {
                    value += items.bytes[piece]
                    value.append(UInt8(ascii: ","))
                    piece = range
                }
            }
            value += items.bytes[piece]
        }
    }

    private(set) var all: [Group] = []

    init(_ items: Items, maxBytes: Int) {
        var group = Group(items: 0..<0, bytes: 0)
        for index in items.ranges.indices {
            let bytes = items.ranges[index].count
            let separator = group.items.isEmpty ? 0 : Self.separatorBytes(items, before: index)
            if !group.items.isEmpty, group.bytes + separator + bytes > maxBytes {
                all.append(group)
                group = Group(items: index..<index + 1, bytes: bytes)
            } else {
                group.items = group.items.lowerBound..<index + 1
                group.bytes += separator + bytes
            }
        }
        all.append(group)
    }

    private static func separatorBytes(_ items: Items, before index: Int) -> Int {
        guard isSeparator(items, before: index) else { return 1 }
        return items.ranges[index].lowerBound - items.ranges[index - 1].upperBound
    }

    /// True if the upstream's bytes between two items are one comma and a little white space, so that they may be
    /// copied. They are not if an item between them was set aside.
    private static func isSeparator(_ items: Items, before index: Int) -> Bool {
        let (start, end) = (items.ranges[index - 1].upperBound, items.ranges[index].lowerBound)
        guard start < end, end - start <= 64 else { return false }
        var commas = 0
        for at in start..<end {
            switch items.bytes[at] {
            case UInt8(ascii: ","): commas += 1
            case 0x20, 0x09, 0x0A, 0x0D: continue
            default: return false
            }
        }
        return commas == 1
    }
}
