/// A header of a record. A null value is not the same as an empty one, names may repeat, and neither needs to be text.
public struct RecordHeader: Sendable, Hashable {
    public var name: [UInt8]
    public var value: [UInt8]?

    public init(name: [UInt8], value: [UInt8]?) {
        self.name = name
        self.value = value
    }

    public init(_ name: String, _ value: String) { self.init(name: Array(name.utf8), value: Array(value.utf8)) }
}

/// A partition of a topic.
public struct TopicPartition: Sendable, Hashable, CustomStringConvertible {
    public var topic: String
    public var partition: Int32

    public init(topic: String, partition: Int32) {
        self.topic = topic
        self.partition = partition
    }

    public var description: String { "\(topic)[\(partition)]" }
}

/// A partition during one ownership by one consumer: the epoch is new at every assignment in this process, so that what
/// belongs to an earlier ownership is recognised (KIP-447 checks the member, not the partition).
public struct OwnedPartition: Sendable, Hashable, CustomStringConvertible {
    public var topic: String
    public var partition: Int32
    public var epoch: Int64

    public init(topic: String, partition: Int32, epoch: Int64) {
        self.topic = topic
        self.partition = partition
        self.epoch = epoch
    }

    public var topicPartition: TopicPartition { TopicPartition(topic: topic, partition: partition) }
    public var description: String { "\(topic)[\(partition)] epoch \(epoch)" }
}

/// A record as it was read, copied out of librdkafka's buffers. A null value is a tombstone.
public struct ConsumedRecord: Sendable, Hashable {
    public var topic: String
    public var partition: Int32
    /// The ownership under which it was delivered; 0 from a reader that owns nothing.
    public var epoch: Int64
    public var offset: Int64
    /// Milliseconds since 1970; -1 if the record has none.
    public var timestamp: Int64
    public var key: [UInt8]?
    public var value: [UInt8]?
    public var headers: [RecordHeader]

    public init(
        _ owned: OwnedPartition, offset: Int64, timestamp: Int64, key: [UInt8]?, value: [UInt8]?,
        headers: [RecordHeader] = []
    ) {
        self.topic = owned.topic
        self.partition = owned.partition
        self.epoch = owned.epoch
        self.offset = offset
        self.timestamp = timestamp
        self.key = key
        self.value = value
        self.headers = headers
    }

    public var owned: OwnedPartition { OwnedPartition(topic: topic, partition: partition, epoch: epoch) }
}

/// A record to be written. A null value is a tombstone.
public struct ProducerRecord: Sendable, Hashable {
    public var topic: String
    /// `nil` lets the key's hash choose (murmur2, as Java clients do).
    public var partition: Int32?
    public var key: [UInt8]?
    public var value: [UInt8]?
    public var headers: [RecordHeader]
    /// Milliseconds since 1970; `nil` is now.
    public var timestamp: Int64?

    public init(
        topic: String, partition: Int32? = nil, key: [UInt8]? = nil, value: [UInt8]?, headers: [RecordHeader] = [],
        timestamp: Int64? = nil
    ) {
        self.topic = topic
        self.partition = partition
        self.key = key
        self.value = value
        self.headers = headers
        self.timestamp = timestamp
    }
}

/// Where a record was written.
public struct RecordPosition: Sendable, Hashable {
    public var topic: String
    public var partition: Int32
    public var offset: Int64

    public init(topic: String, partition: Int32, offset: Int64) {
        self.topic = topic
        self.partition = partition
        self.offset = offset
    }
}

/// The offset that an owned partition continues with: everything before it is done.
public struct ConsumedOffset: Sendable, Hashable {
    public var owned: OwnedPartition
    public var next: Int64

    public init(_ owned: OwnedPartition, next: Int64) {
        self.owned = owned
        self.next = next
    }
}
