import Dispatch
import Foundation
import GRDB
import Logging
import Synchronization
import TestKit
import Testing

@testable import Storage

@Suite struct DataDirectoryTests {
    private let temporary = TemporaryFolder.unmade()
    var folder: URL { temporary.url }

    private func rights(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test("A missing folder is made, with everything above it, for its owner only")
    func creation() throws {
        let directory = try DataDirectory(at: folder.appendingPathComponent("a/b"))
        let database = try LarderDatabase.withCacheTables(in: directory, logger: Logger(label: "test"))
        defer { try? database.close() }
        #expect(
            try rights(folder.path) == 0o700 && rights(directory.path) == 0o700 && rights(directory.blobsPath) == 0o700
        )
    }

    @Test("A folder in use is refused with its path and the holder's process id until the holder releases it")
    func lock() throws {
        var first: DataDirectory? = try DataDirectory(at: folder)
        let path = try #require(first).path
        #expect(throws: StorageError.directoryInUse(path: path, pid: getpid())) { try DataDirectory(at: folder) }
        #expect(throws: StorageError.directoryInUse(path: path, pid: getpid())) { try DataDirectory(at: folder) }
        first = nil
        _ = try DataDirectory(at: folder)
    }

    @Test("The database and its log are readable by their owner only")
    func rightsOfDatabase() throws {
        let database = try LarderDatabase.temporary()
        #expect(try rights(database.directory.databasePath) == 0o600)
        #expect(try rights(database.directory.databasePath + "-wal") == 0o600)
    }

    @Test(
        "A folder where nothing may be written is a typed error",
        .enabled(if: FileManager.default.fileExists(atPath: "/sys/kernel"))
    )
    func readOnly() {
        #expect(throws: StorageError.notWritable(path: "/sys/kernel/larder")) {
            try DataDirectory(at: URL(fileURLWithPath: "/sys/kernel/larder"))
        }
    }

    @Test(
        "A folder that exists and cannot be written is a typed error",
        .enabled(if: geteuid() != 0, "root may write everywhere")
    )
    func withoutRights() throws {
        try FileManager.default.createDirectory(
            at: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o500]
        )
        #expect(throws: StorageError.notWritable(path: folder.path + "/larder.lock")) { try DataDirectory(at: folder) }
    }

    @Test("A file in the folder's place is a typed error")
    func fileInTheWay() throws {
        try Data("x".utf8).write(to: folder)
        #expect(throws: StorageError.inputOutput(path: folder.path, operation: "mkdir", code: ENOTDIR)) {
            try DataDirectory(at: folder)
        }
    }

    @Test("A temporary folder is removed with its last reference")
    func lastHolder() throws {
        var directory: DataDirectory? = try DataDirectory.temporary()
        let path = try #require(directory).path
        #expect(FileManager.default.fileExists(atPath: path))
        directory = nil
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("The contents are removed while jobs that end remove their own folders")
    func contents() throws {
        let directory = try DataDirectory(at: folder)
        let jobs = (0..<400).map { folder.appending(path: "work/job-\($0)") }
        for job in jobs {
            try FileManager.default.createDirectory(at: job, withIntermediateDirectories: true)
            for name in ["in", "out"] { try Data().write(to: job.appending(path: name)) }
        }
        let failure = Mutex<(any Error)?>(nil)
        DispatchQueue.concurrentPerform(iterations: 2) { worker in
            do {
                if worker == 0 { return try directory.removeContents() }
                for job in jobs.reversed() { try? FileManager.default.removeItem(at: job) }
            } catch {
                failure.withLock { $0 = error }
            }
        }
        #expect(failure.withLock { $0 } == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["larder.lock"])
    }

    @Test("The contents are removed while a job still writes files")
    func newFiles() throws {
        let directory = try DataDirectory(at: folder)
        let work = folder.appending(path: "work")
        try FileManager.default.createDirectory(at: work, withIntermediateDirectories: true)
        for number in 0..<1_000 { try Data().write(to: work.appending(path: "old-\(number)")) }
        let failure = Mutex<(any Error)?>(nil)
        DispatchQueue.concurrentPerform(iterations: 2) { worker in
            do {
                if worker == 0 { return try directory.removeContents() }
                for number in 0..<2_000 {
                    let path = work.appending(path: "new-\(number)").path
                    let descriptor = open(path, O_WRONLY | O_CREAT, 0o600)
                    // The folder is gone.
                    if descriptor < 0 { break }
                    close(descriptor)
                }
            } catch {
                failure.withLock { $0 = error }
            }
        }
        #expect(failure.withLock { $0 } == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["larder.lock"])
    }
}

/// Data directories of the builds before identities open without loss.
@Suite struct DirectoryIdentityTests {
    private let temporary = TemporaryFolder.unmade()
    var folder: URL { temporary.url }
    let logger = Logger.quiet
    static let steps = [
        "storage/001 blobs", "storage/002 responses", "storage/003 pages", "storage/004 secrets",
        "storage/005 eviction", "storage/006 content time",
    ]

