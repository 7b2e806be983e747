import Cluster
import Foundation
import Screens
import Storage
import TestKit
import Testing

@testable import Larder

@Suite struct StoreConfigurationTests {
    private static let url = "postgresql://larder:hush@127.0.0.1:5432/larder"
    private static let served = ["--node-apps", "notes"]

    private func read(_ arguments: [String]) throws -> StoreConfiguration? {
        let reader = try SettingsReader(arguments: arguments, environment: [:], file: nil)
        return try LarderConfiguration(reader, environment: ["HOME": "/home/someone"]).store
    }

    @Test("SCALE-01 Without an address there is no store, whatever the other settings are")
    func none() throws {
        #expect(try read([]) == nil)
        #expect(try read(["--store-connections", "3", "--http-access", "pairing"]) == nil)
    }

    @Test("A store has its settings, with and without values of their own", arguments: ["postgresql", "postgres"])
    func settings(scheme: String) throws {
        let url = Self.url.replacing("postgresql", with: scheme)
        let standard = try #require(try read(Self.served + ["--store-url", url]))
        #expect(standard.options.url == url && standard.options.connections == 16)
        #expect(standard.options.timeout == .seconds(3) && ServerSettings.storeKept.defaultValue == .seconds(1))
        let own = ["--store-connections", "4", "--store-timeout-ms", "500", "--store-kept-ms", "0"]
        let changed = try #require(try read(Self.served + ["--store-url", url] + own))
        #expect(changed.options.connections == 4)
        #expect(changed.options.timeout == .milliseconds(500))
        let values = try SettingsReader(arguments: own, environment: [:], file: nil).values()
        #expect(values[ServerSettings.storeKept] == .zero)
    }

    @Test(
        "What cannot be used with a store is refused by name, without the password in its address",
        arguments: [
            (served + ["--store-url", "mysql://larder:hush@127.0.0.1/larder"], "store.url"),
            (served + ["--store-url", "larder:hush"], "store.url"),
            (served + ["--store-url", "postgresql://larder:hush@one:5432,two/larder"], "one host"),
            (served + ["--store-url", "postgresql://larder:hush@/larder?host=one%2Ctwo"], "one host"),
            (served + ["--store-url", url, "--http-access", "pairing"], "paired devices"),
            (served + ["--store-url", url, "--store-connections", "0"], "store.connections"),
            (served + ["--store-url", url, "--store-timeout-ms", "99"], "store.timeout_ms"),
            (served + ["--store-url", url, "--store-kept-ms", "60001"], "store.kept_ms"),
        ]
    )
    func refused(arguments: [String], text: String) throws {
        let error = #expect(throws: SettingError.self) { try read(arguments) }
        #expect(error?.description.contains(text) == true, "\(String(describing: error))")
        #expect(error?.description.contains("hush") == false)
    }

    @Test("The key of sealed secrets is a file of 32 bytes; none is needed without apps that seal")
    func key() throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "store.key")
        let arguments = Self.served + ["--store-url", Self.url]
        #expect(try read(arguments)?.seal() == nil)
        let store = try #require(try read(arguments + ["--store-key-file", file.path]))
        #expect(throws: StorageError.keyMissing(path: file.path)) { try store.seal() }
        try folder.writePrivately("store.key", Data(repeating: 7, count: 31))
        #expect(throws: StorageError.malformedKey(path: file.path)) { try store.seal() }
        try folder.writePrivately("store.key", Data(repeating: 7, count: 32))
        try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: file.path)
        #expect(throws: StorageError.exposedKey(path: file.path)) { try store.seal() }
        try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: file.path)
        let seal = try #require(try store.seal())
        #expect(try seal.open(try seal.seal(Data([1]), name: "one"), name: "one") == Data([1]))
        #expect(throws: StorageError.secretNotAuthentic(name: "two")) {
            try seal.open(try seal.seal(Data([1]), name: "one"), name: "two")
        }
    }

    @Test("A server under test shares nothing: its reset would erase what others use")
    func underTest() throws {
        let arguments = Self.served + ["--store-url", Self.url]
        let reader = try SettingsReader(arguments: arguments, environment: [:], file: nil)
        let error = #expect(throws: SettingError.self) {
            try LarderConfiguration(reader, environment: ["HOME": "/home/someone"], harness: true)
        }
        #expect(error?.description.contains("harness") == true)
    }
}

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
