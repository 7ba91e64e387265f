import Testing
import YAML

struct YAMLMappingTests {
    private func read(_ text: String, _ body: (YAMLMapping) throws -> Void) throws -> [String] {
        let problems = YAMLProblems(file: "s.yaml") { name, valid in valid.first { $0.first == name.first } }
        let node = try #require(problems.parse(Array(text.utf8)))
        let mapping = YAMLMapping(node, problems: problems)
        try body(mapping)
        return problems.all.map(\.description)
    }

    @Test func `values are read by what they should be`() throws {
        let text = """
            name: no
            number: 012
            first: "7"
            ratio: 1.5e3
            on: true
            wait: 1h30m
            most: 4MiB
            type: cursor
            hosts: [a, b]
            host: a
            headers: {x: 1, y: , z: "q"}
            nested: {deep: {k: v}}
            list: [{a: 1}, {a: 2}]
            nothing:
            """
        let problems = try read(text) { mapping in
            #expect(mapping.string("name", required: true) == "no")
            #expect(mapping.string("number") == "012")
            #expect(mapping.int("first", in: 1...9) == 7)
            #expect(mapping.double("ratio") == 1_500)
            #expect(mapping.bool("on") == true)
            #expect(mapping.duration("wait") == .seconds(5_400))
            #expect(mapping.bytes("most") == 4 << 20)
            #expect(mapping.choice("type", among: ["page", "cursor"]) == "cursor")
            #expect(mapping.strings("hosts") == ["a", "b"])
            #expect(mapping.strings("host") == ["a"])
            #expect(mapping.texts("headers")?.map(\.text) == ["1", "", "q"])
            #expect(mapping.mapping("nested")?.mapping("deep")?.string("k") == "v")
            #expect(mapping.mappings("list")?.map { $0.int("a") } == [1, 2])
            #expect(mapping.string("nothing") == nil)
            #expect(!mapping.contains("nothing"))
            #expect(mapping.string("absent") == nil)
            mapping.finish()
        }
        #expect(problems == [])
    }

    @Test func `all problems are told, each with its place`() throws {
        let text = """
            nam: x
            first: 1.5
            second: 100
            on: yes
            wait: 10 parsecs
            most: 4Mb
            type: curser
            hosts: {a: 1}
            pages: [1, [2]]
            nested:
              deep: 3
              depe: 4
            list: [x]
            empty:
            """
        let problems = try read(text) { mapping in
            #expect(mapping.string("name", required: true) == nil)
            #expect(mapping.int("first") == nil)
            #expect(mapping.int("second", in: 1...50) == nil)
            #expect(mapping.bool("on") == nil)
            #expect(mapping.duration("wait") == nil)
            #expect(mapping.bytes("most") == nil)
            #expect(mapping.choice("type", among: ["page", "cursor"]) == nil)
            #expect(mapping.strings("hosts") == nil)
            #expect(mapping.strings("pages") == ["1"])
            let nested = mapping.mapping("nested")
            #expect(nested?.string("deep") == "3")
            nested?.finish()
            for item in mapping.mappings("list") ?? [] { _ = item.string("a", required: true) }
            _ = mapping.string("empty", required: true)
            mapping.finish()
        }
        #expect(
            problems == [
                "s.yaml:1:1: \"name\" is missing",
                "s.yaml:2:8: \"first\" must be a whole number, not \"1.5\"",
                "s.yaml:3:9: \"second\" must be between 1 and 50, not 100",
                "s.yaml:4:5: \"on\" must be true or false, not \"yes\"",
                "s.yaml:5:7: \"wait\" must be a duration such as 250ms, 10s, 5m or 1h, not \"10 parsecs\"",
                "s.yaml:6:7: \"most\" must be a size such as 512, 64KiB or 4MiB, not \"4Mb\"",
                "s.yaml:7:7: \"type\" must be one of page, cursor, not \"curser\"; did you mean \"cursor\"?",
                "s.yaml:8:8: \"hosts\" must be a list, not a mapping",
                "s.yaml:9:12: \"pages[1]\" must be text, not a list",
                "s.yaml:12:3: unknown key \"nested.depe\"; did you mean \"deep\"?",
                "s.yaml:13:8: \"list[0]\" must be a mapping of keys and values, not \"x\"",
                "s.yaml:14:1: \"empty\" has no value",
                "s.yaml:1:1: unknown key \"nam\"; did you mean \"name\"?",
            ])
    }

    @Test func `the list of problems is in the order of the file`() throws {
        let problems = YAMLProblems(file: "f") { _, _ in nil }
        problems.report("late", at: YAMLPlace(line: 9, column: 1))
        problems.report("early", at: YAMLPlace(line: 2, column: 3))
        let list = #expect(throws: YAMLProblemList.self) { try problems.check() }
        #expect(list?.description == "f:2:3: early\nf:9:1: late")
        try YAMLProblems(file: "f") { _, _ in nil }.check()
    }

    @Test func `a file that is no mapping is one problem`() throws {
        let problems = try read("- a\n") { mapping in
            _ = mapping.string("name", required: true)
            mapping.finish()
        }
        #expect(problems == ["s.yaml:1:1: the file must be a mapping of keys and values, not a list"])
    }

    @Test func `without a near name the valid ones are told`() throws {
        let problems = try read("zzz: 1\n") { mapping in
            mapping.allow("b", "a")
            mapping.finish()
        }
        #expect(problems == ["s.yaml:1:1: unknown key \"zzz\"; valid are a, b"])
    }

    @Test(arguments: [
        ("250ms", 250), ("10s", 10_000), ("5m", 300_000), ("1h", 3_600_000), ("7d", 604_800_000), ("0", 0), ("0s", 0),
        ("1h30m", 5_400_000), ("1m1s1ms", 61_001),
    ])
    func `durations have units`(text: String, milliseconds: Int64) {
        #expect(YAMLUnits.duration(text) == .milliseconds(milliseconds))
    }

    @Test(arguments: [
        "", "10", "s", "-1s", "1.5s", "1 s", "1S", "1s1m", "1s1s", "1w", "9223372036854775807d",
        "99999999999999999999s",
        "9223372036854775807ms1ms", "1s ", "٣s",
    ])
    func `what is no duration is refused`(text: String) {
        #expect(YAMLUnits.duration(text) == nil)
    }

    @Test(arguments: [
        ("0", 0), ("512", 512), ("100B", 100), ("64KiB", 65_536), ("4MiB", 4_194_304), ("1GiB", 1 << 30),
        ("10kB", 10_000),
        ("5MB", 5_000_000), ("1GB", 1_000_000_000),
    ])
    func `sizes have units`(text: String, bytes: Int) {
        #expect(YAMLUnits.bytes(text) == bytes)
    }

    @Test(arguments: ["", "KiB", "-1", "1.5MiB", "4 MiB", "4Mb", "4mib", "9223372036854775807KiB", "1KiB1"])
    func `what is no size is refused`(text: String) {
        #expect(YAMLUnits.bytes(text) == nil)
    }
}
