// CrawlHTTPTests
