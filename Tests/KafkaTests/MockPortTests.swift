import Foundation
import Kafka
import Testing

@Suite struct `Ports of the mock cluster` {
    /// Otherwise another may take it, and librdkafka aborts the process when the broker comes up again.
    @Test func `stay taken while their brokers are down`() throws {
        let cluster = try MockCluster(brokers: 2)
        let ports = cluster.bootstrapServers.split(separator: ",").compactMap {
            UInt16($0.drop { $0 != ":" }.dropFirst())
        }
        #expect(ports.count == 2)
        for broker in 1...2 {
            try cluster.setDown(broker: broker)
            #expect(!isFree(ports[broker - 1]), "the port of broker \(broker) is free")
            try cluster.setUp(broker: broker)
        }
    }

    /// True if someone could take the port now.
    private func isFree(_ port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = port.bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        } == 0
    }
}
