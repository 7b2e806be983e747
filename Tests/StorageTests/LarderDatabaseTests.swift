import Foundation
import GRDB
import Logging
import TestKit
import Testing

@testable import Storage

@Suite struct LarderDatabaseTests {
    private let temporary = TemporaryFolder.unmade()
    var folder: URL { temporary.url }
    let log = Logger(label: "test")

    private func open(_ migrations: [SchemaMigration] = [], check: DatabaseOptions.IntegrityCheck = .always) throws
        -> LarderDatabase
    {
        try LarderDatabase.withCacheTables(
            in: DataDirectory(at: folder),
            migrations: migrations,
            options: .init(integrityCheck: check),
            logger: log
        )
    }

    @Test("An empty folder gets all tables, those of apps too; a second start repeats no step and finds the data")
    func migrations() throws {
        let ships = SchemaMigration("ships/001 ships", sql: "CREATE TABLE ship (id TEXT PRIMARY KEY) STRICT")
        do {
            let database = try open([ships])
            try database.write { try $0.execute(sql: "INSERT INTO ship VALUES ('s1')") }
            try database.close()
        }
        let more = SchemaMigration("notes/001 notes", sql: "CREATE TABLE note (id TEXT PRIMARY KEY) STRICT")
        let again = try open([more, ships])
        let tables = try again.read {
            try String.fetchAll($0, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
        }
        #expect(
            Set(tables).isSuperset(of: [
                "blob", "note", "page", "page_row", "sealed_secret", "ship", "stored_body", "stored_response",
            ])
        )
        #expect(try again.read { try String.fetchAll($0, sql: "SELECT id FROM ship") } == ["s1"])
        #expect(try again.read { try Row.fetchAll($0, sql: "PRAGMA foreign_key_check") }.isEmpty)
        let strict = try again.read { db in
            try String.fetchAll(
                db,
                sql:
                    "SELECT name FROM pragma_table_list WHERE schema = 'main' AND strict = 0 "
                    + "AND name NOT LIKE 'sqlite_%' ORDER BY name"
            )
        }
        #expect(strict == ["grdb_migrations"])
    }

    @Test("A step that fails leaves nothing of itself")
    func failingMigration() throws {
        let bad = SchemaMigration("bad/001", sql: "CREATE TABLE half (id TEXT) STRICT; INSERT INTO nowhere VALUES (1)")
        #expect(throws: StorageError.self) { try open([bad]) }
        let database = try open()
        #expect(try database.read { try $0.tableExists("half") } == false)
    }

