import Crawl
import CrawlHTTP
import CrawlKafka
import Kafka

/// Reads all source files of a folder. Throws with all that is wrong with any of them.
public func sourceFiles(in folder: String) throws(ConfigurationError) -> [Source] {
    do {
        return try HTTPSources().load(directory: folder)
    } catch {
        throw ConfigurationError("\(error)")
    }
}

extension WorkerConfiguration {
    package var topics: Topics { Topics(prefix: topicPrefix) }

    /// How to reach the cluster; what librdkafka has to say goes to `say` if it is at least a warning, apart from two that
    /// are about properties that not every kind of client has.
    package func client(say: @escaping @Sendable (String) -> Void) -> ClientConfiguration {
        ClientConfiguration(
            bootstrapServers: kafka.bootstrapServers, clientId: String("\(group)-\(slot ?? "")".utf8.prefix(90))!,
            properties: kafka.properties,
            report: { report in
                if report.level > 4 || ["CONFWARN", "AUTOCREATE"].contains(report.facility) { return }
                say("kafka: \(report.facility): \(report.message)")
            })
    }

    func log(say: @escaping @Sendable (String) -> Void) -> KafkaLogConfiguration {
        var log = KafkaLogConfiguration(client(say: say), topics: topics, group: group)
        log.slot = slot
        log.sessionTimeout = kafka.sessionTimeout
        log.transactionTimeout = kafka.transactionTimeout
        log.maxRecordBytes = kafka.maxMessageBytes
        return log
    }
}
