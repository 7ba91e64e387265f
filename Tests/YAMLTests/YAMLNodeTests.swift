import Testing
import YAML

struct YAMLNodeTests {
    private func error(_ text: String) -> YAMLError? {
        do throws(YAMLError) {
            _ = try YAMLNode.parse(text)
            return nil
        } catch {
            return error
        }
    }

    @Test func `values keep their order, their text and their place`() throws {
        let node = try YAMLNode.parse(
            """
            # a comment
            name: products
            request:
              headers: {ü: "1", b: 0x1F}
              list:
                - no
                - |
                  block
            """)
        guard case .mapping(let entries) = node.content, case .mapping(let request) = entries[1].value.content,
            case .mapping(let headers) = request[0].value.content, case .sequence(let list) = request[1].value.content
        else { throw YAMLError("other shape", at: node.place) }
        #expect(entries.map(\.key) == ["name", "request"])
        #expect(entries[0].keyPlace == YAMLPlace(line: 2, column: 1))
        #expect(entries[0].value.place == YAMLPlace(line: 2, column: 7))
        #expect(headers[0].value.content == .scalar(YAMLScalar("1", style: .quoted)))
        #expect(headers[0].keyPlace == YAMLPlace(line: 4, column: 13))
        #expect(headers[1].value.place == YAMLPlace(line: 4, column: 24))
        #expect(headers[1].value.content == .scalar(YAMLScalar("0x1F")))
        #expect(list.map(\.content) == [.scalar(YAMLScalar("no")), .scalar(YAMLScalar("block", style: .quoted))])
    }

    @Test(arguments: ["", "~", "null"])
    func `nothing is null, unless it is quoted`(text: String) throws {
        guard case .sequence(let list) = try YAMLNode.parse("- \(text)\n- \"\(text)\"\n- !!str \(text)").content else {
            throw YAMLError("no list", at: YAMLPlace(line: 1, column: 1))
        }
        #expect(list.map(\.isNull) == [true, false, false])
    }

    @Test func `a key that is there twice is an error with both lines`() {
        let error = error("a: 1\nb:\n  c: 1\n  d: 2\n  \"c\": 3\n")
        #expect(error?.place == YAMLPlace(line: 5, column: 3))
        #expect(error?.message.contains("line 3") == true)
    }

    @Test(arguments: [
        ("", 1), ("# only a comment\n", 1), ("a: 1\n---\nb: 2\n", 2), ("a: [1, 2\nb: 3\n", 2), ("a: 1\n b: 2\n", 2),
        ("a: \"x\n\n", 3), ("\ta: 1\n", 1), ("? [a]\n: 1\n", 1), ("b: 1\n? {a: 1}\n: 1\n", 2), ("a: !!int 3\n", 1),
        ("a: !secret x\n", 1), ("a: &x 1\n<<: *x\n", 2), ("a: *nope\n", 1), ("a: &x [1, *x]\n", 1), ("a: b: c\n", 1),
        ("%YAML 9.9\n---\na: 1\n", 1), ("a: @x\n", 1), ("a: 'x'\n\nb: %x\n", 3), ("- a\nb: 1\n", 2),
    ])
    func `what is refused names its line`(text: String, line: Int) {
        #expect(error(text)?.line == line, "\(String(describing: error(text)))")
    }

    @Test func `bytes that are not UTF-8 are refused with their place`() {
        let bytes = Array("a: 1\nü: ".utf8) + [0xFF]
        let error = #expect(throws: YAMLError.self) { try YAMLNode.parse(bytes) }
        #expect(error?.place == YAMLPlace(line: 2, column: 4))
        #expect(throws: YAMLError.self) { try YAMLNode.parse([0xFF, 0xFE, 0x61, 0x00]) }
    }

    @Test func `a byte order mark does not matter`() throws {
        let marked = try YAMLNode.parse("\u{FEFF}a: 1\n")
        guard case .mapping(let entries) = marked.content else { throw YAMLError("no mapping", at: marked.place) }
        #expect(entries.map(\.key) == ["a"])
    }

    @Test func `an alias is what its anchor names`() throws {
        let node = try YAMLNode.parse("a: &x {k: [1, 2]}\nb: *x\nc: &x 3\nd: *x\n")
        guard case .mapping(let entries) = node.content else { throw YAMLError("no mapping", at: node.place) }
        #expect(entries[1].value == entries[0].value)
        #expect(entries[3].value.content == .scalar(YAMLScalar("3")))
    }

    @Test func `aliases cannot grow without end`() {
        var laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
        for level in 1...9 {
            let list = Array(repeating: "*a\(level - 1)", count: 9).joined(separator: ", ")
            laughs += "a\(level): &a\(level) [\(list)]\n"
        }
        #expect(error(laughs)?.message.contains("100000") == true)
    }

    @Test func `aliases cannot nest past the limit`() {
        var tower = "a0: &a0 [x]\n"
        for level in 1...70 { tower += "a\(level): &a\(level) [*a\(level - 1)]\n" }
        #expect(error(tower)?.message.contains("64 levels") == true)
        #expect(error("a: " + String(repeating: "[", count: 5_000))?.message.contains("64 levels") == true)
    }

    @Test func `scalars are replaced where they stand`() throws {
        let node = try YAMLNode.parse("a: ${X}\nb: [\"${X}\", {c: d}]\n")
        let filled = node.mapScalars { scalar, _ in
            YAMLScalar(scalar.text == "${X}" ? "1" : scalar.text, style: scalar.style)
        }
        #expect(filled == (try YAMLNode.parse("a: 1   \nb: [\"1\",    {c: d}]\n").moved(to: filled)))
    }
}

extension YAMLNode {
    /// The same values with the places of another node of the same shape.
    fileprivate func moved(to other: YAMLNode) -> YAMLNode {
        switch (content, other.content) {
        case (.sequence(let mine), .sequence(let theirs)):
            YAMLNode(.sequence(zip(mine, theirs).map { $0.moved(to: $1) }), at: other.place)
        case (.mapping(let mine), .mapping(let theirs)):
            YAMLNode(
                .mapping(
                    zip(mine, theirs).map {
                        YAMLEntry(key: $0.key, keyPlace: $1.keyPlace, value: $0.value.moved(to: $1.value))
                    }), at: other.place)
        default: YAMLNode(content, at: other.place)
        }
    }
}
