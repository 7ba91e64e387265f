import Foundation

/// The targets of Package.swift with what each says that it depends on.
struct PackageMap {
    struct Target: Decodable {
        var name: String
        var type: String
        var path: String?
        var dependencies: [Dependency]

        var isTest: Bool { type == "test" }
    }

    /// `{"byName": ["Crawl", null]}` or `{"target": ["Crawl", null]}`; a product would bring in another package.
    struct Dependency: Decodable {
        var byName: [String?]?
        var target: [String?]?
        var product: [String?]?
    }

    var root: URL
    var targets: [Target]

    /// Asks SwiftPM itself, in a scratch folder of its own: the package's is locked while its tests are built.
    static func ofThisPackage() throws -> PackageMap {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let scratch = root.appending(path: ".build/layers")
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "swift", "package", "--package-path", root.path(), "--scratch-path", scratch.path(), "dump-package",
        ]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let json = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        struct Dump: Decodable { var targets: [Target] }
        return PackageMap(root: root, targets: try JSONDecoder().decode(Dump.self, from: json).targets)
    }

    func folder(of target: Target) -> URL {
        root.appending(path: target.path ?? (target.isTest ? "Tests/" : "Sources/") + target.name)
    }

    /// The targets that `name` says it depends on.
    func dependencies(of name: String) -> Set<String> {
        guard let target = targets.first(where: { $0.name == name }) else { return [] }
        return Set(target.dependencies.compactMap { ($0.byName ?? $0.target ?? $0.product)?.first ?? nil })
    }

    /// All modules that the files of a target name.
    func imports(of target: Target) throws -> [ImportLine] {
        let folder = folder(of: target)
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        return try (files?.compactMap { $0 as? URL } ?? []).flatMap { file in
            let read: ((String) -> [(line: Int, module: String)])? =
                switch file.pathExtension {
                case "swift": swiftImports
                case "c", "cc", "cpp", "h", "hpp": cIncludes
                default: nil
                }
            guard let read else { return [ImportLine]() }
            let name = file.path().replacing(root.path(), with: "")
            return read(try String(contentsOf: file, encoding: .utf8)).map {
                ImportLine(file: name, line: $0.line, module: $0.module)
            }
        }
    }
}
