/// One module that a file names: by `import`, by `canImport`, or as the library of an `#include <…>`.
struct ImportLine: Hashable, CustomStringConvertible {
    var file: String
    var line: Int
    var module: String

    var description: String { "\(file):\(line) \(module)" }
}

/// The modules that a Swift text imports, with the line of each; comments and literals are left out.
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
    // Few lines hold the word at all, and the expressions are slow on the others.
    return lines(of: CodeScanner.code(of: text), holding: "mport").flatMap { number, line in
        (line.matches(of: statement).map(\.output.1) + line.matches(of: condition).map(\.output.1))
            .map { (number, String($0)) }
    }
}

/// The libraries that a C or C++ text includes: `simdjson` of `<simdjson.h>`, `librdkafka` of `<librdkafka/rdkafka.h>`.
func cIncludes(of text: String) -> [(line: Int, module: String)] {
    let include = /^\s*#\s*include\s*[<"]([\w.+-]+)(?:\/[^>"]*)?[>"]/
    // The name may stand in quotes, so literals are not left out here; comments begin the line if they hide it.
    return lines(of: Array(text.utf8), holding: "include").compactMap { number, line in
        guard let match = line.firstMatch(of: include) else { return nil }
        return (number, String(match.output.1.prefix { $0 != "." }))
    }
}

/// The lines that hold the word, with their numbers from 1.
private func lines(of bytes: [UInt8], holding word: String) -> [(Int, String)] {
    let word = Array(word.utf8)
    return bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated()
        .filter { $0.element.firstRange(of: word) != nil }
        .map { ($0.offset + 1, String(decoding: $0.element, as: UTF8.self)) }
}

/// Leaves comments and string literals out of a text; line ends stay.
struct CodeScanner {
    private let bytes: [UInt8]
    private var position = 0
    private var code: [UInt8] = []

    static func code(of text: String) -> [UInt8] {
        var scanner = CodeScanner(bytes: Array(text.utf8))
        while scanner.position < scanner.bytes.count { scanner.step() }
        return scanner.code
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func step() {
        if looking(at: "//") {
            while position < bytes.count, bytes[position] != UInt8(ascii: "\n") { position += 1 }
        } else if looking(at: "/*") {
            skipBlockComment()
        } else if looking(at: "\"\"\"") {
            skipLiteral("\"\"\"")
        } else if looking(at: "\"") {
            skipLiteral("\"")
        } else {
            code.append(bytes[position])
            position += 1
        }
    }

    private func looking(at sign: String) -> Bool { bytes[position...].starts(with: sign.utf8) }

    private mutating func skipLiteral(_ quote: String) {
        position += quote.utf8.count
        while position < bytes.count, !looking(at: quote) {
            keepLineEnd()
            position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        position = min(bytes.count, position + quote.utf8.count)
    }

    /// Block comments nest.
    private mutating func skipBlockComment() {
        var depth = 0
        while position < bytes.count {
            keepLineEnd()
            let (opens, closes) = (looking(at: "/*"), looking(at: "*/"))
            depth += opens ? 1 : closes ? -1 : 0
            position += opens || closes ? 2 : 1
            if depth == 0 { return }
        }
    }

    private mutating func keepLineEnd() {
        if bytes[position] == UInt8(ascii: "\n") { code.append(bytes[position]) }
    }
}
