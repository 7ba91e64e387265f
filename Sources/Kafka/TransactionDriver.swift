import CRdKafka
import Synchronization
import Threads

/// How far a transaction is. Tests stop here, to crash or to let others interfere, and throw to have it aborted.
public enum TransactionStep: Sendable, CaseIterable { case begun, written, offsetsSent }

/// The state machine of transactions. Everything but the counters runs on the transaction thread.
final class TransactionDriver: @unchecked Sendable {
    let transactionalId: String
    private let configuration: TransactionConfiguration
    private let isSlot: Bool
    private let report: @Sendable (ClientReport) -> Void
    private let recycles = Atomic<Int>(-1)
    private let crashed = Atomic(false)
    /// Instances that are being freed.
    private let leaving = Monitor(0)

    // Only the transaction thread touches these.
    private var instance: ProducerInstance?
    private var lastBatch: UInt32 = 0
    private var offsetsThread = CallThread("kafka-offsets")
    private var end: KafkaError?

    /// How long one call may take before it is made again.
    private static let slice: Int32 = 5_000

    init(_ configuration: TransactionConfiguration) throws(KafkaError) {
        self.configuration = configuration
        transactionalId = configuration.identity.makeId()
        isSlot = configuration.identity.isSlot
        report = configuration.producer.client.report
        _ = try configuration.settings(transactionalId)
    }

    var recycleCount: Int { max(0, recycles.load(ordering: .relaxed)) }

    // MARK: Instances

    /// Makes an instance and introduces it to the coordinator, which ends what the id left open.
    @discardableResult
    func prepare(until deadline: ContinuousClock.Instant) throws(KafkaError) -> ProducerInstance {
        if let end { throw end }
        if let instance { return instance }
        while true {
            do {
                let fresh = try makeInstance(until: deadline)
                recycles.add(1, ordering: .relaxed)
                instance = fresh
                return fresh
            } catch {
                // While the coordinator ends a predecessor's transaction, or moves, librdkafka may call that final.
                guard error.code.disposition == .retriable, !deadline.isPast else { throw error }
                pause(.milliseconds(50))
            }
        }
    }

    private func makeInstance(until deadline: ContinuousClock.Instant) throws(KafkaError) -> ProducerInstance {
        let fresh = try ProducerInstance(configuration.settings(transactionalId))
        do {
            try introduce(fresh, until: deadline)
            try fresh.warmUp(configuration.producer.topics)
            return fresh
        } catch {
            free(fresh)
            throw fresh.handle.explained(error)
        }
    }

    private func introduce(_ fresh: ProducerInstance, until deadline: ContinuousClock.Instant) throws(KafkaError) {
        while true {
            let timeout = min(Self.slice, deadline.millisecondsLeft)
            let error = try call(fresh) { rd_kafka_init_transactions($0, timeout) }
            guard let error else { return }
            guard error.disposition == .retriable, !deadline.isPast else { throw error }
            pause(.milliseconds(10))
        }
    }

    /// An end of a transaction that was on its way in a connection that broke is sent again, and the first may still reach
    /// the coordinator, in the next transaction (librdkafka has no KIP-890: #5423). A new instance fences it.
    private func discardIfSuspect() {
        guard let instance, instance.handle.hasLostConnection else { return }
        say("replaced after a connection broke")
        discard()
    }

    func prepareForNext() {
        if hasCrashed { return discard() }
        discardIfSuspect()
        if instance != nil || end != nil { return }
        do { try prepare(until: .now + .seconds(5)) } catch { say("not ready yet: \(error)") }
    }

    /// Gives the instance up. The next one ends what it left open.
    func discard() {
        guard let instance else { return }
        self.instance = nil
        free(instance)
    }

    private func free(_ instance: ProducerInstance) {
        let leaving = leaving
        leaving.withLock { $0 += 1 }
        startThread("kafka-destroy") {
            instance.destroy()
            leaving.update { $0 -= 1 }
        }
    }

    /// From now on no call is made, so that what is open stays open, as if the process had been killed. For tests.
    func crash() { crashed.store(true, ordering: .relaxed) }

    private var hasCrashed: Bool { crashed.load(ordering: .relaxed) }

    func waitUntilDiscarded(_ deadline: ContinuousClock.Instant) { leaving.wait(until: deadline) { $0 == 0 } }

    private func say(_ message: String) {
        report(ClientReport(level: 5, facility: "recycle", message: "\(transactionalId): \(message)"))
    }

    // MARK: One transaction

