// CrawlKafkaTests
