import Foundation
import GRDB
import Logging
import TestKit
import Testing

@testable import Database
@testable import ResponseStore

/// TRUST-03: what does not fit together is refused by name, and nothing is deleted or changed.
@Suite struct DirectoryCheckTests {
    /// A data directory with a stored file and a secret; removed with the value.
    private final class Scenario {
        let folder = URL(filePath: NSTemporaryDirectory() + "larder-tests-\(UUID().uuidString)")
        let logger = Logger.quiet
        var path: String { folder.path }
        var databasePath: String { path + "/larder.sqlite" }

        deinit { try? FileManager.default.removeItem(at: folder) }

        func open() throws -> LarderDatabase {
            try LarderDatabase.withCacheTables(in: DataDirectory(at: folder), logger: logger)
        }

        /// What `larder doctor` does.
        func examine() throws -> DirectoryCheck {
            try DirectoryCheck(
                of: DataDirectory(at: folder),
                migrations: CacheTables.migrations,
                options: .init(integrityCheck: .always)
            )
        }

        /// Writes a file, and gives its blob; closes in order.
        @discardableResult
        func fill(_ byte: UInt8 = 1) throws -> Blob {
            let database = try open()
            let secrets = try SealedSecrets(database)
            let blob = try database.blobs.write(Data([byte]))
            try database.write { db in
                try ResponseStore(database).save(
                    makeCachedResponse("https://ships.test/\(byte)", body: .blob(blob)),
                    in: db
                )
                try secrets.store(Data([byte]), name: "token", in: db)
            }
            try database.close()
            return blob
        }

        /// All files by name, but for the lock.
        func files() throws -> [String: Data] {
            var files: [String: Data] = [:]
            for name in try FileManager.default.subpathsOfDirectory(atPath: path) where name != "larder.lock" {
                files[name] = (try? Data(contentsOf: folder.appending(path: name))) ?? Data("a folder".utf8)
            }
            return files
        }

        /// Both `serve` and `doctor` refuse, and nothing is changed.
        func expectRefused(_ error: StorageError, sourceLocation: SourceLocation = #_sourceLocation) throws {
            let before = try files()
            #expect(throws: error, sourceLocation: sourceLocation) { try self.open() }
            #expect(throws: error, sourceLocation: sourceLocation) { try self.examine() }
            #expect(try files() == before, sourceLocation: sourceLocation)
        }

        func remove(_ name: String) throws { try FileManager.default.removeItem(at: folder.appending(path: name)) }
    }