    @Test("Two steps of one name are refused")
    func ambiguousMigration() {
        let step = SchemaMigration("a/001") { _ in }
        #expect(throws: StorageError.ambiguousMigration(name: "a/001")) {
            try LarderDatabase.temporary(migrations: [step, step])
        }
    }

    @Test("Every commit waits for the disk, foreign keys hold, the log is a write-ahead log")
    func pragmas() throws {
        let database = try LarderDatabase.temporary()
        let values = try database.write { db in
            try ["journal_mode", "synchronous", "foreign_keys", "auto_vacuum", "busy_timeout"].map {
                try String.fetchOne(db, sql: "PRAGMA \($0)")
            }
        }
        #expect(values == ["wal", "2", "1", "2", "5000"])
    }

    @Test("A closed database leaves no log behind, and its later use is a typed error")
    func close() throws {
        let database = try open()
        _ = try database.integer("SELECT count(*) FROM blob")
        try database.close()
        #expect(!FileManager.default.fileExists(atPath: database.directory.databasePath + "-wal"))
        #expect(throws: StorageError.databaseClosed(path: database.directory.databasePath)) {
            try database.read { _ in }
        }
        #expect(throws: StorageError.databaseClosed(path: database.directory.databasePath)) {
            try database.write { _ in }
        }
    }

    @Test("A database with steps that this build does not know is refused and left untouched")
    func newerSchema() throws {
        var database: LarderDatabase? = try open([SchemaMigration("future/001") { _ in }])
        let path = try #require(database).directory.databasePath
        try database?.close()
        database = nil
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(throws: StorageError.newerSchema(path: path, unknownMigrations: ["future/001"])) { try open() }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    @Test(
        "A file that is no database is refused and left untouched",
        arguments: ["no database at all, but text", "SQLite format 3\0 followed by nonsense"]
    )
    func garbage(text: String) throws {
        let path = try DataDirectory(at: folder).databasePath
        let garbage = Data((text + String(repeating: "x", count: 5000)).utf8)
        try garbage.write(to: URL(fileURLWithPath: path))
        let error = #expect(throws: StorageError.self) { try open() }
        guard case .damagedDatabase(path, _) = error else {
            return #expect(Bool(false), "\(String(describing: error))")
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == garbage)
    }

    @Test("Damaged pages are found before anything is written")
    func damagedPages() throws {
        var database: LarderDatabase? = try open()
        let path = try #require(database).directory.databasePath
        try database?.write { db in
            for number in 0..<2000 {
                try db.execute(sql: "INSERT INTO blob (id, length) VALUES (?, 1)", arguments: [number])
            }
        }
        try database?.close()
        database = nil
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let half = bytes.count / 2 / 4096 * 4096
        bytes.replaceSubrange(half..., with: Data(repeating: 0x5A, count: bytes.count - half))
        try bytes.write(to: URL(fileURLWithPath: path))
        let error = #expect(throws: StorageError.self) { try open() }
        guard case .damagedDatabase(path, _) = error else {
            return #expect(Bool(false), "\(String(describing: error))")
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
    }

    @Test("A full disk is a typed error, and what was there stays")
    func diskFull() throws {
        let database = try LarderDatabase.temporary()
        try database.write { try $0.execute(sql: "CREATE TABLE filler (bytes BLOB) STRICT") }
        try database.pool.writeWithoutTransaction { db in
            let pages = try #require(try Int.fetchOne(db, sql: "PRAGMA page_count"))
            try db.execute(sql: "PRAGMA max_page_count = \(pages + 10)")
        }
        #expect(throws: StorageError.diskFull(path: database.directory.databasePath)) {
            try database.write { try $0.execute(sql: "INSERT INTO filler VALUES (zeroblob(1000000))") }
        }
        #expect(try database.integer("SELECT count(*) FROM filler") == 0)
        try database.checkIntegrity()
    }

    @Test("A lock of another connection on the database is a typed error")
    func busy() throws {
        var options = DatabaseOptions()
        options.busyTimeout = 0.01
        let database = try LarderDatabase.withCacheTables(in: DataDirectory(at: folder), options: options, logger: log)
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true  // GRDB stops the process on a transaction that stays open.
        let stranger = try DatabaseQueue(path: database.directory.databasePath, configuration: configuration)
        try stranger.inDatabase { try $0.execute(sql: "BEGIN IMMEDIATE") }
        #expect(throws: StorageError.databaseBusy(path: database.directory.databasePath)) {
            try database.write { try $0.execute(sql: "DELETE FROM blob") }
        }
        try stranger.inDatabase { try $0.execute(sql: "ROLLBACK") }
        try database.write { try $0.execute(sql: "DELETE FROM blob") }
    }
}

/// A copy of the files of an open database is the state after a kill: nothing was closed or moved out of the log.
@Suite struct LarderDatabaseOpeningTests {
    private let temporary = TemporaryFolder.unmade()
    var folder: URL { temporary.url }

    private func copyFiles(of database: LarderDatabase) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for name in ["larder.sqlite", "larder.sqlite-wal"] {
            try FileManager.default.copyItem(
                atPath: database.directory.path + "/" + name,
                toPath: folder.path + "/" + name
            )
        }
    }

    private func open() throws -> LarderDatabase {
        try LarderDatabase.withCacheTables(in: DataDirectory(at: folder), logger: Logger(label: "test"))
    }

    @Test(
        "SRV-04 Acknowledged writes are there after the process was killed, with any incomplete write after them",
        arguments: [0, 1, 5000]
    )
    func acknowledged(tornBytes: Int) async throws {
        let database = try LarderDatabase.temporary()
        try await ResponseStore(database).save(makeCachedResponse())
        try copyFiles(of: database)
        let log = try FileHandle(forWritingTo: folder.appendingPathComponent("larder.sqlite-wal"))
        try log.seekToEnd()
        try log.write(contentsOf: Data(repeating: 0xA5, count: tornBytes))
        try log.close()
        let again = try open()
        #expect(try ResponseStore(again).responses(like: makeCachedResponse()).map(\.body) == [.bytes(Data("[]".utf8))])
    }

    @Test("After an unclean stop the pages are checked automatically")
    func check() throws {
        let database = try LarderDatabase.temporary()
        try database.write { db in
            for number in 0..<2000 {
                try db.execute(sql: "INSERT INTO blob (id, length) VALUES (?, 1)", arguments: [number])
            }
        }
        try database.pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        try database.write { try $0.execute(sql: "DELETE FROM blob WHERE id = 0") }
        try copyFiles(of: database)
        let path = folder.appendingPathComponent("larder.sqlite")
        var bytes = try Data(contentsOf: path)
        bytes.replaceSubrange((bytes.count - 2 * 4096)..., with: Data(repeating: 0x5A, count: 2 * 4096))
        try bytes.write(to: path)
        let error = #expect(throws: StorageError.self) { try open() }
        guard case .damagedDatabase = error else { return #expect(Bool(false), "\(String(describing: error))") }
    }
}

