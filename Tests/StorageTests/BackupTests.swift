import Foundation
import GRDB
import Synchronization
import TestKit
import Testing

@testable import Storage

@Suite(.timeLimit(.minutes(FaultSteps.areAll ? 30 : 3))) struct BackupTests {
    @Test("TRUST-15 a backup of an open database has every row, every file and the key, readable by the owner only")
    func whole() throws {
        let scenario = try BackupScenario()
        let report = try scenario.backup()
        #expect(report.files == 3 && report.faults == nil && report.bytes > 15_000)
        #expect(try scenario.names(scenario.target) == ["SHA256SUMS", "blobs", "larder.key", "larder.sqlite"])
        #expect(!scenario.exists(scenario.unfinished))
        #expect(try scenario.restored() == StoredState(scenario.database))
        for name in ["."] + (try FileManager.default.subpathsOfDirectory(atPath: scenario.target.path)) {
            let path = scenario.target.appending(path: name).path
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode.map { $0 & 0o077 } == 0, "\(name)")
        }
    }

    @Test("The files of a backup on the same file system are links; those on another one are copies")
    func links() throws {
        let scenario = try BackupScenario()
        _ = try scenario.backup()
        let file = try scenario.blob()
        func links(_ path: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: path)[.referenceCount] as? Int
        }
        #expect(try links(file.path) == 2)
        let other = URL(filePath: "/dev/shm/larder-backup-\(UUID().uuidString)")
        guard RealPath.device(of: "/dev/shm") != RealPath.device(of: scenario.folder.path) else { return }
        defer { try? FileManager.default.removeItem(at: other) }
        _ = try Backup(of: scenario.data, migrations: CacheTables.migrations, origin: "").write(to: other)
        let copy = other.appending(path: "blobs/\(file.lastPathComponent)")
        #expect(try links(copy.path) == 1)
        #expect(try Data(contentsOf: copy) == Data(contentsOf: file))
    }

    @Test("TRUST-15 rows that are deleted and written while files are copied: the backup is one state, and whole")
    func changing() throws {
        let scenario = try BackupScenario()
        let before = Mutex(0)
        let report = try scenario.backup { progress in
            let isFirst = before.withLock { count in
                count += 1
                return count == 1
            }
            // The rows have been read, and none of their files was copied.
            guard isFirst, progress.step == .files else { return }
            #expect(throws: Never.self) {
                try scenario.remove("b")
                try scenario.save("d")
                try scenario.save("e")
            }
        }
        #expect(report.files == 4 && report.faults == nil)
        #expect(try scenario.restored() == StoredState(scenario.database))
        #expect(try scenario.names(scenario.target.appending(path: "blobs")).count == 5)
    }

    @Test("TRUST-15 what is written after the pages were begun to be copied is not in the backup, which stays whole")
    func later() throws {
        let scenario = try BackupScenario()
        let state = try StoredState(scenario.database)
        let isDone = Mutex(false)
        _ = try scenario.backup { progress in
            guard progress.step == .database, !isDone.withLock({ $0.exchange(true) }) else { return }
            #expect(throws: Never.self) {
                try scenario.remove("a")
                try scenario.save("f")
            }
        }
        let wasLater = isDone.withLock(\.self)
        #expect(wasLater)
        #expect(try scenario.restored() == state)
    }

    @Test("TRUST-15 a key that is rotated during a backup: the backup has the key of its secrets")
    func rotation() throws {
        let scenario = try BackupScenario()
        for step in [StorageProgress.Step.files, .database] {
            let isDone = Mutex(false)
            _ = try scenario.backup { progress in
                guard progress.step == step, !isDone.withLock({ $0.exchange(true) }) else { return }
                #expect(throws: Never.self) { try scenario.secrets.rotateKey() }
            }
            let wasRotated = isDone.withLock(\.self)
            #expect(wasRotated)
            _ = try scenario.restored()
            try FileManager.default.removeItem(at: scenario.target)
        }
    }

    @Test("A file that the data directory has lost is named, and everything else is in the backup")
    func lost() throws {
        let scenario = try BackupScenario()
        let blobs = scenario.data.appending(path: "blobs")
        let names = try scenario.names(blobs).filter { $0.count == 16 }
        try FileManager.default.removeItem(at: blobs.appending(path: names[0]))
        try FileManager.default.removeItem(at: blobs.appending(path: names[1]))
        try Data([1]).write(to: blobs.appending(path: names[1]))
        let report = try scenario.backup()
        #expect(report.faults == "1 missing: \(names[0]); 1 cut: \(names[1])")
        #expect(try scenario.restore(to: scenario.folder.url.appending(path: "again")).faults == report.faults)
    }

    @Test("A database with damaged pages is not backed up, and no backup appears")
    func damaged() throws {
        let scenario = DamagedCacheScenario()
        try scenario.fill()
        let target = scenario.folder.deletingLastPathComponent().appending(path: "larder-backup-\(UUID().uuidString)")
        let backup = Backup(of: scenario.folder, migrations: CacheTables.migrations, origin: "")
        let error = #expect(throws: BackupError.self) { try backup.write(to: target) }
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains("is damaged") && text.contains(scenario.folder.lastPathComponent), "\(text)")
        #expect(!text.contains(".partial"))
        #expect(!FileManager.default.fileExists(atPath: target.path))
        #expect(!FileManager.default.fileExists(atPath: target.path + ".partial"))
    }

    @Test("A directory without a database, of another program, or of a newer build is refused by name")
    func sources() throws {
        let scenario = try BackupScenario()
        let none = scenario.folder.url.appending(path: "none")
        #expect(throws: BackupError.noDatabase(path: none.path)) {
            try Backup(of: none, migrations: [], origin: "").write(to: scenario.target)
        }
        #expect(!scenario.exists(none))
        let older = Backup(of: scenario.data, migrations: Array(CacheTables.migrations.dropLast()), origin: "")
        let error = #expect(throws: StorageError.self) { try older.write(to: scenario.target) }
        guard case .newerSchema = error else { return #expect(Bool(false), "\(String(describing: error))") }
        #expect(!scenario.exists(scenario.target) && !scenario.exists(scenario.unfinished))
    }

    @Test("TRUST-15 each system call on the target fails: there is no backup then, and no disk full stays unnamed")
    func faults() async throws {
        let scenario = try BackupScenario()
        let place = scenario.folder.url.appending(path: "place")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        let scope = try FaultScope(place.path)
        let target = place.appending(path: "backup")
        let state = try StoredState(scenario.database)
        var failures = 0
        for fault in FaultScope.Fault.all {
            for step in FaultSteps(fault, every: 15) {
                let backup = Backup(of: scenario.data, migrations: CacheTables.migrations, origin: "")
                let (result, hasFailed) = await scope.failing(fault, at: step) {
                    Result { try backup.write(to: target) }
                }
                failures += hasFailed ? 1 : 0
                if case .failure(let error) = result, fault.description == "ENOSPC" {
                    #expect("\(error)".contains("full"), "\(step): \(error)")
                }
                if case .success = result { #expect(FileManager.default.fileExists(atPath: target.path)) }
                // Whatever was reported, a folder with the name of the backup is a whole backup.
                if FileManager.default.fileExists(atPath: target.path) {
                    let restored = scenario.folder.url.appending(path: "restored-\(UUID().uuidString)")
                    _ = try Restore(of: target, migrations: CacheTables.migrations).write(to: restored)
                    let copy = try BackupScenario.open(restored)
                    #expect(try StoredState(copy) == state)
                    try copy.close()
                    try FileManager.default.removeItem(at: target)
                }
                guard hasFailed else { break }
            }
        }
        print("faults: backup: \(failures)")
        #expect(failures > 6)
    }
}

