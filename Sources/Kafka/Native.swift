import CRdKafka

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// A list of partitions with offsets, as librdkafka takes and gives them.
struct PartitionList: ~Copyable {
    let native: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>

    init(_ partitions: [(partition: TopicPartition, offset: Int64?)]) {
        native = rd_kafka_topic_partition_list_new(Int32(partitions.count))
        for (partition, offset) in partitions {
            let entry = rd_kafka_topic_partition_list_add(native, partition.topic, partition.partition)!
            if let offset { entry.pointee.offset = offset }
        }
    }

    init(_ partitions: [TopicPartition]) { self.init(partitions.map { ($0, nil) }) }

    deinit { rd_kafka_topic_partition_list_destroy(native) }

    var entries: [PartitionEntry] { PartitionEntry.all(of: native) }
}

/// One line of such a list.
struct PartitionEntry {
    var partition: TopicPartition
    var offset: Int64
    var error: KafkaError?

    /// `nil` if the broker has no offset of the group.
    var committed: Int64? { offset >= 0 ? offset : nil }

    static func all(of list: UnsafePointer<rd_kafka_topic_partition_list_t>) -> [Self] {
        UnsafeBufferPointer(start: list.pointee.elems, count: Int(list.pointee.cnt)).map { entry in
            PartitionEntry(
                partition: TopicPartition(topic: String(cString: entry.topic), partition: entry.partition),
                offset: entry.offset,
                error: entry.err == RD_KAFKA_RESP_ERR_NO_ERROR ? nil : KafkaError(entry.err))
        }
    }
}

extension ConsumedRecord {
    /// Copies a message out of librdkafka's buffers, so that it does not pin the whole fetch response.
    init(copying message: UnsafePointer<rd_kafka_message_t>, of owned: OwnedPartition) {
        let raw = message.pointee
        self.init(
            owned, offset: raw.offset, timestamp: rd_kafka_message_timestamp(message, nil),
            key: bytes(raw.key, raw.key_len), value: bytes(raw.payload, raw.len), headers: copiedHeaders(of: message))
    }

    /// What it takes in memory, roughly.
    var size: Int {
        (key?.count ?? 0) + (value?.count ?? 0) + headers.reduce(0) { $0 + $1.name.count + ($1.value?.count ?? 0) }
            + 128
    }
}

extension ProducerRecord {
    /// Bytes of key, value and headers.
    var size: Int {
        (key?.count ?? 0) + (value?.count ?? 0) + headers.reduce(0) { $0 + $1.name.count + ($1.value?.count ?? 0) }
    }
}

private func bytes(_ start: UnsafeRawPointer?, _ count: Int) -> [UInt8]? {
    start.map { Array(UnsafeRawBufferPointer(start: $0, count: count)) }
}

private func copiedHeaders(of message: UnsafePointer<rd_kafka_message_t>) -> [RecordHeader] {
    var list: OpaquePointer?
    guard rd_kafka_message_headers(message, &list) == RD_KAFKA_RESP_ERR_NO_ERROR, let list else { return [] }
    var headers: [RecordHeader] = []
    var name: UnsafePointer<CChar>?
    var value: UnsafeRawPointer?
    var size = 0
    while rd_kafka_header_get_all(list, headers.count, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR, let name {
        headers.append(RecordHeader(name: bytes(name, strlen(name)) ?? [], value: bytes(value, size)))
    }
    return headers
}

/// Header lists for librdkafka. The list belongs to the caller.
func nativeHeaders(_ headers: [RecordHeader]) -> OpaquePointer? {
    if headers.isEmpty { return nil }
    let list = rd_kafka_headers_new(headers.count)
    for header in headers {
        withBytes(header.name) { name, length in
            withBytes(header.value) { value, size in
                _ = rd_kafka_header_add(list, name?.assumingMemoryBound(to: CChar.self), length, value, size)
            }
        }
    }
    return list
}

/// The bytes for C: a null pointer for null, and never a null pointer for empty.
func withBytes<R>(_ bytes: [UInt8]?, _ body: (UnsafeRawPointer?, Int) -> R) -> R {
    guard let bytes else { return body(nil, 0) }
    return bytes.withUnsafeBytes { buffer in
        if let start = buffer.baseAddress { return body(start, buffer.count) }
        return withUnsafeBytes(of: UInt8(0)) { body($0.baseAddress, 0) }
    }
}