@Suite(.timeLimit(.minutes(FaultSteps.areAll ? 30 : 3))) struct LarderDatabaseOpeningFaultTests {
    private static func open(_ folder: URL) throws -> LarderDatabase {
        try .withCacheTables(in: DataDirectory(at: folder), logger: FaultScenario.quiet)
    }

    /// Starts with a fault at a step, and again without one.
    ///
    /// - Returns: Whether a system call has failed: otherwise the start has fewer.
    private func tryStart(with fault: FaultScope.Fault, at step: Int, isFirst: Bool) async throws -> Bool {
        let temporary = TemporaryFolder.unmade()
        defer { withExtendedLifetime(temporary) {} }
        let folder = temporary.url
        let scope = try FaultScope(folder.path)
        let blob = isFirst ? nil : try await filled(folder)
        let (_, hasFailed) = await scope.failing(fault, at: step) { _ = try? SealedSecrets(Self.open(folder)) }
        do {
            let next = try Self.open(folder)
            _ = try SealedSecrets(next).credentialHashKey()
            _ = try StoredState(next)
            if let blob { #expect(try next.blobs.reader(blob).readAll() == Data([1, 2, 3])) }
            try next.close()
        } catch {
            Issue.record("\(fault) at step \(step), first: \(isFirst): \(error)")
        }
        return hasFailed
    }

    @Test(
        "TRUST-02 each system call of a start fails, of the first one too: the next start works, and nothing is lost",
        arguments: [true, false]
    )
    func start(isFirst: Bool) async throws {
        var count = 0
        for fault in FaultScope.Fault.all {
            var last = 0
            for step in FaultSteps(fault, every: 9) {
                guard try await tryStart(with: fault, at: step, isFirst: isFirst) else { break }
                last = step
            }
            #expect(last > 0, "\(fault): no system call has failed")
            count += last
        }
        #expect(count > 40)
        print("faults: \(isFirst ? "first" : "later") start: \(count)")
    }

    @Test("TRUST-02 a start that finds no space uses the reserve, and the reserve is whole afterwards")
    func fullDisk() async throws {
        for step in 1..<500 {
            let temporary = TemporaryFolder.unmade()
            defer { withExtendedLifetime(temporary) {} }
            let folder = temporary.url
            let scope = try FaultScope(folder.path)
            let blob = try await filled(folder)
            let (result, hasFailed) = await scope.failing(.noRoomOnce, at: step) {
                Result {
                    try LarderDatabase.withCacheTables(in: DataDirectory(at: folder), logger: FaultScenario.quiet)
                }
            }
            do {
                let database = try result.get()
                #expect(try database.blobs.reader(blob).readAll() == Data([1, 2, 3]))
                await database.maintain()
                #expect(database.reserve.isWhole)
            } catch let error as StorageError {
                // An fsync that fails once, on a disk that has room again, is an error of the disk.
                guard case .inputOutput(_, "SQLite", 1034) = error else {
                    Issue.record("step \(step): \(error)")
                    continue
                }
            }
            guard hasFailed else { return }
        }
    }

    /// A directory with one file, left as by a kill.
    private func filled(_ folder: URL) async throws -> Blob {
        let database = try LarderDatabase.withCacheTables(in: DataDirectory(at: folder), logger: FaultScenario.quiet)
        _ = try SealedSecrets(database).credentialHashKey()
        let blob = try database.blobs.write(Data([1, 2, 3]))
        try await ResponseStore(database).save(makeCachedResponse(body: .blob(blob)))
        return blob
    }
}
