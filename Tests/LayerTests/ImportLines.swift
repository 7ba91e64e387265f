/// One module that a file names: by `import`, by `canImport`, or as the library of an `#include <…>`.
struct ImportLine: Hashable, CustomStringConvertible {
    var file: String
    var line: Int
    var module: String

    var description: String { "\(file):\(line) \(module)" }
}

/// The modules that a Swift text imports, with the line of each; comments are left out.
///
/// Knows attributes (`@testable`), access levels, kinds (`import struct M.Name`), submodules, several statements on a
/// line, and `canImport(M)`, which counts too: the branch behind it would compile where M exists.
func swiftImports(of text: String) -> [(line: Int, module: String)] {
    let statement =
        #/
        (?:^|[;{}])\s*
        (?:@\w+(?:\([^)]*\))?\s+)*
        (?:(?:public|package|internal|fileprivate|private)\s+)?
        import\s+
        (?:(?:typealias|struct|class|enum|protocol|let|var|func)\s+)?
        (\w+)
        /#
    let condition = /canImport\(\s*(\w+)/
    return lines(of: withoutComments(text)).flatMap { number, line in
        (line.matches(of: statement).map(\.output.1) + line.matches(of: condition).map(\.output.1))
            .map { (number, String($0)) }
    }
}

/// The libraries that a C or C++ text includes: `simdjson` of `<simdjson.h>`, `librdkafka` of `<librdkafka/rdkafka.h>`.
func cIncludes(of text: String) -> [(line: Int, module: String)] {
    let include = /^\s*#\s*include\s*[<"]([\w.+-]+)(?:\/[^>"]*)?[>"]/
    return lines(of: withoutComments(text)).compactMap { number, line in
        guard let match = line.firstMatch(of: include) else { return nil }
        return (number, String(match.output.1.prefix { $0 != "." }))
    }
}

private func lines(of text: String) -> [(Int, Substring)] {
    text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().map { ($0.offset + 1, $0.element) }
}

/// The text with comments blanked and line ends kept. A comment sign inside a string literal begins none.
func withoutComments(_ text: String) -> String {
    var result = ""
    var rest = Substring(text)
    var depth = 0
    while let character = rest.first {
        if rest.hasPrefix("/*") {
            depth += 1
            rest = rest.dropFirst(2)
        } else if depth > 0, rest.hasPrefix("*/") {
            depth -= 1
            rest = rest.dropFirst(2)
        } else if depth == 0, rest.hasPrefix("//") {
            rest = rest.drop { $0 != "\n" }
        } else if depth == 0, let literal = rest.prefixMatch(of: /"(?:\\.|[^"\\\n])*"/) {
            result += literal.output
            rest = rest[literal.range.upperBound...]
        } else {
            if depth == 0 || character == "\n" { result.append(character) }
            rest = rest.dropFirst()
        }
    }
    return result
}
