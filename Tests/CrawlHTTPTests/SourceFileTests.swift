import Crawl
import Foundation
import HTTP
import Testing
import YAML

@testable import CrawlHTTP

@Suite struct SourceFileTests {
    private static let whole = """
        name: products
        request:
          url: https://${HOST}/v1/{{kind}}?fixed=1
          method: POST
          headers: {Accept: application/vnd.x+json, X-Price: "$${5}"}
          query: {category: "{{category}}", tag: [a, b]}
          auth: {type: bearer, token: "${API_TOKEN}"}
          body: {query: "{{category}}", size: 10, flag: true, none: null, list: [1.50, "1.50"]}
        pagination:
          type: page_number
          page: {in: query, name: page, first: 0}
          limit: {in: body, name: /size, value: 100}
          total_items_path: /total
          has_more_path: /more
          stop_after_short_page: true
          stop_on_status: [400, 404]
          max_holes: 5
          max_empty_pages: 2
        extract: {items_path: /items}
        pace: {requests_per_second: 2.5, max_in_flight: "${FLIGHT}"}
        retry: {attempts: 3, base_delay: 100ms, max_delay: 1m, max_wait: 2h, throttle_budget: 7}
        output: {per: item, key: /id}
        limits: {connect_timeout: 1s, idle_timeout: 2s, total_timeout: 3s, max_body: 1MiB, max_headers: 8KiB, max_ratio: 7}
        """

    private static let environment = ["HOST": "api.example", "API_TOKEN": "secret", "FLIGHT": "4"]

