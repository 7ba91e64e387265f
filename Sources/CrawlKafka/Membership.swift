import Crawl
import Dispatch
import Kafka
import Threads

/// Carries changes of ownership from the consumer's poll thread to the receiver, one after the other.
///
/// The poll thread must answer a rebalance within its deadline and may not wait for a restore, so restores run as tasks of
/// their own. A partition that goes while its ledger is being read is marked at once, and its restore comes to nothing.
final class Membership: RebalanceHandler {
    private enum Change: Sendable {
        case assigned([Kafka.OwnedPartition])
        case restored(Kafka.OwnedPartition, [CrawlRecord])
        case givingUp([Kafka.OwnedPartition], lost: Bool, done: DispatchSemaphore, deadline: ContinuousClock.Instant)
    }

    private let receiver: any JobReceiver
    private let topics: Topics
    private let client: ClientConfiguration
    private let reader: PartitionReader
    private let changes: AsyncStream<Change>
    private let tell: AsyncStream<Change>.Continuation
    /// Never shrinks: an epoch comes once.
    private let givenUp = Monitor<Set<Kafka.OwnedPartition>>([])

    init(_ receiver: any JobReceiver, _ configuration: KafkaLogConfiguration) throws(KafkaError) {
        self.receiver = receiver
        topics = configuration.topics
        client = configuration.client
        reader = try PartitionReader(configuration.client)
        (changes, tell) = AsyncStream.makeStream()
    }

    // MARK: On the poll thread

    func assigned(_ partitions: [Kafka.OwnedPartition]) { tell.yield(.assigned(partitions)) }

    func revoking(_ partitions: [Kafka.OwnedPartition], deadline: ContinuousClock.Instant) {
        let done = giveUp(partitions, lost: false, deadline: deadline)
        let left = max(.zero, ContinuousClock.now.duration(to: deadline))
        _ = done.wait(timeout: .now() + .milliseconds(Int(left.milliseconds)))
    }

    func lost(_ partitions: [Kafka.OwnedPartition]) { _ = giveUp(partitions, lost: true, deadline: .now) }

    private func giveUp(
        _ partitions: [Kafka.OwnedPartition], lost: Bool, deadline: ContinuousClock.Instant
    ) -> DispatchSemaphore {
        givenUp.withLock { $0.formUnion(partitions) }
        let done = DispatchSemaphore(value: 0)
        tell.yield(.givingUp(partitions, lost: lost, done: done, deadline: deadline))
        return done
    }

    // MARK: In order

    /// Ends `follow` after the changes that were told.
    func end() { tell.finish() }

    func follow(_ consumer: Consumer) async {
        await withTaskGroup(of: Void.self) { restores in
            for await change in changes {
                switch change {
                case .assigned(let partitions):
                    for partition in partitions { restores.addTask { await self.restore(partition, consumer) } }
                case .restored(let partition, let ledger):
                    if givenUp.withLock({ $0.contains(partition) }) { continue }
                    await receiver.assigned(AssignedPartition(owned: partition.inCrawl, ledger: ledger))
                    consumer.open(partition)
                case .givingUp(let partitions, let lost, let done, let deadline):
                    await giveUp(partitions, lost: lost, by: deadline)
                    done.signal()
                }
            }
        }
        await reader.close()
    }

    /// At the deadline the partitions go, whatever is left undone: the next owner does it again.
    private func giveUp(_ partitions: [Kafka.OwnedPartition], lost: Bool, by deadline: ContinuousClock.Instant) async {
        let receiver = receiver
        let work = Task { await receiver.revoking(partitions.map(\.inCrawl), lost: lost) }
        let alarm = Task {
            try await Task.sleep(until: deadline)
            work.cancel()
        }
        await work.value
        alarm.cancel()
    }

    /// Reads what a new owner has to know, in this order: first the committed offset, which waits for transactions that
    /// hold offsets of the partition; from then on nobody else can commit for it. Then the ledger, up to the high
    /// watermark and not the last stable offset, because a crashed writer's open transaction may lie below committed
    /// records (KAFKA-10167).
    private func restore(_ partition: Kafka.OwnedPartition, _ consumer: Consumer) async {
        while consumer.owns(partition), !givenUp.withLock({ $0.contains(partition) }) {
            do throws(KafkaError) {
                _ = try await consumer.committed([partition])
                let ledger = try await readLedger(of: partition, consumer)
                tell.yield(.restored(partition, ledger))
                return
            } catch {
                client.report(
                    ClientReport(
                        level: 4, facility: "restore", message: "\(partition): \(error.description); trying again"))
                try? await Task.sleep(for: error.code == .badMessage ? .seconds(5) : .milliseconds(200))
            }
        }
    }

    private func readLedger(
        of partition: Kafka.OwnedPartition, _ consumer: Consumer
    ) async throws(KafkaError) -> [CrawlRecord] {
        let ledger = LedgerUnderConstruction()
        let report = client.report
        try await reader.read(
            TopicPartition(topic: topics.crawls, partition: partition.partition),
            isWanted: { consumer.owns(partition) },
            progress: { progress in
                guard progress.waitsForOpenTransaction else { return }
                report(
                    ClientReport(
                        level: 5, facility: "restore",
                        message:
                            "\(progress.partition): waiting at offset \(progress.position) of \(progress.end) for a "
                            + "transaction that another worker left open"))
            },
            deliver: { records in for record in records { ledger.add(record) } })
        return try ledger.records
    }
}

/// The newest record of each crawl of a partition, while it is being read.
private final class LedgerUnderConstruction: Sendable {
    private struct State {
        var newest: [String: CrawlRecord] = [:]
        /// Records that cannot be read and that no newer one of their key has replaced.
        var unreadable: [[UInt8]?: String] = [:]
    }
    private let state = Monitor(State())

    /// Throws if a crawl's newest record cannot be read: an older one, or none, would make the crawl repeat pages.
    var records: [CrawlRecord] {
        get throws(KafkaError) {
            let (newest, unreadable) = state.withLock { ($0.newest, $0.unreadable) }
            guard let first = unreadable.values.sorted().first else { return Array(newest.values) }
            throw KafkaError(
                .badMessage,
                "\(first). A newer version may have written it: this one leaves the partition alone. A tombstone for its key "
                    + "makes the crawl forgotten")
        }
    }

    func add(_ record: ConsumedRecord) {
        state.withLock { state in
            state.unreadable[record.key] = nil
            do throws(WireError) {
                switch try WireDecoder.crawlRecord(record) {
                case .record(let crawl): state.newest[crawl.crawl] = crawl
                case .forgotten(let crawl): state.newest[crawl] = nil
                }
            } catch {
                state.unreadable[record.key] =
                    "\(record.topic)[\(record.partition)] offset \(record.offset): \(error.reason)"
            }
        }
    }
}

extension Kafka.OwnedPartition {
    var inCrawl: PartitionEpoch { PartitionEpoch(partition: partition, epoch: epoch) }
}
