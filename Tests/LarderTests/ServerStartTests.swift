import Foundation
import Screens
import Server
import TestKit
import Testing

@testable import Larder

struct FirstPairingTests {
    private let code = PairingCode.make()

    @Test("SRV-17 a terminal shows a QR code of the address with the code, and the line below it")
    func terminal() throws {
        let text = FirstPairing.text(code, at: "https://larder.test:8080", isTerminal: true)
        let picture = try #require(QRCode("https://larder.test:8080/pair#\(code.text)")).terminalText
        #expect(text.hasPrefix(picture + "pair a device at https://larder.test:8080/pair with the code \(code.text)"))
    }

    @Test("without a terminal, or an address that is known, there is a line only")
    func line() {
        let piped = FirstPairing.text(code, at: "https://larder.test:8080", isTerminal: false)
        let unknown = FirstPairing.text(code, at: nil, isTerminal: true)
        for text in [piped, unknown] {
            #expect(text.hasPrefix("pair a device at ") && text.split(separator: "\n").count == 1)
        }
        #expect(unknown.contains("http.allowed_hosts"))
    }
}

@Suite struct PageAddressTests {
    @Test(
        "SRV-14 the address of the pages has a name of the certificate",
        arguments: [
            (["larder.localhost", "localhost"], "larder.localhost"), (["127.0.0.1", "localhost"], "localhost"),
            (["larder.lan", "192.168.1.5"], "larder.lan"), (["::1"], "[::1]"),
        ] as [([String], String)]
    )
    func certified(_ names: [String], _ host: String) throws {
        let authority = try TestAuthority(names: names)
        let reader = try SettingsReader(arguments: authority.settings, environment: [:], file: nil)
        let configuration = try LarderConfiguration(reader, environment: ["HOME": "/home/someone"])
        let files = try #require(configuration.certificate)
        let served = try ServerCertificate(files, protocols: [], now: Date()).names
        #expect(PageAddress.url(of: configuration, served, port: 8443) == "https://\(host):8443/")
    }
}

@Suite struct MetricCatalogueTests {
    @Test("TRUST-17 docs/metrics.md has the table of all metrics, and openapi.yaml their names and types")
    func documented() throws {
        let root = URL(filePath: #filePath).appending(path: "../../..").standardizedFileURL
        let page = try String(contentsOf: root.appending(path: "docs/metrics.md"), encoding: .utf8)
        #expect(page.contains(MetricCatalogue.markdown()), "\(MetricCatalogue.markdown())")
        let contract = try String(contentsOf: root.appending(path: "openapi.yaml"), encoding: .utf8)
        for family in MetricCatalogue.families {
            #expect(contract.contains("        \(family.name): \(family.kind.rawValue)\n"), "\(family.name)")
        }
    }

    @Test("TRUST-17 The alert rules are about metrics that there are; each has a summary")
    func alerts() throws {
        let file = URL(filePath: #filePath).appending(path: "../../../deploy/prometheus/larder.rules.yml")
        let document = try JSON(yaml: String(contentsOf: file.standardizedFileURL, encoding: .utf8))
        let rules = document.groups.elements.flatMap(\.rules.elements)
        #expect(rules.count > 5)
        let series = MetricCatalogue.families.flatMap { family in
            family.kind == .histogram ? ["bucket", "sum", "count"].map { "\(family.name)_\($0)" } : [family.name]
        }
        for rule in rules {
            let names = (rule.expr.string ?? "").matches(of: #/larder_[a-z_]+/#).map { String($0.output) }
            #expect(Set(names).isSubset(of: series), "\(rule.alert)")
            #expect(rule.annotations.summary.string?.isEmpty == false, "\(rule.alert)")
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
