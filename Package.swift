// swift-tools-version: 6.2
import PackageDescription

// The target list is the layer map: each target may import what its `dependencies` name, and nothing else
// (Tests/LayerTests reads the import lines). Arrows point down, from the command to the C libraries.

let package = Package(
    name: "pagehound",
    products: [
        .library(name: "Pagehound", targets: ["Pagehound", "Crawl"]),
        .executable(name: "pagehound", targets: ["pagehound-cli"]),
    ],
    targets: [
        // The command, and the library for people who bring their own source.
        .executableTarget(
            name: "pagehound-cli",
            dependencies: ["Pagehound", "Crawl", "CrawlHTTP", "CrawlKafka", "Kafka", "HTTPServer", "Threads"]),
        .executableTarget(
            name: "countdown-example", dependencies: ["Pagehound", "Crawl"], path: "Sources/Examples/Countdown"),
        .target(name: "Pagehound", dependencies: ["Crawl", "CrawlHTTP", "CrawlKafka", "Kafka", "Threads", "YAML"]),

        // The crawl log on Kafka, the source over HTTP, the test doubles: beside each other, above the domain.
        .target(name: "CrawlKafka", dependencies: ["Crawl", "Kafka", "JSONText", "Threads"]),
        .target(name: "CrawlHTTP", dependencies: ["Crawl", "HTTP", "JSONText", "YAML"]),
        .target(name: "CrawlTesting", dependencies: ["Crawl", "Threads"]),

        // The domain: jobs, ledger, stop rules, retry, the worker loop. No I/O, no clock.
        .target(name: "Crawl"),

        // Wrappers that know no crawl word.
        .target(name: "Kafka", dependencies: ["Threads", "CRdKafka"]),
        .target(name: "HTTP", dependencies: ["Threads", "CCurl", "CZlib"]),
        .target(name: "HTTPServer", dependencies: ["Threads", "CMicrohttpd"]),
        .target(name: "JSONText", dependencies: ["Threads", "CSimdjson"]),
        .target(name: "YAML", dependencies: ["CYAML"]),
        // Locks to wait on, and threads for calls that block.
        .target(name: "Threads"),

        // C libraries.
        .systemLibrary(name: "CRdKafka", pkgConfig: "rdkafka", providers: [.apt(["librdkafka-dev"])]),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CMicrohttpd", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
        .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
        .target(name: "CSimdjson", linkerSettings: [.linkedLibrary("simdjson")]),

        // Tests. `BrokerSupport` starts real brokers and processes for them.
        .target(name: "BrokerSupport", dependencies: ["Threads"], path: "Tests/Support"),
        .testTarget(name: "LayerTests"),
        .testTarget(name: "CrawlTests", dependencies: ["Crawl", "CrawlTesting", "Threads"]),
        .testTarget(name: "KafkaTests", dependencies: ["Kafka", "BrokerSupport", "Threads"]),
        .testTarget(name: "HTTPTests", dependencies: ["HTTP", "HTTPServer", "CrawlTesting"]),
        .testTarget(name: "JSONTextTests", dependencies: ["JSONText"]),
        .testTarget(name: "YAMLTests", dependencies: ["YAML"]),
        .testTarget(
            name: "CrawlHTTPTests",
            dependencies: ["CrawlHTTP", "Crawl", "CrawlTesting", "HTTP", "HTTPServer", "JSONText", "Threads", "YAML"]),
        .testTarget(
            name: "CrawlKafkaTests",
            dependencies: ["CrawlKafka", "Crawl", "CrawlTesting", "Kafka", "JSONText", "Threads", "BrokerSupport"],
            resources: [.copy("Golden")]),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "pagehound-cli", "countdown-example", "Pagehound", "Crawl", "CrawlKafka", "Kafka", "HTTPServer",
                "BrokerSupport", "Threads",
            ],
            exclude: ["Upstreams"]),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)
