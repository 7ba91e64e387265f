import BrokerSupport
import Kafka
import Testing

@Suite(.broker(.readCommitted)) struct `A real broker` {
    @Test func `creates topics`() async throws {
        let broker = try await TestBroker.shared()
        let admin = try Admin(ClientConfiguration(bootstrapServers: broker.bootstrapServers))
        let made = try await admin.createTopics([NewTopic("a", partitions: 3, settings: ["cleanup.policy": "compact"])])
        #expect(made == ["a": .created])
        #expect(try await admin.partitionCounts(["a", "b"]) == ["a": 3, "b": nil])
        #expect(try await admin.topicSettings("a")["cleanup.policy"] == "compact")
        print(try await admin.describeGroup("nobody"))
        await admin.close()
    }
}
