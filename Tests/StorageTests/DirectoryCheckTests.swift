import Foundation
import GRDB
import Logging
import TestKit
import Testing

@testable import Storage

/// TRUST-03: files that do not fit together are refused by name, and nothing is deleted or changed.
@Suite struct DirectoryCheckTests {
    @Test("TRUST-03 a database that is missing or empty beside key and files is refused", arguments: [true, false])
    func missingDatabase(isEmpty: Bool) throws {
        let scenario = DirectoryScenario()
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
        let scenario = DirectoryScenario()
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
        let scenario = DirectoryScenario()
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
        let scenario = DirectoryScenario()
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
        let (scenario, other) = (DirectoryScenario(), DirectoryScenario())
        try scenario.fill()
        try other.fill(2)
        try scenario.remove("blobs")
        try FileManager.default.copyItem(
            at: other.folder.appending(path: "blobs"),
            to: scenario.folder.appending(path: "blobs")
        )
        let identity = try #require(try DirectoryIdentity.read(in: scenario.path + "/blobs"))
        let own = try DatabaseQueue(path: scenario.databasePath).read {
            try #require(try DirectoryIdentity.read($0, path: ""))
        }
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
        let scenario = DirectoryScenario()
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
        let scenario = DirectoryScenario()
        let (lost, cut, whole) = (try scenario.fill(1), try scenario.fill(2), try scenario.fill(3))
        try scenario.remove("blobs/\(lost.id)")
        #expect(truncate(scenario.path + "/blobs/\(cut.id)", 0) == 0)
        let unknown = BlobID.random()
        try Data([9]).write(to: scenario.folder.appending(path: "blobs/\(unknown)"))
        try Data([9]).write(to: scenario.folder.appending(path: "blobs/note of the owner"))
        let before = try scenario.files()
        let found = try scenario.examine()
        let files = found.files
        #expect(files.count == 3 && files.missing == [lost.id] && files.cut == [cut.id] && files.unknown == [unknown])
        #expect(files.faults() == "1 missing: \(lost.id); 1 cut: \(cut.id)")
        #expect(files.strangers() == "1 unknown: \(unknown)")
        #expect(try scenario.files() == before)
        let database = try scenario.open()
        #expect(try database.blobs.reader(whole).readAll() == Data([3]))
        #expect(Set(try database.blobs.fileNames()) == [cut.id.fileName, whole.id.fileName, unknown.fileName])
        try database.close()
    }

    @Test("TRUST-03 a deleted log costs the rows that were only in it, none of their files; with the log all is back")
    func deletedLog() throws {
        let scenario = DirectoryScenario()
        let kept = try scenario.fill(1)
        let copy = DirectoryScenario()
        let blob: Blob
        do {
            let database = try scenario.open()
            blob = try database.blobs.write(Data([2]))
            _ = try database.write {
                try ResponseStore(database).save(makeCachedResponse("https://ships.test/2", body: .blob(blob)), in: $0)
            }
            // A killed process leaves the files like this, with rows that are only in the log.
            try FileManager.default.copyItem(at: scenario.folder, to: copy.folder)
            try database.close()
        }
        let log = copy.folder.appending(path: "larder.sqlite-wal")
        let bytes = try Data(contentsOf: log)
        let before = try Data(contentsOf: URL(filePath: copy.databasePath))
        for name in ["larder.sqlite-wal", "larder.sqlite-shm"] { try copy.remove(name) }
        #expect(try copy.examine().files.unknown == [blob.id])
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

    @Test(
        "TRUST-03 a part that cannot be written or read is named, and nothing is changed",
        arguments: ["", "/blobs", "/uploads", "/work", "/larder.sqlite", "/larder.sqlite-wal"],
        [0o444, 0o222]
    )
    func rights(part: String, mode: mode_t) throws {
        let scenario = DirectoryScenario()
        try scenario.fill()
        for name in ["uploads", "work"] {
            try FileManager.default.createDirectory(
                at: scenario.folder.appending(path: name),
                withIntermediateDirectories: false
            )
        }
        try Data().write(to: scenario.folder.appending(path: "larder.sqlite-wal"))
        let directory = try DataDirectory(at: scenario.folder)
        for name in [""] + (try FileManager.default.subpathsOfDirectory(atPath: scenario.path)) {
            #expect(chown("\(scenario.path)/\(name)", Unprivileged.user, .max) == 0)
        }
        let path = scenario.path + part
        let isFolder = !part.contains("sqlite")
        #expect(chmod(path, mode | (isFolder ? 0o111 : 0)) == 0)
        defer { chmod(path, 0o700) }
        let error = #expect(throws: StorageError.self) {
            try Unprivileged.run {
                _ = try DirectoryCheck(of: directory, migrations: CacheTables.migrations, options: .init())
            }
        }
        #expect(error == (mode == 0o444 ? .notWritable(path: path) : .notReadable(path: path)))
    }

    @Test("TRUST-14 what is in the directory is readable by its owner only, also in a folder that was there before")
    func modes() throws {
        let scenario = DirectoryScenario()
        try FileManager.default.createDirectory(
            at: scenario.folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o755]
        )
        let database = try scenario.open()
        _ = try SealedSecrets(database)
        let scratch = try ScratchFolder("uploads", in: database.directory)
        let (blob, file) = (try database.blobs.writer(), try scratch.file())
        try blob.append(Data([1]))
        try file.append(Data([1]))
        for name in try FileManager.default.subpathsOfDirectory(atPath: scenario.path) {
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(scenario.path)/\(name)")
            let mode = try #require(attributes[.posixPermissions] as? Int)
            #expect(mode & 0o077 == 0, "\(name) \(String(mode, radix: 8))")
        }
        try database.close()
    }
}

/// A data directory with a stored file and a secret; removed with the value.
final class DirectoryScenario {
    private let temporary = TemporaryFolder.unmade()
    var folder: URL { temporary.url }
    let logger = Logger.quiet
    var path: String { folder.path }
    var databasePath: String { path + "/larder.sqlite" }

    func open() throws -> LarderDatabase {
        try LarderDatabase.withCacheTables(in: DataDirectory(at: folder), logger: logger)
    }

    /// Checks the directory like `larder doctor`.
    func examine() throws -> DirectoryCheck {
        try DirectoryCheck(
            of: DataDirectory(at: folder),
            migrations: CacheTables.migrations,
            options: .init(integrityCheck: .always)
        )
    }

    /// Stores a response in a file, closes the database in order, and returns the blob.
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

    /// Changes the closed database as another program would.
    func change(_ sql: String) throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let queue = try DatabaseQueue(path: databasePath, configuration: configuration)
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        try queue.close()
    }

    /// Returns all files by name, except the lock.
    func files() throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: path) where name != "larder.lock" {
            files[name] = (try? Data(contentsOf: folder.appending(path: name))) ?? Data("a folder".utf8)
        }
        return files
    }

    /// Expects that both `serve` and `doctor` refuse the directory, and that nothing is changed.
    func expectRefused(_ error: StorageError, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let before = try files()
        #expect(throws: error, sourceLocation: sourceLocation) { try self.open() }
        #expect(throws: error, sourceLocation: sourceLocation) { try self.examine() }
        #expect(try files() == before, sourceLocation: sourceLocation)
    }

    func remove(_ name: String) throws { try FileManager.default.removeItem(at: folder.appending(path: name)) }
}
