import CRdKafka

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// What a transaction shows the group coordinator, so that it refuses members of the past (KIP-447).
struct GroupMetadata: ~Copyable {
    let native: OpaquePointer
    let generation: Int32
    let member: String

    /// The metadata of this moment.
    ///
    /// Before the first join, and after membership was lost twice in a row, librdkafka hands out generation -1 with an
    /// empty member id, which brokers accept in a transaction without any check. So both are looked at here.
    init(of consumer: OpaquePointer) throws(KafkaError) {
        guard let metadata = rd_kafka_consumer_group_metadata(consumer) else {
            throw KafkaError(.state, "the consumer is in no group", disposition: .abortable)
        }
        var buffer: UnsafeMutableRawPointer?
        var size = 0
        if let error = rd_kafka_consumer_group_metadata_write(metadata, &buffer, &size) {
            rd_kafka_consumer_group_metadata_destroy(metadata)
            throw KafkaError(consuming: error)
        }
        defer { free(buffer) }
        guard let parsed = Self.parse(UnsafeRawBufferPointer(start: buffer, count: size)) else {
            rd_kafka_consumer_group_metadata_destroy(metadata)
            throw KafkaError(.fail, "this release of librdkafka writes group metadata in an unknown form")
        }
        native = metadata
        (generation, member) = parsed
    }

    deinit { rd_kafka_consumer_group_metadata_destroy(native) }

    /// The serialised form: `CGMDv2:`, generation (4 bytes, as the machine has them), group id, NUL, member id, NUL …
    /// There are getters from 2.8 on; the form has been the same in all releases since 1.7.
    static func parse(_ bytes: UnsafeRawBufferPointer) -> (generation: Int32, member: String)? {
        let magic = Array("CGMDv2:".utf8)
        guard bytes.count > magic.count + 4, bytes.prefix(magic.count).elementsEqual(magic) else { return nil }
        let generation = bytes.loadUnaligned(fromByteOffset: magic.count, as: Int32.self)
        let strings = bytes.dropFirst(magic.count + 4).split(separator: 0, omittingEmptySubsequences: false)
        guard strings.count >= 3 else { return nil }
        return (generation, String(decoding: strings[1], as: UTF8.self))
    }

    /// Throws if a coordinator would let this pass without a check, or if it is not of the membership that owns the
    /// partitions.
    func check(member expected: String) throws(KafkaError) {
        guard generation >= 0, !member.isEmpty else {
            throw KafkaError(.assignmentLost, "the consumer is no member of its group", disposition: .abortable)
        }
        guard member == expected else {
            throw KafkaError(.assignmentLost, "the consumer joined its group anew", disposition: .abortable)
        }
    }
}
