import Foundation
import GRDB
import Logging
import Storage
import TestKit
import Testing

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

    @Test(
        "An empty folder gets all tables, those of apps too; a second start repeats no step and finds the data"
    )
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
        _ = try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM blob") }
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
        #expect(try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM filler") } == 0)
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
