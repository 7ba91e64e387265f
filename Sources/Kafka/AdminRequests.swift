import CRdKafka

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// The admin requests of librdkafka, made and awaited by one thread.
struct AdminRequests {
    private let client: OpaquePointer
    private let deadline: ContinuousClock.Instant

    init(_ client: OpaquePointer, _ limit: Duration) {
        self.client = client
        deadline = .now + limit
    }

    /// Sends one request and takes its result event apart.
    private func request<R>(
        _ operation: rd_kafka_admin_op_t, requireStable: Bool = false,
        _ send: (_ options: OpaquePointer, _ queue: OpaquePointer) -> Void,
        _ take: (OpaquePointer) throws(KafkaError) -> R
    ) throws(KafkaError) -> R {
        let options = rd_kafka_AdminOptions_new(client, operation)!
        defer { rd_kafka_AdminOptions_destroy(options) }
        let queue = rd_kafka_queue_new(client)!
        defer { rd_kafka_queue_destroy(queue) }
        let timeout = max(1, deadline.millisecondsLeft)
        _ = rd_kafka_AdminOptions_set_request_timeout(options, timeout, nil, 0)
        if operation == RD_KAFKA_ADMIN_OP_CREATETOPICS || operation == RD_KAFKA_ADMIN_OP_DELETETOPICS {
            _ = rd_kafka_AdminOptions_set_operation_timeout(options, timeout, nil, 0)
        }
        if requireStable, let error = rd_kafka_AdminOptions_set_require_stable_offsets(options, 1) {
            throw KafkaError(consuming: error)
        }
        send(options, queue)
        guard let event = rd_kafka_queue_poll(queue, timeout + 500) else {
            throw KafkaError(.timedOut, "no answer")
        }
        defer { rd_kafka_event_destroy(event) }
        let code = rd_kafka_event_error(event)
        if code != RD_KAFKA_RESP_ERR_NO_ERROR {
            throw KafkaError(code, String(cString: rd_kafka_event_error_string(event)))
        }
        return try take(event)
    }

    // MARK: Topics

    func createTopics(_ topics: [NewTopic]) throws(KafkaError) -> [String: TopicCreation] {
        var natives: [OpaquePointer?] = []
        defer { for native in natives { rd_kafka_NewTopic_destroy(native) } }
        for topic in topics { natives.append(try native(topic)) }
        return try request(
            RD_KAFKA_ADMIN_OP_CREATETOPICS,
            { options, queue in rd_kafka_CreateTopics(client, &natives, natives.count, options, queue) },
            { event throws(KafkaError) in
                topicResults(rd_kafka_event_CreateTopics_result(event), rd_kafka_CreateTopics_result_topics)
                    .mapValues { error in
                        guard let error else { return .created }
                        return error.code == .topicAlreadyExists ? .exists : .failed(error)
                    }
            })
    }

    private func native(_ topic: NewTopic) throws(KafkaError) -> OpaquePointer {
        var message = [CChar](repeating: 0, count: 512)
        let native = rd_kafka_NewTopic_new(
            topic.name, Int32(topic.partitions), Int32(topic.replicationFactor ?? -1), &message, message.count)
        guard let native else { throw KafkaError(.invalidArgument, "topic \(topic.name): \(text(message))") }
        for (key, value) in topic.settings { _ = rd_kafka_NewTopic_set_config(native, key, value) }
        return native
    }

    func deleteTopics(_ topics: [String]) throws(KafkaError) {
        var natives = topics.map { rd_kafka_DeleteTopic_new($0) }
        defer { for native in natives { rd_kafka_DeleteTopic_destroy(native) } }
        let results = try request(
            RD_KAFKA_ADMIN_OP_DELETETOPICS,
            { options, queue in rd_kafka_DeleteTopics(client, &natives, natives.count, options, queue) },
            { event throws(KafkaError) in
                topicResults(rd_kafka_event_DeleteTopics_result(event), rd_kafka_DeleteTopics_result_topics)
            })
        for case let error? in results.values { throw error }
    }

    private func topicResults(
        _ result: OpaquePointer?,
        _ list: (OpaquePointer?, UnsafeMutablePointer<Int>?) -> UnsafeMutablePointer<OpaquePointer?>?
    ) -> [String: KafkaError?] {
        var count = 0
        guard let results = list(result, &count) else { return [:] }
        var errors: [String: KafkaError?] = [:]
        for result in UnsafeBufferPointer(start: results, count: count) {
            let code = rd_kafka_topic_result_error(result)
            let reason = rd_kafka_topic_result_error_string(result).map { String(cString: $0) }
            errors.updateValue(
                code == RD_KAFKA_RESP_ERR_NO_ERROR ? nil : KafkaError(code, reason),
                forKey: String(cString: rd_kafka_topic_result_name(result)))
        }
        return errors
    }

