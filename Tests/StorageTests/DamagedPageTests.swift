import Foundation
import GRDB
import Logging
import TestKit
import Testing

@testable import Storage

/// Starts after a clean stop with one damaged page each (docs/decisions/0049).
@Suite(.timeLimit(.minutes(10))) struct DamagedPageTests {
    private static let pageSize = 4096
    /// Tables and schema that every start reads: without their rows nothing can be served.
    private static let readAtStart: Set<String> = [
        "sqlite_schema", "grdb_migrations", "data_directory", "sealing_key", "sealed_secret", "blob", "removed_blob",
    ]

    /// A closed database with cached responses, a secret and free pages.
    private func filled(automaticVacuum: Bool) throws -> DirectoryScenario {
        let scenario = DirectoryScenario()
        try scenario.fill()
        let database = try scenario.open()
        try database.write { db in
            for number in 0..<60 {
                let body = StoredBody.bytes(Data(count: 9000))
                try ResponseStore(database).save(
                    makeCachedResponse("https://ships.test/p\(number)", body: body),
                    in: db
                )
            }
        }
        try database.close()
        try scenario.change("PRAGMA auto_vacuum = \(automaticVacuum ? 2 : 0); VACUUM")
        // References between tables are off.
        try scenario.change("DELETE FROM stored_body WHERE response_id % 3 = 0")
        try scenario.change("DELETE FROM stored_response WHERE id % 3 = 0")
        return scenario
    }

    private func owners(_ scenario: DirectoryScenario) throws -> [(page: Int, table: String?)] {
        let queue = try DatabaseQueue(path: scenario.databasePath)
        defer { try? queue.close() }
        return try queue.read { db in
            #expect(try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0 > 10)
            return try db.pageOwners()
        }
    }

    private func overwrite(_ page: Int, of path: String, with bytes: Data) throws {
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        try file.seek(toOffset: UInt64((page - 1) * Self.pageSize))
        try file.write(contentsOf: bytes)
        try file.close()
    }

    @Test(
        "TRUST-16 no damaged page of the cache, an index or the list of free pages refuses a start; others are named",
        arguments: [true, false]
    )
    func everyPage(automaticVacuum: Bool) throws {
        let scenario = try filled(automaticVacuum: automaticVacuum)
        let whole = try Data(contentsOf: URL(filePath: scenario.databasePath))
        var (started, refused) = (0, 0)
        for (page, owner) in try owners(scenario) {
            try overwrite(page, of: scenario.databasePath, with: Data(repeating: 0x5A, count: Self.pageSize))
            do {
                try scenario.open().close()
                started += 1
            } catch StorageError.damagedDatabase(_, let detail) {
                refused += 1
                let name = try #require(owner, "page \(page): \(detail)")
                #expect(Self.readAtStart.contains(name), "page \(page) of \(name): \(detail)")
                #expect(name == "sqlite_schema" || detail.contains("\(name): "), "\(name): \(detail)")
            }
            try whole.write(to: URL(filePath: scenario.databasePath))
        }
        print("damaged pages: \(started) started, \(refused) refused")
        #expect(started > 60 && refused > 3)
    }

    @Test("TRUST-24 a table whose page has another one's cells is named, and so is an index that does not fit together")
    func names() throws {
        let scenario = try filled(automaticVacuum: true)
        let owners = try owners(scenario)
        let whole = try Data(contentsOf: URL(filePath: scenario.databasePath))
        let page = try #require(owners.last { $0.table == "stored_response" }?.page)
        let other = try #require(owners.last { $0.table == "page" || $0.table == "stored_body" }?.page)
        let bytes = whole[(other - 1) * Self.pageSize..<other * Self.pageSize]
        try overwrite(page, of: scenario.databasePath, with: Data(bytes))
        let error = #expect(throws: StorageError.self) { try scenario.examine() }
        guard case .damagedDatabase(let path, let detail) = error else {
            return #expect(Bool(false), "\(error as Any)")
        }
        #expect(detail.contains("stored_response: "), "\(detail)")
        let named = IntegrityCheck.naming(StorageError.damagedDatabase(path: path, detail: "malformed"))
        #expect("\(named)".contains("malformed; stored_response: "), "\(named)")
    }

    @Test(
        "TRUST-24 a search index or R-tree whose rows do not fit together is named, though its pages are whole",
        arguments: [
            ("words", "UPDATE words_data SET block = x'ffff' WHERE id > 10"), ("words", "DELETE FROM words_data"),
            ("places", "UPDATE places_node SET data = x'00'"), ("places", "DELETE FROM places_rowid"),
        ]
    )
    func indexes(name: String, damage: String) throws {
        try DatabaseQueue().writeWithoutTransaction { db in
            try db.execute(
                sql: """
                    CREATE VIRTUAL TABLE words USING fts5(text, content='', detail=none);
                    CREATE VIRTUAL TABLE places USING rtree(id, west, east);
                    CREATE VIRTUAL TABLE terms USING fts5vocab(words, row);
                    WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 300)
                        INSERT INTO words (rowid, text) SELECT n, 'word' || n || ' other' FROM n;
                    INSERT INTO places SELECT id, id, id FROM words_docsize;
                    """
            )
            #expect(try IntegrityCheck.damagedTables(thoroughly: true, db) == [:])
            try db.execute(sql: damage)
            #expect(try IntegrityCheck.damagedTables(thoroughly: false, db) == [:])
            #expect(try Array(IntegrityCheck.damagedTables(thoroughly: true, db).keys) == [name])
        }
    }

    @Test(
        "TRUST-16 a damaged list of free pages is found, and the file is rewritten without it",
        arguments: [true, false]
    )
    func freePages(automaticVacuum: Bool) async throws {
        let scenario = try filled(automaticVacuum: automaticVacuum)
        let bytes = try Data(contentsOf: URL(filePath: scenario.databasePath))
        let trunk = bytes[32..<36].reduce(0) { $0 << 8 | Int($1) }
        try #require(trunk > 1)
        try overwrite(trunk, of: scenario.databasePath, with: Data(repeating: 0x5A, count: Self.pageSize))
        let database = try scenario.open()
        let count = try database.integer("SELECT count(*) FROM stored_response")
        #expect(!database.takeSuspicion())
        let rows = StoredBody.bytes(Data(count: 90_000))
        let error = await #expect(throws: StorageError.self) {
            try await ResponseStore(database).save(makeCachedResponse("https://ships.test/large", body: rows))
        }
        guard case .damagedDatabase = error else { return #expect(Bool(false), "\(error as Any)") }
        #expect(database.takeSuspicion() && !database.takeSuspicion())
        let damaged = try await database.damagedTables()
        #expect(Array(damaged.keys) == [IntegrityCheck.freePages])
        try await CacheReset(database).run(damaged: damaged)
        #expect(try await database.damagedTables() == [:])
        try database.checkReadiness()
        try await ResponseStore(database).save(makeCachedResponse("https://ships.test/large", body: rows))
        #expect(try database.integer("SELECT count(*) FROM stored_response") == count.map { $0 + 1 })
        try database.close()
    }
}