    @Test("TRUST-03 a database that is missing or empty beside key and files is refused", arguments: [true, false])
    func missingDatabase(isEmpty: Bool) throws {
        let scenario = Scenario()
        try scenario.fill()
        if isEmpty {
            try Data().write(to: URL(filePath: scenario.databasePath))
        } else {
            try scenario.remove("larder.sqlite")
        }
        try scenario.expectRefused(
            .databaseMissing(path: scenario.databasePath, remains: ["larder.key", "blobs (1 files)"])
        )
        #expect(
            "\(StorageError.databaseMissing(path: "/d/larder.sqlite", remains: ["larder.key"]))".contains(
                "Restore the database"
            )
        )
        // Each of the two alone is enough.
        try scenario.remove("larder.key")
        try scenario.expectRefused(.databaseMissing(path: scenario.databasePath, remains: ["blobs (1 files)"]))
        try scenario.remove("blobs")
        let key = Data(repeating: 7, count: 32)
        try key.write(to: scenario.folder.appending(path: "larder.key"))
        try scenario.expectRefused(.databaseMissing(path: scenario.databasePath, remains: ["larder.key"]))
        try scenario.remove("larder.key")
        #expect(try scenario.examine().isNew)
        try scenario.open().close()
    }

    @Test("TRUST-03 a log without its database is refused")
    func logAlone() throws {
        let scenario = Scenario()
        let database = try scenario.open()
        try FileManager.default.copyItem(atPath: scenario.databasePath + "-wal", toPath: scenario.path + "/copy")
        try database.close()
        for name in ["larder.sqlite", "blobs"] { try scenario.remove(name) }
        try FileManager.default.moveItem(atPath: scenario.path + "/copy", toPath: scenario.databasePath + "-wal")
        let error = StorageError.databaseMissing(path: scenario.databasePath, remains: ["larder.sqlite-wal"])
        #expect(throws: error) { try LarderDatabase.withCacheTables(in: database.directory, logger: scenario.logger) }
        #expect(FileManager.default.fileExists(atPath: scenario.databasePath + "-wal"))
    }

    @Test("TRUST-03 a database of another program is refused", arguments: [252_006_673, 0])
    func foreignDatabase(application: Int) throws {
        let scenario = Scenario()
        try FileManager.default.createDirectory(at: scenario.folder, withIntermediateDirectories: true)
        let foreign = try DatabaseQueue(path: scenario.databasePath)
        try foreign.writeWithoutTransaction {
            try $0.execute(sql: "PRAGMA application_id = \(application); CREATE TABLE account (a)")
        }
        try foreign.close()
        let detail = application == 0 ? "its tables are not those of Larder" : "its application id is \(application)"
        try scenario.expectRefused(.foreignDatabase(path: scenario.databasePath, detail: detail))
        #expect(throws: StorageError.foreignDatabase(path: scenario.databasePath, detail: detail)) {
            try CacheInspection(at: scenario.folder)
        }
    }

    @Test("TRUST-03 a database that another program keeps with the same library is refused")
    func otherMigrations() throws {
        let scenario = Scenario()
        try FileManager.default.createDirectory(at: scenario.folder, withIntermediateDirectories: true)
        let foreign = try DatabaseQueue(path: scenario.databasePath)
        try SchemaMigration.migrator([SchemaMigration("v1", sql: "CREATE TABLE account (a)")]).migrate(foreign)
        try foreign.close()
        try scenario.expectRefused(
            .foreignDatabase(path: scenario.databasePath, detail: "its tables are not those of Larder")
        )
    }

    @Test("TRUST-03 database and blobs of two directories are refused")
    func foreignBlobs() throws {
        let (scenario, other) = (Scenario(), Scenario())
        try scenario.fill()
        try other.fill(2)
        try scenario.remove("blobs")
        try FileManager.default.copyItem(
            at: other.folder.appending(path: "blobs"),
            to: scenario.folder.appending(path: "blobs")
        )
        let identity = try #require(try DirectoryIdentity.read(in: scenario.path + "/blobs"))
        let own = try DatabaseQueue(path: scenario.databasePath).read { try #require(try DirectoryIdentity.read($0)) }
        #expect(identity != own)
        try scenario.expectRefused(
            .foreignBlobs(
                path: scenario.path + "/blobs",
                identity: identity.description,
                databaseIdentity: own.description
            )
        )
        try Data("x".utf8).write(to: scenario.folder.appending(path: "blobs/.identity"))
        try scenario.expectRefused(.malformedIdentity(path: scenario.path + "/blobs/.identity"))
    }

    @Test("TRUST-03 a missing key, one of another directory and a cut one are refused when the database is opened")
    func keys() throws {
        let scenario = Scenario()
        try scenario.fill()
        let keyPath = scenario.path + "/larder.key"
        try Data(repeating: 1, count: 5).write(to: URL(filePath: keyPath))
        try scenario.expectRefused(.malformedKey(path: keyPath))
        try Data(repeating: 1, count: 32).write(to: URL(filePath: keyPath))
        try Data(repeating: 2, count: 32).write(to: URL(filePath: keyPath + ".next"))
        try scenario.expectRefused(.wrongKey(path: keyPath))
        try scenario.remove("larder.key")
        try scenario.expectRefused(.keyMissing(path: keyPath))
    }

    @Test("TRUST-03 files that are missing, cut or unknown are named, and nothing of them is changed")
    func files() throws {
        let scenario = Scenario()
        let (lost, cut, whole) = (try scenario.fill(1), try scenario.fill(2), try scenario.fill(3))
        try scenario.remove("blobs/\(lost.id)")
        #expect(truncate(scenario.path + "/blobs/\(cut.id)", 0) == 0)
        let unknown = BlobID.random()
        try Data([9]).write(to: scenario.folder.appending(path: "blobs/\(unknown)"))
        try Data([9]).write(to: scenario.folder.appending(path: "blobs/note of the owner"))
        let before = try scenario.files()
        let found = try scenario.examine()
        #expect(found.blobs == 3 && found.missing == [lost.id] && found.cut == [cut.id] && found.unknown == [unknown])
        #expect(found.faults() == "1 missing: \(lost.id); 1 cut: \(cut.id)")
        #expect(found.strangers() == "1 unknown: \(unknown)")
        #expect(try scenario.files() == before)
        let database = try scenario.open()
        #expect(try database.blobs.reader(whole).readAll() == Data([3]))
        #expect(Set(try database.blobs.fileNames()) == [cut.id.fileName, whole.id.fileName, unknown.fileName])
        try database.close()
    }

    @Test(
        "TRUST-03 a deleted log costs the rows that were only in it, and none of their files; with the log all is back"
    )
    func deletedLog() throws {
        let scenario = Scenario()
        let kept = try scenario.fill(1)
        let copy = Scenario()
        let blob: Blob
        do {
            let database = try scenario.open()
            blob = try database.blobs.write(Data([2]))
            _ = try database.write {
                try ResponseStore(database).save(makeCachedResponse("https://ships.test/2", body: .blob(blob)), in: $0)
            }
            // What a killed process leaves.
            try FileManager.default.copyItem(at: scenario.folder, to: copy.folder)
            try database.close()
        }
        let log = copy.folder.appending(path: "larder.sqlite-wal")
        let bytes = try Data(contentsOf: log)
        let before = try Data(contentsOf: URL(filePath: copy.databasePath))
        for name in ["larder.sqlite-wal", "larder.sqlite-shm"] { try copy.remove(name) }
        #expect(try copy.examine().unknown == [blob.id])
        try copy.open().close()
        #expect(
            Set(try FileManager.default.contentsOfDirectory(atPath: copy.path + "/blobs")) == [
                ".identity", "\(kept.id)", "\(blob.id)",
            ]
        )
        try before.write(to: URL(filePath: copy.databasePath))
        try bytes.write(to: log)
        let again = try copy.open()
        #expect(try again.blobs.reader(blob).readAll() == Data([2]))
        #expect(
            try ResponseStore(again).responses(like: makeCachedResponse("https://ships.test/2")).map(\.body) == [
                .blob(blob)
            ]
        )
        try again.close()
    }

    @Test("A read-only part is named", .enabled(if: geteuid() != 0, "root may write everywhere"))
    func readOnly() throws {
        let scenario = Scenario()
        try scenario.fill()
        for name in ["blobs", "larder.sqlite"] {
            let before = try FileManager.default.attributesOfItem(atPath: "\(scenario.path)/\(name)")[.posixPermissions]
            #expect(chmod("\(scenario.path)/\(name)", 0o500) == 0)
            try scenario.expectRefused(.notWritable(path: "\(scenario.path)/\(name)"))
            try FileManager.default.setAttributes(
                [.posixPermissions: before as Any],
                ofItemAtPath: "\(scenario.path)/\(name)"
            )
        }
    }
}