    /// Makes the directory of the build before: its six steps, a key with its fingerprint, a row with its file, a file
    /// without a row.
    private func makeOlder() throws -> (blob: Blob, stranger: BlobID) {
        let path = folder.path
        do {
            let database = try LarderDatabase.withCacheTables(in: DataDirectory(at: folder), logger: logger)
            let secrets = try SealedSecrets(database)
            try database.write { try secrets.store(Data("token".utf8), name: "token", in: $0) }
            try database.close()
        }
        let key = try Data(contentsOf: folder.appending(path: "larder.key"))
        let fingerprint = try DatabaseQueue(path: path + "/larder.sqlite").read {
            try SealingKey.notedFingerprint(in: $0)
        }
        let sealed = try DatabaseQueue(path: path + "/larder.sqlite").read {
            try Data.fetchOne($0, sql: "SELECT sealed FROM sealed_secret")
        }
        try FileManager.default.removeItem(at: folder)
        try FileManager.default.createDirectory(atPath: path + "/blobs", withIntermediateDirectories: true)
        try key.write(to: folder.appending(path: "larder.key"))
        let blob = Blob(id: .random(), length: 3)
        try Data([1, 2, 3]).write(to: folder.appending(path: "blobs/\(blob.id)"))
        let stranger = BlobID.random()
        try Data([4]).write(to: folder.appending(path: "blobs/\(stranger)"))
        let older = try DatabasePool(path: path + "/larder.sqlite")
        let migrations = (LarderDatabase.ownMigrations + CacheTables.migrations).filter { Self.steps.contains($0.name) }
            .sorted { $0.name < $1.name }
        #expect(migrations.map(\.name) == Self.steps)
        try SchemaMigration.migrator(migrations).migrate(older)
        try older.write { db in
            try db.execute(sql: "INSERT INTO sealing_key VALUES (1, ?)", arguments: [fingerprint])
            try db.execute(sql: "INSERT INTO sealed_secret VALUES ('token', ?)", arguments: [sealed])
            try db.execute(sql: "INSERT INTO blob (id, length) VALUES (?, 3)", arguments: [blob.id])
            try db.execute(
                sql: """
                    INSERT INTO stored_response (upstream, url, method, credential, varying, status, reason, header,
                        request_time, response_time, size, last_used, blob_id)
                    VALUES ('ships', 'https://ships.test/v4/ships', 'GET', x'', x'', 200, 'OK', x'', 1, 2, 3, 4, ?)
                    """,
                arguments: [blob.id]
            )
        }
        try older.close()
        return (blob, stranger)
    }

    private func expectWhole(_ blob: Blob) throws -> DirectoryIdentity {
        let database = try LarderDatabase.withCacheTables(in: DataDirectory(at: folder), logger: logger)
        defer { try? database.close() }
        #expect(try ResponseStore(database).responses(like: makeCachedResponse()).map(\.body) == [.blob(blob)])
        #expect(try database.blobs.reader(blob).readAll() == Data([1, 2, 3]))
        let secrets = try SealedSecrets(database)
        #expect(try database.read { try secrets.secret(name: "token", in: $0) } == Data("token".utf8))
        let identity = try #require(try database.read { try DirectoryIdentity.read($0, path: "") })
        #expect(try DirectoryIdentity.read(in: database.directory.blobsPath) == identity)
        return identity
    }

    @Test("A directory of the build before gets an identity and keeps everything")
    func adoption() throws {
        let (blob, stranger) = try makeOlder()
        var isInspected = false
        let found = try DirectoryCheck(
            of: DataDirectory(at: folder),
            migrations: CacheTables.migrations,
            options: .init()
        ) { _ in isInspected = true }
        #expect(!found.isNew && !found.isCurrent && !isInspected && found.files.unknown == [stranger])
        let identity = try expectWhole(blob)
        #expect(try expectWhole(blob) == identity)
        #expect(FileManager.default.fileExists(atPath: folder.path + "/blobs/\(stranger)"))
    }

    @Test("An interrupted adoption is continued, and an older database takes the identity of its blobs")
    func interrupted() throws {
        let (blob, _) = try makeOlder()
        let older = try Data(contentsOf: folder.appending(path: "larder.sqlite"))
        let identity = try expectWhole(blob)
        try FileManager.default.removeItem(atPath: folder.path + "/blobs/.identity")
        #expect(try expectWhole(blob) == identity)
        try older.write(to: folder.appending(path: "larder.sqlite"))
        #expect(try expectWhole(blob) == identity)
    }

    @Test("A database from before is refused where the key is another one's")
    func otherKey() throws {
        _ = try makeOlder()
        try Data(repeating: 1, count: 32).write(to: folder.appending(path: "larder.key"))
        let path = folder.path + "/larder.key"
        #expect(throws: StorageError.wrongKey(path: path)) {
            try LarderDatabase.withCacheTables(in: DataDirectory(at: folder), logger: logger)
        }
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/blobs/.identity"))
    }
}
