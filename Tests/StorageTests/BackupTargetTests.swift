import Foundation
import TestKit
import Testing

@testable import Storage

@Suite struct BackupTargetTests {
    @Test("TRUST-15 a target that is not a new place is refused by name, and nothing is changed")
    func refused() throws {
        let scenario = try BackupScenario()
        let place = scenario.folder.url
        let files = FileManager.default
        let full = place.appending(path: "full")
        try files.createDirectory(at: full, withIntermediateDirectories: true)
        try Data([1]).write(to: full.appending(path: "precious"))
        try Data([2]).write(to: place.appending(path: "file"))
        try files.createSymbolicLink(atPath: place.path + "/dangling", withDestinationPath: "/nowhere/at/all")
        try files.createSymbolicLink(at: place.appending(path: "inside"), withDestinationURL: scenario.data)
        let root = try #require(RealPath.of(place.path))
        let cases: [(String, BackupError)] = [
            ("full", .targetNotEmpty(path: root + "/full")),
            ("file", .targetUnsuitable(path: root + "/file", reason: "it is not a directory")),
            (
                "dangling",
                .targetUnsuitable(path: place.path + "/dangling", reason: "it is a symbolic link that leads nowhere")
            ),
            (
                "missing/backup",
                .targetUnsuitable(
                    path: place.path + "/missing/backup",
                    reason: "\(place.path)/missing does not exist or cannot be entered"
                )
            ),
        ]
        let before = try files.subpathsOfDirectory(atPath: place.path).sorted()
        for (name, error) in cases {
            #expect(throws: error) {
                try Backup(of: scenario.data, migrations: CacheTables.migrations, origin: "")
                    .write(to: place.appending(path: name))
            }
        }
        for name in ["data", "data/copy", "data/blobs/copy", "inside", "inside/copy"] {
            let error = #expect(throws: BackupError.self) {
                try Backup(of: scenario.data, migrations: CacheTables.migrations, origin: "")
                    .write(to: place.appending(path: name))
            }
            #expect(error.map { "\($0)".contains("inside the data directory") } == true, "\(name)")
        }
        #expect(try files.subpathsOfDirectory(atPath: place.path).sorted() == before)
    }

    @Test("An empty directory, and a link to one, become the backup")
    func empty() throws {
        let scenario = try BackupScenario()
        let real = scenario.folder.url.appending(path: "real")
        try FileManager.default.createDirectory(at: real, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(at: scenario.target, withDestinationURL: real)
        _ = try scenario.backup()
        #expect(try scenario.names(real).contains("SHA256SUMS"))
        _ = try scenario.restored()
    }

    @Test("TRUST-15 leftovers of a killed backup are replaced; other files at its path are not touched")
    func leftovers() throws {
        let scenario = try BackupScenario()
        let files = FileManager.default
        try files.createDirectory(at: scenario.unfinished.appending(path: "blobs"), withIntermediateDirectories: true)
        for name in ["larder.sqlite", "larder.sqlite-journal", "larder.key", "blobs/0000000000000001", "larder.lock"] {
            try Data([1]).write(to: scenario.unfinished.appending(path: name))
        }
        let precious = scenario.unfinished.appending(path: "precious")
        try Data([2]).write(to: precious)
        let before = try files.subpathsOfDirectory(atPath: scenario.unfinished.path).sorted()
        let error = #expect(throws: BackupError.self) { try scenario.backup() }
        #expect(error.map { "\($0)".contains("precious") } == true)
        #expect(try files.subpathsOfDirectory(atPath: scenario.unfinished.path).sorted() == before)
        try files.removeItem(at: precious)
        _ = try scenario.backup()
        #expect(!scenario.exists(scenario.unfinished))
        #expect(try scenario.restored() == StoredState(scenario.database))
    }

    @Test("Two backups to one target at once: the second one is refused, and the first one is whole")
    func twice() throws {
        let scenario = try BackupScenario()
        var second: (any Error)?
        _ = try scenario.backup { progress in
            guard progress.step == .digests, second == nil else { return }
            do { _ = try scenario.backup() } catch { second = error }
        }
        let path = try #require(RealPath.of(scenario.target.path))
        #expect(second as? BackupError == .targetInUse(path: path, pid: getpid()))
        #expect(try scenario.restored() == StoredState(scenario.database))
    }
}