/// A data directory with cached responses and a secret, of which a page of the bodies is damaged; removed with the
/// value.
final class DamagedCacheScenario {
    private let temporary = TemporaryFolder.unmade()
    var folder: URL { temporary.url }
    let log = LogRecorder()

    func open(_ check: DatabaseOptions.IntegrityCheck) throws -> LarderDatabase {
        try LarderDatabase.withCacheTables(
            in: DataDirectory(at: folder),
            options: .init(integrityCheck: check),
            logger: log.logger
        )
    }

    /// Stores responses, one with a file, closes the database, and damages the root page of a table or index.
    func fill(damaging object: String = "stored_body") throws {
        let database = try open(.never)
        let secrets = try SealedSecrets(database)
        let store = ResponseStore(database)
        let blob = try database.blobs.write(Data([1, 2, 3]))
        try database.write { db in
            try secrets.store(Data("token".utf8), name: "token", in: db)
            for number in 0..<100 {
                try store.save(
                    makeCachedResponse("https://ships.test/\(number)", body: .bytes(Data(count: 9000))),
                    in: db
                )
            }
            try store.save(makeCachedResponse("https://ships.test/file", body: .blob(blob)), in: db)
        }
        let page = try database.read {
            try Int.fetchOne($0, sql: "SELECT rootpage FROM sqlite_schema WHERE name = ?", arguments: [object]) ?? 0
        }
        try database.close()
        let file = try FileHandle(forWritingTo: folder.appending(path: "larder.sqlite"))
        try file.seek(toOffset: UInt64((page - 1) * 4096))
        try file.write(contentsOf: Data(repeating: 0x5A, count: 4096))
        try file.close()
    }
}