    func run(_ request: TransactionRequest) throws(KafkaError) -> TransactionResult {
        let instance: ProducerInstance
        do {
            instance = try begin(until: .now + .seconds(30))
        } catch {
            if error.isUnauthorized { throw ended(error) }
            if end != nil { throw error }
            // Nothing was begun, so nothing can have become visible.
            return .aborted(error, record: nil)
        }
        let deadline = ContinuousClock.now + configuration.transactionTimeout
        lastBatch &+= 1
        let batch = lastBatch
        instance.deliveries.open(batch, keepsOnePosition: true)
        defer { _ = instance.deliveries.close(batch) }
        do throws(Setback) {
            try prepareToCommit(request, instance, batch, until: deadline)
        } catch {
            return try abort(instance, error)
        }
        return try commit(instance, witness: instance.deliveries.peek(batch).positions.values.first)
    }

    private func begin(until deadline: ContinuousClock.Instant) throws(KafkaError) -> ProducerInstance {
        discardIfSuspect()
        while true {
            let instance = try prepare(until: deadline)
            guard let error = try call(instance, { rd_kafka_begin_transaction($0) }) else { return instance }
            if error.fencesProducer, isSlot { throw ended(error) }
            say("cannot begin: \(error)")
            if error.disposition != .retriable { discard() }
            if deadline.isPast { throw error }
            pause(.milliseconds(10))
        }
    }

    /// Why a transaction is aborted, and the index of the record that caused it, if one did.
    private struct Setback: Error {
        var error: KafkaError
        var record: Int?
    }

    /// Everything that comes before the commit.
    private func prepareToCommit(
        _ request: TransactionRequest, _ instance: ProducerInstance, _ batch: UInt32,
        until deadline: ContinuousClock.Instant
    ) throws(Setback) {
        let reached = configuration.reached
        do throws(KafkaError) {
            try reached(.begun)
        } catch { throw Setback(error: error) }
        try write(request.records, instance, batch, until: deadline)
        do throws(KafkaError) {
            try reached(.written)
            try sendOffsets(request, instance)
            try reached(.offsetsSent)
        } catch { throw Setback(error: error) }
    }

    /// Produces all records and awaits all reports.
    private func write(
        _ records: [ProducerRecord], _ instance: ProducerInstance, _ batch: UInt32,
        until deadline: ContinuousClock.Instant
    ) throws(Setback) {
        for (index, record) in records.enumerated() {
            while let error = instance.produce(record, index, batch: batch) {
                if error.code == .queueFull, instance.deliveries.waitForRoom(batch, until: deadline) { continue }
                throw setback(of: records, instance, batch) ?? Setback(error: error, record: index)
            }
        }
        guard instance.deliveries.waitForAll(batch, until: deadline) else {
            throw Setback(error: KafkaError(.timedOut, "the records were not acknowledged in time"))
        }
        if let setback = setback(of: records, instance, batch) { throw setback }
    }

    private func setback(of records: [ProducerRecord], _ instance: ProducerInstance, _ batch: UInt32) -> Setback? {
        // What made librdkafka give all records up is known to the instance alone.
        if let fatal = instance.fatalError { return Setback(error: fatal) }
        let reports = instance.deliveries.peek(batch)
        guard let error = reports.failure else { return nil }
        if error.isPurge {
            // Why librdkafka gave the records up is told by a call that the state of the transaction does not allow.
            return Setback(error: (try? call(instance) { rd_kafka_begin_transaction($0) }) ?? error)
        }
        guard error.isRecordTooLarge else { return Setback(error: error, record: reports.failedRecords.first) }
        // A broker refuses all records of a request together; the largest is the one that does not fit.
        return Setback(error: error, record: reports.failedRecords.max { records[$0].size < records[$1].size })
    }

    /// Sends the offsets with metadata that was fetched for this transaction and checked.
    private func sendOffsets(_ request: TransactionRequest, _ instance: ProducerInstance) throws(KafkaError) {
        guard let consumer = request.consumer, !request.offsets.isEmpty, !hasCrashed else { return }
        let metadata = try consumer.groupMetadata(for: request.offsets.map(\.owned))
        let call = OffsetsCall(request.offsets, metadata, timeout: Self.slice)
        offsetsThread.enqueue { call.make(instance) }
        // librdkafka ignores its time-out while the group's coordinator is away (#5456), so the call is watched. What is
        // stuck is left behind, thread and all; the next instance fences it.
        guard let outcome = call.outcome(by: .now + configuration.transactionTimeout + .seconds(5)) else {
            offsetsThread = CallThread("kafka-offsets")
            discard()
            throw KafkaError(.timedOut, "the group coordinator did not take the offsets", disposition: .abortable)
        }
        if let error = outcome { throw error }
    }

