// CrawlTests
