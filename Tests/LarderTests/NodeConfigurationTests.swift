import AppInterface
import Settings
import TestKit
import Testing

@testable import Larder

@Suite struct NodeConfigurationTests {
    private func read(_ arguments: [String]) throws -> NodeConfiguration {
        let reader = try SettingsReader(arguments: arguments, environment: [:], file: nil)
        return try LarderConfiguration(reader, environment: ["HOME": "/home/someone"]).node
    }

    @Test("Without settings a process has no name, serves every app, and nothing is elsewhere")
    func defaults() throws {
        let node = try read([])
        #expect(node.name == nil)
        #expect(node.apps.types.map { $0.name } == AppList.standard.types.map { $0.name })
        #expect(node.elsewhere(of: .standard).apps.isEmpty && node.elsewhere(of: .standard).upstreams.isEmpty)
    }

    @Test("Some apps are served in the order of the index; the others and their own upstreams are elsewhere")
    func some() throws {
        let node = try read(["--node-name", "n1.example", "--node-apps", "ships, pdf"])
        #expect(node.name == "n1.example")
        #expect(node.apps.types.map { $0.name } == ["pdf", "ships"])
        let elsewhere = node.elsewhere(of: .standard)
        #expect(elsewhere.apps == ["disk", "shop", "notes"])
        #expect(elsewhere.upstreams.contains("catalogue") && !elsewhere.upstreams.contains("spacex"))
    }

    @Test(
        "An app that does not exist and a name that is no word are refused by name",
        arguments: [
            (["--node-apps", "ships,boats"], "node.apps cannot be \"boats\""),
            (["--node-name", "my node"], "node.name cannot be \"my node\""),
            (["--node-name", String(repeating: "n", count: 65)], "node.name cannot be"),
        ]
    )
    func refused(arguments: [String], text: String) throws {
        let error = #expect(throws: SettingError.self) { try read(arguments) }
        #expect(error?.description.contains(text) == true, "\(String(describing: error))")
    }
}