    private func abort(_ instance: ProducerInstance, _ setback: Setback) throws(KafkaError) -> TransactionResult {
        let cause = setback.error
        if cause.fencesProducer, isSlot { throw ended(cause) }
        // A record that the broker refused leaves a gap in the sequence of librdkafka 2.0, so that the first record of the
        // next transaction is refused too.
        let hasGap = instance.deliveries.peek(lastBatch).failure.map { !$0.isPurge } ?? false
        if self.instance === instance, !abortCleanly(instance, cause) || hasGap {
            say("replaced after \(cause)")
            discard()
        }
        return .aborted(cause, record: setback.record)
    }

    /// False if the instance should not be used again.
    private func abortCleanly(_ instance: ProducerInstance, _ cause: KafkaError) -> Bool {
        if cause.fencesProducer || cause.disposition == .fatal { return false }
        let error = try? call(instance) { rd_kafka_abort_transaction($0, Self.slice) }
        // An abort that has to be repeated may reach the coordinator in the next transaction (KIP-890, #5423); an
        // expired producer id needs a new one.
        return error == .some(nil) && cause.code != .invalidProducerIdMapping && cause.code != .outOfOrderSequence
    }

    private func commit(_ instance: ProducerInstance, witness: RecordPosition?) throws(KafkaError) -> TransactionResult
    {
        let start = ContinuousClock.now
        var calls = 0
        while true {
            calls += 1
            let error = try call(instance) { rd_kafka_commit_transaction($0, Self.slice) }
            guard let error else {
                // An end that was sent twice may reach the coordinator in the next transaction (KIP-890, #5423).
                if calls > 1 {
                    say("replaced after a commit that was repeated")
                    discard()
                }
                return .committed
            }
            switch error.disposition {
            case .retriable where .now - start < .seconds(30): pause(.milliseconds(10))
            case .abortable: return try abort(instance, Setback(error: error))
            case .fenced where isSlot: throw ended(error)
            default: return try resolve(error, witness)
            }
        }
    }

    // MARK: Unknown outcomes

    /// Finds out what became of a transaction whose commit failed for good: the next instance makes the coordinator end
    /// it, and then a record of it is there for committed readers, or is not.
    private func resolve(_ cause: KafkaError, _ witness: RecordPosition?) throws(KafkaError) -> TransactionResult {
        say("the outcome of a commit is not known: \(cause)")
        discard()
        do {
            try prepare(until: .now + .seconds(60))
            guard let witness else { return .aborted(cause, record: nil) }
            let isCommitted = try OutcomeReader(configuration.producer.client)
                .isCommitted(witness, until: .now + .seconds(60))
            say(isCommitted ? "it was committed" : "it was aborted")
            return isCommitted ? .committed : .aborted(cause, record: nil)
        } catch {
            throw ended(
                KafkaError(
                    error.code, "a commit failed (\(cause)), and its outcome could not be found out: \(error.reason)",
                    disposition: .fatal))
        }
    }

    private func ended(_ error: KafkaError) -> KafkaError {
        end = error
        discard()
        return error
    }

    /// Makes a call that returns an error object. Throws only if the instance is gone.
    private func call(
        _ instance: ProducerInstance, _ body: (OpaquePointer) -> OpaquePointer?
    ) throws(KafkaError) -> KafkaError? {
        if hasCrashed { throw KafkaError(.destroyed, "the producer crashed") }
        return try instance.handle.use { client throws(KafkaError) in body(client).map { KafkaError(consuming: $0) } }
    }
}

extension KafkaError {
    /// It is the producer whose place was taken, and not the group member.
    fileprivate var fencesProducer: Bool { disposition == .fenced && code != .fencedInstance }
}

/// One call of `rd_kafka_send_offsets_to_transaction`, made on one thread and awaited, not for ever, by another.
private final class OffsetsCall: @unchecked Sendable {
    private let list: PartitionList
    private let metadata: GroupMetadata
    private let timeout: Int32
    private let result = Monitor<KafkaError??>(nil)

    init(_ offsets: [ConsumedOffset], _ metadata: consuming GroupMetadata, timeout: Int32) {
        list = PartitionList(offsets.map { (partition: $0.owned.topicPartition, offset: $0.next) })
        self.metadata = metadata
        self.timeout = timeout
    }

    func make(_ instance: ProducerInstance) {
        var error: KafkaError?
        repeat {
            do {
                error = try instance.handle.use { client throws(KafkaError) in
                    rd_kafka_send_offsets_to_transaction(client, list.native, metadata.native, timeout)
                        .map { KafkaError(consuming: $0) }
                }
            } catch {
                return finish(error)
            }
        } while error?.disposition == .retriable
        finish(error)
    }

    private func finish(_ error: KafkaError?) { result.update { $0 = .some(error) } }

    /// The error, or none; `nil` at all if the deadline came first.
    func outcome(by deadline: ContinuousClock.Instant) -> KafkaError?? {
        result.wait(until: deadline) { $0 != nil }
        return result.withLock { $0 }
    }
}
