// CrawlKafka
