import Testing

/// The arrows of docs/architecture.md are the dependencies of the targets, so these must be true.
@Suite struct DependencyTests {
    /// Modules of the toolchain, which no target declares.
    private static let toolchain: Set<String> = [
        "Darwin", "Dispatch", "Foundation", "FoundationEssentials", "Glibc", "Musl", "Synchronization", "Testing",
    ]

    /// Returns the differences between the dependencies of a target and the modules that its sources import.
    private static func differences(declared: Set<String>, imported: Set<String>) -> [String] {
        declared.subtracting(imported).sorted().map { "depends on \($0) and does not import it" }
            + imported.subtracting(declared).subtracting(toolchain).sorted().map {
                "imports \($0) and does not declare it"
            }
    }

    @Test("Each target imports, or in C and C++ includes, exactly what Package.swift declares for it")
    func dependencies() async throws {
        let targets = try await PackageManifest.load().targets
        #expect(targets.count > 20)
        let owners = try HeaderOwners(targets)
        for target in targets {
            let files = Repository.files(in: target.folder, suffixes: [".swift"])
            let imported = try files.reduce(into: try owners.modules(includedBy: target)) {
                $0.formUnion(SwiftSource(try Repository.text("\(target.folder)/\($1)")).imports)
            }
            let differences = Self.differences(declared: target.modules, imported: imported)
            for difference in differences { Issue.record("\(target.name) \(difference)") }
        }
    }

    @Test("Unused and undeclared dependencies are found, whatever the form of the import")
    func planted() {
        let source = SwiftSource(
            """
            import Foundation
            @testable import Ships  // import Shop
            package import struct NIOCore.ByteBuffer
            /* import Disk /* import Notes */ import PDF */
            let text = "import Screens \\(#"import Media"#) import Upstream"
            """
        )
        #expect(source.imports == ["Foundation", "Ships", "NIOCore"])
        #expect(
            Self.differences(declared: ["Ships", "Crypto"], imported: source.imports) == [
                "depends on Crypto and does not import it", "imports NIOCore and does not declare it",
            ]
        )
    }

    @Test("What a file in C or C++ includes is found, by the library that it belongs to")
    func plantedHeaders() {
        let text = """
            #include <qpdf/QPDF.hh>
              #  include "CFaultInjection.h"
            #include <vector>
            // include <zlib.h>
            """
        let headers = HeaderOwners.headers(in: text)
        #expect(headers == ["qpdf", "CFaultInjection.h", "vector"])
        let owners = HeaderOwners(owners: ["qpdf": "CQPDF", "zlib.h": "CZlib", "CFaultInjection.h": "CFaultInjection"])
        #expect(owners.modules(of: headers) == ["CQPDF", "CFaultInjection"])
        #expect(
            Self.differences(declared: ["CZlib", "CFaultInjection"], imported: owners.modules(of: headers)) == [
                "depends on CZlib and does not import it", "imports CQPDF and does not declare it",
            ]
        )
    }
}
