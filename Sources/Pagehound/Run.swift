import Crawl

public func main(configuration path: String, sources: [Source]) async -> Never { fatalError() }