extension Bool {
    /// Sets a value and returns the former one.
    fileprivate mutating func exchange(_ new: Bool) -> Bool {
        defer { self = new }
        return self
    }
}

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

/// A data directory with documents' files and a secret, and a place for its backups; removed with the value.
final class BackupScenario {
    let folder: TemporaryFolder
    let data: URL
    let target: URL
    let database: LarderDatabase
    let secrets: SealedSecrets

    init() throws {
        folder = try TemporaryFolder()
        data = folder.url.appending(path: "data")
        target = folder.url.appending(path: "backup")
        database = try Self.open(data)
        secrets = try SealedSecrets(database)
        try database.write { try secrets.store(Data("token".utf8), name: "token", in: $0) }
        for name in ["a", "b", "c"] { try save(name) }
    }

    static func open(_ folder: URL) throws -> LarderDatabase {
        try LarderDatabase.withCacheTables(in: DataDirectory(at: folder), logger: .quiet)
    }

    /// Stores a file of random bytes and a row that names it.
    func save(_ name: String) throws {
        let blob = try database.blobs.write(Data((0..<5000).map { _ in UInt8.random(in: 0...255) }))
        let response = makeCachedResponse("https://ships.test/\(name)", body: .blob(blob))
        _ = try database.write { try ResponseStore(database).save(response, in: $0) }
    }

    func remove(_ name: String) throws {
        _ = try database.write { db in
            try ResponseStore(database).remove(upstream: "ships", url: "https://ships.test/\(name)", in: db)
        }
    }

    func backup(_ progress: @escaping ProgressReceiver = { _ in }) throws -> Backup.Report {
        try Backup(of: data, migrations: CacheTables.migrations, origin: "a test", progress: progress).write(to: target)
    }

    /// Restores the backup to a new directory, and returns its state.
    func restored() throws -> StoredState {
        let place = folder.url.appending(path: "restored-\(UUID().uuidString)")
        _ = try restore(to: place)
        let database = try Self.open(place)
        let secrets = try SealedSecrets(database)
        guard try database.read({ try secrets.secret(name: "token", in: $0) }) == Data("token".utf8) else {
            throw StorageError.secretNotAuthentic(name: "token")
        }
        let state = try StoredState(database)
        try database.close()
        return state
    }

    func restore(to place: URL) throws -> Restore.Report {
        try Restore(of: target, migrations: CacheTables.migrations).write(to: place)
    }

    func names(_ place: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: place.path).sorted()
    }

    func exists(_ place: URL) -> Bool { FileManager.default.fileExists(atPath: place.path) }
    var unfinished: URL { folder.url.appending(path: "backup.partial") }

    /// A file of the backup that a row names.
    func blob() throws -> URL {
        let blobs = target.appending(path: "blobs")
        let name = try names(blobs).first { $0.count == 16 }
        return blobs.appending(path: name ?? "none")
    }
}
