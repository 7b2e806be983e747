import Foundation
import GRDB
import Logging
import Synchronization
import TestKit
import Testing

@testable import Storage

/// SQLite rolls a transaction back by itself if the disk is full, and GRDB does not notify observers of that.
@Suite struct LarderDatabaseTransactionTests {
    /// Runs a transaction with `change` that SQLite then rolls back.
    private func fail(_ database: LarderDatabase, _ change: (Database) throws -> Void) throws {
        try database.pool.writeWithoutTransaction { db in
            try db.execute(sql: "CREATE TABLE IF NOT EXISTS filler (bytes BLOB) STRICT")
            let pages = try #require(try Int.fetchOne(db, sql: "PRAGMA page_count"))
            try db.execute(sql: "PRAGMA max_page_count = \(pages + 10)")
        }
        #expect(throws: StorageError.diskFull(path: database.directory.databasePath)) {
            try database.write { db in
                try change(db)
                // More pages than fit into the cache are written before the commit, so that SQLite has to roll back by
                // itself.
                try db.execute(sql: "INSERT INTO filler VALUES (zeroblob(1000000))")
            }
        }
        try database.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA max_page_count = 1000000") }
    }

    @Test("TRUST-02 a removal that found no room removes no file, and neither does the next write")
    func files() async throws {
        let database = try LarderDatabase.temporary()
        let store = ResponseStore(database)
        let blob = try database.blobs.write(Data([1]))
        let id = try await store.save(makeCachedResponse(body: .blob(blob)))
        try fail(database) { try store.remove(id, in: $0) }
        try await store.save(makeCachedResponse("https://ships.test/other"))
        #expect(try database.blobs.reader(blob).readAll() == Data([1]))
        #expect(try store.responses(like: makeCachedResponse()).map(\.body) == [.blob(blob)])
        try await database.write { try store.remove(id, in: $0) }
        #expect(try database.blobs.fileNames() == [])
    }

    @Test("TRUST-02 a replacement that finds no space keeps the old file, and its own is removed")
    func replacement() async throws {
        let database = try LarderDatabase.temporary()
        let store = ResponseStore(database)
        let old = try database.blobs.write(Data([1]))
        try await store.save(makeCachedResponse(body: .blob(old)))
        do {
            let new = try database.blobs.write(Data([2]))
            try fail(database) { try store.save(makeCachedResponse(body: .blob(new)), in: $0) }
        }
        try await store.save(makeCachedResponse("https://ships.test/other"))
        #expect(try database.blobs.fileNames() == [old.id.fileName])
        #expect(try database.blobs.reader(old).readAll() == Data([1]))
    }

    @Test("The next commit notifies of nothing that was rolled back: no removal, no announcement, no signal to evict")
    func observers() async throws {
        let database = try LarderDatabase.temporary()
        let store = ResponseStore(database)
        let id = try await store.save(makeCachedResponse())
        let notified = Mutex<[String]>([])
        database.onRemovalOfResponses { _ in notified.withLock { $0.append("removal") } }
        try fail(database) { db in
            try store.remove(id, in: db)
            db.afterNextTransaction { _ in notified.withLock { $0.append("announced") } }
        }
        try await database.write { try $0.execute(sql: "DELETE FROM page") }
        #expect(notified.withLock { $0 } == [])
        try await database.write { try store.remove(id, in: $0) }
        #expect(notified.withLock { $0 } == ["removal"])
    }

    @Test("A change of key that SQLite has rolled back is forgotten: what is sealed next opens after a restart")
    func keys() throws {
        let temporary = TemporaryFolder.unmade()
        defer { withExtendedLifetime(temporary) {} }
        let folder = temporary.url
        do {
            let database = try LarderDatabase.withCacheTables(
                in: DataDirectory(at: folder),
                logger: Logger(label: "test")
            )
            let secrets = try SealedSecrets(database)
            try database.write { try secrets.store(Data("old".utf8), name: "old", in: $0) }
            try database.pool.writeWithoutTransaction { db in
                // Behind all that the change of key does.
                try db.execute(
                    sql:
                        "CREATE TEMP TRIGGER full AFTER UPDATE ON sealing_key "
                        + "BEGIN SELECT RAISE(ROLLBACK, 'as with a full disk'); END"
                )
            }
            #expect(throws: (any Error).self) { try secrets.rotateKey() }
            try database.pool.writeWithoutTransaction { try $0.execute(sql: "DROP TRIGGER full") }
            try database.write { try secrets.store(Data("new".utf8), name: "new", in: $0) }
            try database.close()
        }
        let again = try LarderDatabase.withCacheTables(in: DataDirectory(at: folder), logger: Logger(label: "test"))
        let secrets = try SealedSecrets(again)
        #expect(try again.read { try secrets.secret(name: "new", in: $0) } == Data("new".utf8))
        #expect(try again.read { try secrets.secret(name: "old", in: $0) } == Data("old".utf8))
    }
}
