/// The rooms of the house from the top down: a target may depend only on targets of rows below its own.
let layers: [Set<String>] = [
    ["pagehound-cli", "countdown-example"],
    ["Pagehound"],
    ["CrawlKafka", "CrawlHTTP", "CrawlOps", "CrawlTesting"],
    ["Crawl", "Kafka", "HTTP", "HTTPServer", "JSONText", "YAML"],
    ["Threads", "CRdKafka", "CCurl", "CSimdjson", "CYAML", "CMicrohttpd", "CZlib"],
]

/// Who may import each C module: its wrapper, and nobody else.
let wrappers = [
    "CRdKafka": "Kafka", "CCurl": "HTTP", "CZlib": "HTTP", "CSimdjson": "JSONText", "CYAML": "YAML",
    "CMicrohttpd": "HTTPServer",
]

/// The one C library that the shims of each C target may include, beside the C and C++ standard libraries.
let libraries = [
    "CRdKafka": "librdkafka", "CCurl": "curl", "CZlib": "zlib", "CSimdjson": "simdjson", "CYAML": "yaml",
    "CMicrohttpd": "microhttpd",
]

/// Where the crawl meets Kafka: in the log, and where everything is wired.
let meetingPlaces: Set = ["CrawlKafka", "Pagehound", "pagehound-cli"]

/// What comes with the toolchain and may be used anywhere.
let toolchain: Set = ["Swift", "Synchronization", "FoundationEssentials"]

/// The C library and threads: for who waits, reads files, or takes signals, and not for the domain.
let system: Set = ["Glibc", "Musl", "Dispatch"]

/// The libraries that make a static binary three times as large, or slow.
let banned: Set = ["Foundation", "FoundationNetworking", "FoundationXML", "FoundationInternationalization"]
