import Crawl
import Kafka
import Threads

/// The crawl log on Kafka.
///
/// A partition of `jobs` goes through four rooms: the consumer's poll thread is told that it comes or goes; `restore`
/// reads its committed offset and then its ledger; `Membership` tells the receiver, one change after the other; only then
/// is the partition opened, and its jobs are delivered.
public final class KafkaLog: CrawlLog {
    public let maxItemBytes: Int
    public let partitionCount: Int
    let configuration: KafkaLogConfiguration
    private let encoder: WireEncoder
    let producer: TransactionalProducer
    let member = Monitor<Consumer?>(nil)

    /// Looks at the topics and readies the transactional producer. Throws if the cluster cannot be reached, or the topics
    /// are not what they must be.
    public init(_ configuration: KafkaLogConfiguration) async throws(LogFailure) {
        do throws(KafkaError) {
            let facts = try await TopicFacts.check(configuration)
            producer = try await TransactionalProducer.start(configuration.producer(facts))
            encoder = WireEncoder(topics: configuration.topics, maxRecordBytes: facts.maxRecordBytes)
            partitionCount = facts.partitionCount
            maxItemBytes = WireEncoder.maxItemBytes(maxRecordBytes: facts.maxRecordBytes)
            self.configuration = configuration
        } catch {
            throw LogFailure(error.reason)
        }
    }

    public func run(_ receiver: any JobReceiver) async throws(LogFailure) {
        do throws(KafkaError) {
            let membership = try Membership(receiver, configuration)
            let consumer = try Consumer(configuration.consumer, topic: configuration.topics.jobs, handler: membership)
            member.withLock { $0 = consumer }
            let changes = Task { await membership.follow(consumer) }
            let result = await deliver(from: consumer, to: receiver)
            _ = await consumer.close()
            membership.end()
            await changes.value
            member.withLock { $0 = nil }
            if case .failure(let error) = result { throw error }
        } catch {
            throw failure(error)
        }
    }

    /// Delivers until the task is cancelled or the consumer is of no use any more.
    private func deliver(from consumer: Consumer, to receiver: any JobReceiver) async -> Result<Void, KafkaError> {
        do throws(KafkaError) {
            while !Task.isCancelled, let records = try await consumer.nextBatch() {
                if records.isEmpty { continue }
                await receiver.deliver(
                    records.map {
                        WireDecoder.job($0, owned: PartitionEpoch(partition: $0.partition, epoch: $0.epoch))
                    })
            }
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    public func commit(_ transaction: Transaction) async throws(LogFailure) -> CommitOutcome {
        guard let consumer = member.withLock({ $0 }) else { return .aborted(reason: "not a member of the group") }
        let records = encoder.records(for: transaction)
        let offsets = transaction.offsets.map { offset in
            ConsumedOffset(
                Kafka.OwnedPartition(
                    topic: configuration.topics.jobs, partition: offset.owned.partition, epoch: offset.owned.epoch),
                next: offset.next)
        }
        do throws(KafkaError) {
            switch try await producer.commit(records, offsets: offsets, from: consumer) {
            case .committed: return .committed
            case .aborted(let error, let record):
                // The limits were read at the start; a topic whose limit was lowered since refuses for ever.
                if error.isRecordTooLarge, let record {
                    throw KafkaError(error.code, "\(records[record].topic) refuses a record: \(error.reason)")
                }
                if error.isUnauthorized { throw error }
                return .aborted(reason: error.description)
            }
        } catch {
            throw failure(error)
        }
    }

    /// For the person who started two workers with one slot. A worker that was frozen with a transaction open looks the
    /// same: the coordinator fenced it when the transaction timed out.
    private func failure(_ error: KafkaError) -> LogFailure {
        guard error.disposition == .fenced, let slot = configuration.slot else { return LogFailure(error.description) }
        let cause = "another worker has the slot \"\(slot)\" now, or this one was silent for too long"
        return LogFailure("\(cause) (\(error.description))")
    }

    /// Ends the producer. Call it after `run` returned.
    public func close() async { _ = await producer.close() }
}
