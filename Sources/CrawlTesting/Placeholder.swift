// CrawlTesting