    @Test func `a whole file`() throws {
        let file = try readSource(Self.whole, Self.environment)
        #expect(file.name == "products")
        #expect(file.params == ["kind", "category"])
        #expect(
            file.pagination
                == Pagination(
                    .pageNumber(first: 0), pageSize: 100, stopAfterShortPage: true,
                    stopOnStatus: [400, 404], maxEmptyPages: 2, maxHoles: 5))
        #expect(file.output == .item(key: "/id"))
        #expect(file.pace == SourceFile.Pace(maxInFlight: 4, requestsPerSecond: 2.5))
        #expect(
            file.retry
                == RetryPolicy(
                    attempts: 3, baseDelay: .milliseconds(100), maxDelay: .seconds(60), maxWait: .seconds(7_200),
                    throttleBudget: 7))
        #expect(file.limits.connectTimeout == .seconds(1))
        #expect(file.limits.maxBodyBytes == 1 << 20)
        let values = TemplateValues(
            params: ["kind": "a/b", "category": "c&d"],
            secrets: SecretReader(environment: Self.environment) { _ in nil })
        let (_, placed) = try file.paging.locate(.page(3), pageSize: nil)
        let prepared = try file.request.prepare(at: nil, placed: placed, merge: .never, values)
        #expect(prepared.url.text == "https://api.example/v1/a%2Fb?fixed=1&category=c%26d&tag=a&tag=b&page=3")
        #expect(
            String(decoding: try #require(prepared.body), as: UTF8.self)
                == #"{"query":"c&d","size":100,"flag":true,"none":null,"list":[1.50,"1.50"]}"#)
        #expect(prepared.headers.first { $0.name == "X-Price" }?.value == "${5}")
        #expect(prepared.headers.filter { $0.name.lowercased() == "accept" }.map(\.value) == ["application/vnd.x+json"])
    }

    private func problems(_ yaml: String, _ environment: [String: String] = [:]) -> [String] {
        do {
            _ = try readSource(yaml, environment)
            return []
        } catch let list as YAMLProblemList {
            return list.problems.map(\.description)
        } catch {
            return ["\(error)"]
        }
    }

    @Test func `all problems at once, each with its place`() {
        let found = problems(
            """
            name: products
            request:
              url: https://api.example/
              metod: GET
              auth: {type: bearer, token: "${NOT_SET}"}
            pagination:
              type: cursor
              cursor: {name: after}
              cursor_path: next
              page: {in: query, name: page}
            extract: {}
            outputs: {per: page}
            """)
        #expect(
            found == [
                #"s.yaml:4:3: unknown key "request.metod"; did you mean "method"?"#,
                #"s.yaml:5:31: ${NOT_SET} is not set"#,
                #"s.yaml:8:11: "pagination.cursor.in" is missing"#,
                #"s.yaml:9:16: "pagination.cursor_path" is not a JSON Pointer: a JSON Pointer begins with "/" or is empty; "next" is neither"#,
                #"s.yaml:10:9: "pagination.page" has no meaning for the type cursor"#,
                #"s.yaml:11:10: "extract.items_path" is missing"#,
                #"s.yaml:12:1: unknown key "outputs"; did you mean "output"?"#,
            ])
    }

    private static let valid = "type: single_page"

    /// One wrong thing in an otherwise valid file, and what is said about it.
    private static let mistakes: [(request: String, pagination: String, message: String)] = [
        ("url: api.example/x", valid, "must be an absolute http:// or https:// URL"),
        ("url: ftp://api.example/x", valid, "must be an absolute http:// or https:// URL"),
        ("url: https://u:p@api.example/x", valid, "must not hold a user or a password"),
        ("url: https://api.example/x#f", valid, "must not have a fragment"),
        ("url: https://api.example/a b", valid, "must be percent-encoded"),
        ("url: https://api.example/?k=${TOKEN}", valid, "must not hold a secret in its query"),
        ("url: \"https://{{host}}/x\"", valid, "{{host}} would choose the host"),
        ("url: \"{{url}}\"", valid, "{{url}} would choose the host"),
        ("url: \"https://api.{{zone}}/x\"", valid, "{{zone}} would choose the host"),
        ("url: \"https://api.example/{{a b}}\"", valid, "{{a b}} is not a param"),
        ("url: \"https://api.example/{{a\"", valid, "\"{{\" has no \"}}\""),
        ("url: https://a\nheaders: {X: \"${file:relative}\"}", valid, "needs an absolute path"),
        ("url: https://a\nheaders: {X: \"${file:/none}\"}", valid, "${file:/none} cannot be read"),
        ("url: https://a\nheaders: {X: \"${A-B}\"}", valid, "${A-B} is not a variable's name"),
        ("url: https://a\nheaders: {Host: b}", valid, "\"request.headers.Host\" is not a header that can be set"),
        ("url: https://a\nheaders: {\"X Y\": b}", valid, "is not a header that can be set"),
        ("url: https://a\nheaders: {x-y: b, X-Y: c}", valid, "is here twice"),
        ("url: https://a\nheaders: {authorization: b}\nauth: {type: bearer, token: c}", valid, "next to \"auth\""),
        ("url: https://a\nauth: {type: oauth}", valid, "must be one of bearer, basic, api_key"),
        ("url: https://a\nauth: {type: api_key, in: query, value: c}", valid, "\"request.auth.name\" is missing"),
        ("url: https://a\nmethod: FETCH", valid, "must be one of GET, POST"),
        ("url: https://a\nbody: text", valid, "must be a mapping or a list"),
        ("url: https://a", "type: keyset", "\"keyset\" is not supported yet"),
        ("url: https://a", "type: page_nubmer", "did you mean \"page_number\"?"),
        ("url: https://a", "type: page_number", "\"pagination.page\" is missing"),
        ("url: https://a", "type: cursor\ncursor_path: /n", "\"pagination.cursor\" is missing"),
        ("url: https://a", "type: cursor\ncursor: {in: query, name: c}", "\"pagination.cursor_path\" is missing"),
        ("url: https://a", "type: header_cursor\ncursor: {in: query, name: c}\ncursor_path: /n", "must be header:NAME"),
        ("url: https://a", "type: json_link", "\"pagination.next_path\" is missing"),
        ("url: https://a", "type: json_link\nnext_path: \"header:a b\"", "names no header"),
        ("url: https://a", "type: page_number\npage: {in: body, name: page}", "is not a JSON Pointer"),
        ("url: https://a", "type: page_number\npage: {in: body, name: \"\"}", "must be a JSON Pointer to a place"),
        ("url: https://a", "type: page_number\npage: {in: body, name: /p}", "\"request.body\" is missing"),
        ("url: https://a\nbody: {p: [1]}", "type: page_number\npage: {in: body, name: /p/1}", "has an array of 1"),
        ("url: https://a\nbody: {p: x}", "type: page_number\npage: {in: body, name: /p/n}", "has a plain value"),
        ("url: https://a", "type: page_number\npage: {in: path, name: p}", "has no {{p}}"),
        ("url: https://a", "type: page_number\npage: {in: form, name: p}", "must be one of query, header, body, path"),
        (
            "url: https://a\nquery: {p: 1}", "type: page_number\npage: {in: query, name: p}",
            "sets \"p\", which pagination sets"
        ),
        (
            "url: https://a\nheaders: {P: 1}", "type: page_number\npage: {in: header, name: p}",
            "sets \"p\", which pagination"
        ),
        (
            "url: https://a", "type: page_number\npage: {in: query, name: p}\nlimit: {in: query, name: p, value: 1}",
            "the same place"
        ),
        ("url: https://a", valid + "\nlimit: {value: 0}", "must be between 1 and 1000000"),
        ("url: https://a", valid + "\nstop_on_status: [200]", "must be statuses from 400 to 599"),
        ("url: https://a", valid + "\nstop_after_short_page: true", "needs limit.value"),
        ("url: https://a", "type: header_link\nstop_on_total: true", "needs total_items_path"),
        ("url: https://a", valid + "\ntotal_items_path: /a\ntotal_pages_path: /b", "cannot stand next to"),
        ("url: https://a", valid + "\nallow_hosts: [\"https://b\"]", "must be hosts such as"),
        ("url: https://a", "type: header_link\nnext_url_base: /api", "must be an absolute http:// or https:// URL"),
        ("url: https://a", valid + "\nnext_url_base: https://a", "has no meaning for the type single_page"),
        ("url: https://a", valid + "\ntotal_items_path: \"/{{x}}\"", "{{ }} is for values under \"request\" only"),
        ("url: https://a", valid + "\ntotal_items_path: \"/${file:/x}\"", "${file:…} is for values under \"request\""),
        ("url: https://a", valid + "\ntotal_items_path: \"/${NOT_SET}\"", "${NOT_SET} is not set"),
    ]

    @Test(arguments: mistakes.indices)
    func `a mistake is named`(index: Int) throws {
        let mistake = Self.mistakes[index]
        func indent(_ text: String) -> String { text.split(separator: "\n").map { "  \($0)" }.joined(separator: "\n") }
        let yaml = """
            name: s
            request:
            \(indent(mistake.request))
            pagination:
            \(indent(mistake.pagination))
            extract: {items_path: /items}
            """
        let found = problems(yaml, ["TOKEN": "s3cret"])
        #expect(found.count == 1, "\(found)")
        #expect(found.first?.contains(mistake.message) == true, "\(found)")
        #expect(found.first?.contains("s3cret") == false)
    }

    @Test(arguments: ["", "x", "[]", "a: [", "name: \"\"", "null", "\u{0}"])
    func `files that are no source at all`(yaml: String) { #expect(!problems(yaml).isEmpty) }

    @Test func `params of a job are checked`() throws {
        let sources = makeSources(Self.environment)
        let source = sources.source(try sources.read(Array(Self.whole.utf8), file: "s.yaml"))
        func reason(_ params: [String: String]) -> String? {
            do throws(UnusableParams) {
                _ = try source.open(params)
                return nil
            } catch {
                return error.reason
            }
        }
        #expect(reason(["kind": "a", "category": "b"]) == nil)
        #expect(reason(["kind": "a"]) == #"source "products" needs the param "category""#)
        #expect(
            reason(["kind": "a", "category": "b", "catgory": "c"])
                == #"source "products" has no param "catgory"; did you mean "category"?"#)
        #expect(
            reason(["kind": "a", "category": "b", "zzzzzz": "c"])
                == #"source "products" has no param "zzzzzz"; it has category, kind"#)
        #expect(reason(["kind": "..", "category": "b"])?.contains("cannot be \"..\"") == true)
    }

    @Test func `a tenant in the host cannot leave its domain`() throws {
        let sources = makeSources()
        let yaml = """
            name: s
            request: {url: "https://{{tenant}}.example.com/", headers: {X-T: "{{tenant}}"}}
            pagination: {type: single_page}
            extract: {items_path: ""}
            """
        let source = sources.source(try sources.read(Array(yaml.utf8), file: "s.yaml"))
        _ = try source.open(["tenant": "acme"])
        for tenant in ["evil.example/", "evil.example#", "evil@", "a\\b", "a\r\nX: y", "", "a b", "[::1]:"] {
            #expect(throws: UnusableParams.self, "\(tenant)") { try source.open(["tenant": tenant]) }
        }
    }

    private static let examples =
        "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/config/sources"

    @Test func `the file that the documentation shows is valid, and says the defaults`() throws {
        let text = try String(contentsOfFile: Self.examples + "/README.md", encoding: .utf8)
        let block = try #require(text.components(separatedBy: "```yaml\n").last?.components(separatedBy: "```").first)
        let file = try readSource(block, ["API_TOKEN": "x"])
        #expect(file.params == ["kind", "category"])
        #expect(file.retry == RetryPolicy())
        #expect(
            file.pagination
                == Pagination(
                    .pageNumber(first: 1), pageSize: 100, stopOnStatus: [404]))
        #expect("\(file.limits)" == "\(HTTPLimits())")
    }

    @Test func `the example files are valid, and no two have one name`() throws {
        let environment = ["CATALOG_TOKEN": "x", "SEARCH_KEY": "x", "SEARCH_API": "https://search.example"]
        let sources = try makeSources(environment).load(directory: Self.examples)
        #expect(sources.map(\.name).sorted() == ["events", "products", "search"])
    }

    @Test func `a folder reports the problems of all its files`() {
        #expect(throws: YAMLProblemList.self) { try makeSources().load(directory: "/nowhere-at-all") }
        #expect(throws: YAMLProblemList.self) { try makeSources().load(file: "/nowhere-at-all.yaml") }
    }
}
