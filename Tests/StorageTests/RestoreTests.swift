import Foundation
import TestKit
import Testing

@testable import Storage

@Suite(.timeLimit(.minutes(FaultSteps.areAll ? 30 : 3))) struct RestoreTests {
    @Test("TRUST-15 a data directory with files, or in use, is refused by name and not changed")
    func notEmpty() throws {
        let scenario = try BackupScenario()
        _ = try scenario.backup()
        let state = try StoredState(scenario.database)
        let error = #expect(throws: BackupError.self) { try scenario.restore(to: scenario.data) }
        guard case .directoryNotEmpty(_, let names) = error else { return #expect(Bool(false), "\(error as Any)") }
        #expect(names.contains("larder.sqlite") && names.contains("blobs"))
        #expect(try StoredState(scenario.database) == state)
        let place = scenario.folder.url.appending(path: "locked")
        let lock = try DataDirectory(at: place)
        #expect(throws: StorageError.directoryInUse(path: place.path, pid: getpid())) {
            try scenario.restore(to: place)
        }
        #expect(try scenario.names(URL(filePath: lock.path)) == ["larder.lock"])
    }

    @Test("TRUST-15 a missing, changed or cut file of a backup is named, and nothing is restored")
    func changed() throws {
        let scenario = try BackupScenario()
        _ = try scenario.backup()
        let place = scenario.folder.url.appending(path: "restored")
        let blob = try scenario.blob()
        let names = ["larder.sqlite", "larder.key", "blobs/.identity", "blobs/\(blob.lastPathComponent)"]
        for name in names {
            let file = scenario.target.appending(path: name)
            let bytes = try Data(contentsOf: file)
            var flipped = bytes
            flipped[flipped.count / 2] ^= 1
            for change in [flipped, bytes.dropLast(), bytes + [0], nil] {
                // Removed first: a file of a blob is a link.
                try FileManager.default.removeItem(at: file)
                try change?.write(to: file)
                let path = try #require(RealPath.of(scenario.target.path))
                #expect(throws: BackupError.changed(path: path, files: [name])) { try scenario.restore(to: place) }
                #expect(!scenario.exists(place))
                try bytes.write(to: file)
            }
        }
        _ = try scenario.restore(to: place)
    }

    @Test("TRUST-15 a directory that is not a complete backup is refused")
    func notABackup() throws {
        let scenario = try BackupScenario()
        _ = try scenario.backup()
        let place = scenario.folder.url.appending(path: "restored")
        let list = scenario.target.appending(path: "SHA256SUMS")
        let text = try String(contentsOf: list, encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let digest = String(repeating: "0", count: 64)
        let others = [
            "", String(text.dropLast(20)), lines.dropLast(3).joined(separator: "\n"),
            lines.filter { !$0.hasSuffix("larder.sqlite") }.joined(separator: "\n"),
            text.replacing("larder.sqlite", with: "../larder.sqlite"), "\(digest)  /etc/passwd\n# 1 files\n",
        ]
        for other in others {
            try other.write(to: list, atomically: true, encoding: .utf8)
            let error = #expect(throws: BackupError.self) { try scenario.restore(to: place) }
            #expect(error.map { "\($0)".contains("is not a complete backup") } == true, "\(error as Any): \(other)")
            #expect(!scenario.exists(place))
        }
        try FileManager.default.removeItem(at: list)
        #expect(throws: BackupError.self) { try scenario.restore(to: place) }
        #expect(throws: BackupError.self) { try Restore(of: scenario.folder.url.appending(path: "no"), migrations: []) }
    }

    @Test("A row whose file is in no list is found, though all digests fit")
    func listLacksFile() throws {
        let scenario = try BackupScenario()
        _ = try scenario.backup()
        let name = "blobs/\(try scenario.blob().lastPathComponent)"
        let list = scenario.target.appending(path: "SHA256SUMS")
        var sums = try #require(Checksums(parsing: String(contentsOf: list, encoding: .utf8)))
        sums.digests[name] = nil
        try sums.text.write(to: list, atomically: true, encoding: .utf8)
        let path = try #require(RealPath.of(scenario.target.path))
        #expect(throws: BackupError.changed(path: path, files: [name])) {
            try scenario.restore(to: scenario.folder.url.appending(path: "restored"))
        }
    }

    @Test("TRUST-15 each system call on the data directory fails: it is as empty as before, or restored")
    func faults() async throws {
        let scenario = try BackupScenario()
        _ = try scenario.backup()
        let state = try StoredState(scenario.database)
        let place = scenario.folder.url.appending(path: "place")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        let scope = try FaultScope(place.path)
        var failures = 0
        for fault in FaultScope.Fault.all {
            for step in FaultSteps(fault, every: 15) {
                let directory = place.appending(path: UUID().uuidString)
                let (result, hasFailed) = await scope.failing(fault, at: step) {
                    Result { try scenario.restore(to: directory) }
                }
                failures += hasFailed ? 1 : 0
                let database = directory.appending(path: "larder.sqlite")
                if case .failure = result, fault.description != "EIO" {
                    #expect(!scenario.exists(database), "\(fault) at \(step)")
                    // A part that has its name and cannot be moved back stays, for the operator.
                    if scenario.exists(directory) { try FileManager.default.removeItem(at: directory) }
                    _ = try scenario.restore(to: directory)
                }
                // Whatever was reported: where there is a database, everything is.
                if scenario.exists(database) {
                    let database = try BackupScenario.open(directory)
                    #expect(try StoredState(database) == state)
                    try database.close()
                }
                guard hasFailed else { break }
            }
        }
        print("faults: restore: \(failures)")
        #expect(failures > 6)
    }

    @Test("Leftovers of an interrupted restore are replaced")
    func leftovers() throws {
        let scenario = try BackupScenario()
        _ = try scenario.backup()
        let place = scenario.folder.url.appending(path: "restored")
        let work = place.appending(path: "restore.partial/blobs")
        try FileManager.default.createDirectory(at: work, withIntermediateDirectories: true)
        try Data([1]).write(to: work.appending(path: "0000000000000001"))
        #expect(try scenario.restore(to: place).files == 3)
        #expect(try scenario.names(place) == ["blobs", "larder.key", "larder.lock", "larder.sqlite"])
    }

    @Test("sha256sum(1) accepts the list of a backup")
    func standardTool() async throws {
        let scenario = try BackupScenario()
        _ = try scenario.backup()
        let check = #"cd "$0" && sha256sum --check --strict --quiet SHA256SUMS"#
        #expect(try await RunningProcess.output(of: "sh", ["-c", check, scenario.target.path]) == "")
    }
}
