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

@Suite struct LarderDatabaseAccessTests {
    @Test("A read does not wait for a write that is under way, and sees the state before it")
    func readDuringWrite() throws {
        let database = try LarderDatabase.temporary()
        let store = ResponseStore(database)
        try database.write { db in
            try store.save(makeCachedResponse(), in: db)
            // On another connection, while this one holds the write lock: GRDB refuses nested reads on one thread, so
            // another thread reads.
            let count = OtherThread.run { try? store.responses(like: makeCachedResponse()).count }
            #expect(count == 0)
        }
        #expect(try store.responses(like: makeCachedResponse()).count == 1)
    }

    @Test("Reads within a read are of its state and use its connection, also after one of them has failed")
    func readsWithinRead() throws {
        var options = DatabaseOptions()
        options.maximumReaderCount = 1
        let database = try LarderDatabase.withCacheTables(
            in: .temporary(),
            options: options,
            logger: Logger(label: "test")
        )
        let store = ResponseStore(database)
        let counts = try database.read { _ in
            let before = try store.responses(like: makeCachedResponse()).count
            let isStored = OtherThread.run {
                (try? database.write { try store.save(makeCachedResponse(), in: $0) }) != nil
            }
            #expect(isStored == true)
            #expect(throws: (any Error).self) { try database.read { try $0.execute(sql: "SELECT nothing") } }
            return (before, try store.responses(like: makeCachedResponse()).count)
        }
        #expect(counts == (0, 0))
        #expect(try store.responses(like: makeCachedResponse()).count == 1)
    }

    @Test("A read of one database within that of another has a connection of its own")
    func readsOfTwoDatabases() throws {
        let (one, other) = (try LarderDatabase.temporary(), try LarderDatabase.temporary())
        _ = try other.write { try ResponseStore(other).save(makeCachedResponse(), in: $0) }
        let counts = try one.read { _ in
            let found = try ResponseStore(other).responses(like: makeCachedResponse()).count
            return (found, try ResponseStore(one).responses(like: makeCachedResponse()).count)
        }
        #expect(counts == (1, 0))
    }
}

private enum OtherThread {
    /// Runs `body` on a thread of its own and waits for it.
    static func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) -> Value? {
        let done = DispatchSemaphore(value: 0)
        let box = Box<Value>()
        Thread {
            box.value = body()
            done.signal()
        }.start()
        done.wait()
        return box.value
    }

    /// The semaphore orders the accesses.
    private final class Box<Value>: @unchecked Sendable {
        var value: Value?
    }
}

@Suite struct LarderDatabasePagesTests {
    @Test("TRUST-16 the pages of each table are checked on a connection of its own; damage is named by table")
    func damage() async throws {
        let scenario = DamagedCacheScenario()
        try scenario.fill()
        let database = try scenario.open(.never)
        #expect(try await database.damagedTables().keys.sorted() == ["stored_body"])
        try database.checkReadiness()
        database.report(damaged: ["note": "page 7"])
        #expect(
            throws: StorageError.damagedDatabase(path: database.directory.databasePath, detail: "note: page 7")
        ) { try database.checkReadiness() }
        try database.close()
    }

    @Test("TRUST-16 a database in order has no damaged tables, while it is used")
    func order() async throws {
        let database = try LarderDatabase.temporary()
        for number in 0..<20 {
            try await ResponseStore(database).save(makeCachedResponse("https://ships.test/\(number)"))
        }
        #expect(try await database.damagedTables() == [:])
    }

    @Test("After the deletion of much the file shrinks to what is used, in steps; a small part stays free")
    func shrinking() async throws {
        let database = try LarderDatabase.temporary()
        let body = StoredBody.bytes(Data(repeating: 1, count: 90_000))
        for number in 0..<200 {
            try await ResponseStore(database).save(makeCachedResponse("https://ships.test/\(number)", body: body))
        }
        func pages() throws -> (free: Int, all: Int) {
            try database.read {
                (
                    try Int.fetchOne($0, sql: "PRAGMA freelist_count") ?? -1,
                    try Int.fetchOne($0, sql: "PRAGMA page_count") ?? -1
                )
            }
        }
        let before = try pages()
        try await database.write { try $0.execute(sql: "DELETE FROM stored_response WHERE id % 10 = 0") }
        try await database.shrink()
        #expect(try pages().all == before.all, "a small part is used again")
        try await database.write { try $0.execute(sql: "DELETE FROM stored_response WHERE id > 20") }
        try await database.shrink()
        let after = try pages()
        #expect(after.all < before.all && after.free * 4096 < 9 << 20)
        try await database.shrink(leaving: 0)
        #expect(try pages().free == 0)
        try database.checkIntegrity()
    }
}
