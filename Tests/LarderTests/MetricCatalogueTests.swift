import Foundation
import HTTPServer
import Testing

@testable import Larder

@Suite struct MetricCatalogueTests {
    @Test("TRUST-17 docs/operations.md has the table of all metrics, and openapi.yaml their names and types")
    func documented() throws {
        let root = URL(filePath: #filePath).appending(path: "../../..").standardizedFileURL
        let operations = try String(contentsOf: root.appending(path: "docs/operations.md"), encoding: .utf8)
        #expect(operations.contains(MetricCatalogue.markdown()), "\(MetricCatalogue.markdown())")
        let contract = try String(contentsOf: root.appending(path: "openapi.yaml"), encoding: .utf8)
        for family in MetricCatalogue.families {
            #expect(contract.contains("        \(family.name): \(family.kind.rawValue)\n"), "\(family.name)")
        }
    }

    @Test("TRUST-17 Names follow the conventions: counters end in _total, units are seconds and bytes")
    func names() {
        let names = MetricCatalogue.families.map(\.name)
        #expect(Set(names).count == names.count)
        for family in MetricCatalogue.families {
            #expect((family.kind == .counter) == family.name.hasSuffix("_total"), "\(family.name)")
            #expect(family.name.wholeMatch(of: /(larder|process)_[a-z_]+/) != nil, "\(family.name)")
            #expect(!family.help.hasSuffix("."), "\(family.name)")
        }
    }
}
