import Foundation
import GRDB
import TestKit
import Testing

@testable import Storage

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