    func topicSettings(_ topic: String) throws(KafkaError) -> [String: String] {
        var resources = [rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic)]
        defer { rd_kafka_ConfigResource_destroy(resources[0]) }
        return try request(
            RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS,
            { options, queue in rd_kafka_DescribeConfigs(client, &resources, 1, options, queue) },
            { event throws(KafkaError) in
                var count = 0
                let result = rd_kafka_event_DescribeConfigs_result(event)
                guard let described = rd_kafka_DescribeConfigs_result_resources(result, &count), count > 0 else {
                    throw KafkaError(.fail, "no settings of \(topic) in the answer")
                }
                let code = rd_kafka_ConfigResource_error(described[0])
                if code != RD_KAFKA_RESP_ERR_NO_ERROR {
                    throw KafkaError(
                        code, rd_kafka_ConfigResource_error_string(described[0]).map(String.init(cString:)))
                }
                return entries(of: described[0])
            })
    }

    private func entries(of resource: OpaquePointer?) -> [String: String] {
        var count = 0
        guard let entries = rd_kafka_ConfigResource_configs(resource, &count) else { return [:] }
        return UnsafeBufferPointer(start: entries, count: count).reduce(into: [:]) { settings, entry in
            guard let value = rd_kafka_ConfigEntry_value(entry) else { return }
            settings[String(cString: rd_kafka_ConfigEntry_name(entry))] = String(cString: value)
        }
    }

    // MARK: Groups

    /// Asks again while open transactions hold offsets of the group.
    func committedOffsets(_ group: String, of partitions: [TopicPartition]) throws(KafkaError) -> [Int32: Int64?] {
        while true {
            do {
                return try committedNow(group, partitions)
            } catch {
                guard error.disposition == .retriable, !deadline.isPast else { throw error }
                pause(.milliseconds(20))
            }
        }
    }

    private func committedNow(_ group: String, _ partitions: [TopicPartition]) throws(KafkaError) -> [Int32: Int64?] {
        let list = PartitionList(partitions)
        var requests = [rd_kafka_ListConsumerGroupOffsets_new(group, list.native)]
        defer { rd_kafka_ListConsumerGroupOffsets_destroy(requests[0]) }
        let entries = try request(
            RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPOFFSETS, requireStable: true,
            { options, queue in rd_kafka_ListConsumerGroupOffsets(client, &requests, 1, options, queue) },
            { event throws(KafkaError) in
                try groupResult(
                    rd_kafka_event_ListConsumerGroupOffsets_result(event),
                    rd_kafka_ListConsumerGroupOffsets_result_groups)
            })
        return Dictionary(entries.map { ($0.partition.partition, $0.committed) }) { $1 }
    }

    func resetOffsets(_ group: String, to offsets: [TopicPartition: Int64]) throws(KafkaError) {
        let list = PartitionList(offsets.map { (partition: $0.key, offset: $0.value) })
        var requests = [rd_kafka_AlterConsumerGroupOffsets_new(group, list.native)]
        defer { rd_kafka_AlterConsumerGroupOffsets_destroy(requests[0]) }
        _ = try request(
            RD_KAFKA_ADMIN_OP_ALTERCONSUMERGROUPOFFSETS,
            { options, queue in rd_kafka_AlterConsumerGroupOffsets(client, &requests, 1, options, queue) },
            { event throws(KafkaError) in
                try groupResult(
                    rd_kafka_event_AlterConsumerGroupOffsets_result(event),
                    rd_kafka_AlterConsumerGroupOffsets_result_groups)
            })
    }

    private func groupResult(
        _ result: OpaquePointer?,
        _ list: (OpaquePointer?, UnsafeMutablePointer<Int>?) -> UnsafeMutablePointer<OpaquePointer?>?
    ) throws(KafkaError) -> [PartitionEntry] {
        var count = 0
        guard let groups = list(result, &count), count > 0 else { throw KafkaError(.fail, "no group in the answer") }
        if let error = rd_kafka_group_result_error(groups[0]) { throw KafkaError(borrowing: error) }
        guard let partitions = rd_kafka_group_result_partitions(groups[0]) else { return [] }
        let entries = PartitionEntry.all(of: partitions)
        for entry in entries { if let error = entry.error { throw error } }
        return entries
    }

    func describe(_ group: String) throws(KafkaError) -> GroupDescription {
        guard let name = strdup(group) else { throw KafkaError(.fail, "no memory") }
        defer { free(name) }
        var names: [UnsafePointer<CChar>?] = [UnsafePointer(name)]
        return try request(
            RD_KAFKA_ADMIN_OP_DESCRIBECONSUMERGROUPS,
            { options, queue in rd_kafka_DescribeConsumerGroups(client, &names, 1, options, queue) },
            { event throws(KafkaError) in
                var count = 0
                let result = rd_kafka_event_DescribeConsumerGroups_result(event)
                guard let groups = rd_kafka_DescribeConsumerGroups_result_groups(result, &count), count > 0 else {
                    throw KafkaError(.fail, "no group in the answer")
                }
                if let error = rd_kafka_ConsumerGroupDescription_error(groups[0]) { throw KafkaError(borrowing: error) }
                return GroupDescription(groups[0], name: group)
            })
    }
}

extension GroupDescription {
    fileprivate init(_ native: OpaquePointer?, name: String) {
        group = name
        state = String(cString: rd_kafka_consumer_group_state_name(rd_kafka_ConsumerGroupDescription_state(native)))
        assignor = rd_kafka_ConsumerGroupDescription_partition_assignor(native).map(String.init(cString:)) ?? ""
        members = (0..<rd_kafka_ConsumerGroupDescription_member_count(native)).map { index in
            Member(rd_kafka_ConsumerGroupDescription_member(native, index))
        }
    }
}

extension GroupDescription.Member {
    fileprivate init(_ native: OpaquePointer?) {
        memberId = String(cString: rd_kafka_MemberDescription_consumer_id(native))
        clientId = String(cString: rd_kafka_MemberDescription_client_id(native))
        groupInstanceId = rd_kafka_MemberDescription_group_instance_id(native).map(String.init(cString:))
        host = String(cString: rd_kafka_MemberDescription_host(native))
        let assignment = rd_kafka_MemberDescription_assignment(native)
        partitions = rd_kafka_MemberAssignment_partitions(assignment).map(PartitionEntry.all)?.map(\.partition) ?? []
    }
}
