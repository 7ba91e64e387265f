import Crawl
import FoundationEssentials
import Kafka
import Pagehound

extension Usage.Option {
    static let config = Usage.Option(
        name: "--config", value: "FILE",
        meaning: "The worker's configuration. Defaults to config/worker.yaml, if it is there.")
}

extension WorkerConfiguration {
    static let usualFile = "config/worker.yaml"

    /// The file that `--config` names; without it the usual one; without that the defaults.
    init(_ arguments: Arguments) throws {
        if let file = arguments["--config"] {
            try self.init(contentsOf: file)
        } else if FileManager.default.fileExists(atPath: Self.usualFile) {
            try self.init(contentsOf: Self.usualFile)
        } else {
            self.init()
        }
    }

    /// How the commands' own clients reach the cluster.
    var client: ClientConfiguration { client(say: Terminal.log) }
}
