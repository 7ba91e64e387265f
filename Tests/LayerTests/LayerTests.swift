import Testing

@Suite struct `Layers of the package` {
    static let ofThisPackage = Result { try PackageMap.ofThisPackage() }
    let package: PackageMap

    init() throws { package = try Self.ofThisPackage.get() }

    var sources: [PackageMap.Target] { package.targets.filter { package.folder(of: $0).path().contains("/Sources/") } }

    @Test func `every target of Sources has its row`() {
        let known = layers.reduce(into: Set()) { $0.formUnion($1) }
        #expect(sources.count >= 12)
        for target in sources { #expect(known.contains(target.name), "\(target.name) is in no row of `layers`") }
    }

    @Test func `arrows only point down, so that there is no cycle`() {
        for target in sources {
            for used in package.dependencies(of: target.name) {
                #expect(isBelow(used, target.name), "\(target.name) → \(used) does not point down")
            }
        }
    }

    @Test func `a target imports what its dependencies name, and nothing else`() throws {
        for target in sources where wrappers[target.name] == nil {
            let allowed = package.dependencies(of: target.name).union(toolchain).union(system)
            for line in try package.imports(of: target) {
                #expect(allowed.contains(line.module), "\(line): not in the dependencies of \(target.name)")
            }
        }
    }

    @Test func `a target names no dependency that it does not import`() throws {
        for target in sources where wrappers[target.name] == nil {
            let imported = Set(try package.imports(of: target).map(\.module))
            for used in package.dependencies(of: target.name) {
                #expect(imported.contains(used), "\(target.name) depends on \(used) and does not import it")
            }
        }
    }

    @Test func `nothing that the executable links imports Foundation`() throws {
        for target in sources {
            for line in try package.imports(of: target) { #expect(!banned.contains(line.module), "\(line)") }
        }
    }

    @Test func `the domain imports nothing but FoundationEssentials`() throws {
        let target = try #require(sources.first { $0.name == "Crawl" })
        for line in try package.imports(of: target) { #expect(toolchain.contains(line.module), "\(line)") }
    }

    @Test func `Crawl and Kafka meet only where the log is made and where all is wired`() throws {
        for target in sources where !meetingPlaces.contains(target.name) {
            let imported = Set(try package.imports(of: target).map(\.module))
            #expect(!imported.isSuperset(of: ["Crawl", "Kafka"]), "\(target.name) imports both")
        }
    }

    @Test func `a C module is imported by its wrapper alone`() throws {
        for target in package.targets {
            for line in try package.imports(of: target) {
                guard let wrapper = wrappers[line.module] else { continue }
                #expect([line.module, wrapper].contains(target.name), "\(line): only \(wrapper) may")
            }
        }
    }

    @Test func `a shim includes its own library and no other`() throws {
        for target in sources {
            guard let own = libraries[target.name] else { continue }
            let foreign = Set(libraries.values).subtracting([own])
            for line in try package.imports(of: target) { #expect(!foreign.contains(line.module), "\(line)") }
        }
    }

    private func isBelow(_ lower: String, _ upper: String) -> Bool {
        guard
            let low = layers.firstIndex(where: { $0.contains(lower) }),
            let high = layers.firstIndex(where: { $0.contains(upper) })
        else { return false }
        return low > high
    }
}

@Suite struct `Import lines` {
    @Test(arguments: [
        ("import Kafka", ["Kafka"]),
        ("@testable import Kafka", ["Kafka"]),
        ("@_spi(Tests) @preconcurrency public import Kafka", ["Kafka"]),
        ("import struct Foundation.Data", ["Foundation"]),
        ("import Foundation.NSObject", ["Foundation"]),
        ("import A; import B", ["A", "B"]),
        ("#if canImport(Foundation)\nimport Other\n#endif", ["Foundation", "Other"]),
        ("// import Kafka\n/* import HTTP\n/* nested */ import YAML */ import Crawl", ["Crawl"]),
        ("let url = \"http://x\"; import Kafka", ["Kafka"]),
        ("let text = \"\"\"\n  import Kafka \"// \n\"\"\"\nimport Crawl", ["Crawl"]),
        ("let important = 1\nlet text = \"import Kafka\"", []),
    ])
    func `are found in Swift`(text: String, modules: [String]) {
        #expect(swiftImports(of: text).map(\.module) == modules)
    }

    @Test func `know their line`() {
        #expect(swiftImports(of: "/* 1\n2 */\n\nimport Kafka").map(\.line) == [4])
    }

    @Test(arguments: [
        ("#include <librdkafka/rdkafka.h>", ["librdkafka"]),
        ("  # include \"simdjson.h\"", ["simdjson"]),
        ("// #include <yaml.h>", []),
    ])
    func `are found in C`(text: String, modules: [String]) {
        #expect(cIncludes(of: text).map(\.module) == modules)
    }
}
