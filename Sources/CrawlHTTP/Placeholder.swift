// CrawlHTTP
