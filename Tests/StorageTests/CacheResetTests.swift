import Foundation
import GRDB
import Synchronization
import TestKit
import Testing

@testable import Storage

@Suite struct CacheResetTests {
    @Test(
        "TRUST-16 damaged tables of the cache are replaced by empty ones while the server runs; everything else stays",
        arguments: ["stored_body", "stored_response", "stored_response_by_credential", "page_row"]
    )
    func reset(object: String) async throws {
        let scenario = DamagedCacheScenario()
        try scenario.fill(damaging: object)
        try await replaceDamaged(object, of: scenario)
        // The next start and the doctor find everything in order.
        let again = try scenario.open(.always)
        #expect(try ResponseStore(again).responses(like: makeCachedResponse("https://ships.test/1")).count == 1)
        try again.close()
        #expect(scenario.log.messages.contains("pages of the cache are damaged: its tables are replaced by empty ones"))
    }

    /// Finds the damage and removes it in a database that is released afterwards, and with it the directory's lock.
    private func replaceDamaged(_ object: String, of scenario: DamagedCacheScenario) async throws {
        let database = try scenario.open(.never)
        let secrets = try SealedSecrets(database)
        let removed = Mutex(0)
        database.onRemovalOfResponses { id in if id == nil { removed.withLock { $0 += 1 } } }
        let damaged = try await database.damagedTables()
        #expect(!damaged.isEmpty)
        try await CacheReset(database).run(damaged: damaged)
        #expect(removed.withLock(\.self) == 1)
        #expect(try await database.damagedTables() == [:])
        try database.checkIntegrity()
        try database.checkReadiness()
        #expect(try ResponseStore(database).responses(like: makeCachedResponse("https://ships.test/1")) == [])
        #expect(try ResponseStore(database).totals().allSatisfy { $0.responses == 0 })
        #expect(try database.read { try secrets.secret(name: "token", in: $0) } == Data("token".utf8))
        // It stores again, under identities that were never used.
        let id = try await ResponseStore(database).save(makeCachedResponse("https://ships.test/1"))
        #expect(id > 101)
        if object != "stored_response" { #expect(try database.blobs.fileNames() == []) }
        try database.close()
    }

    @Test("TRUST-16 damage of other tables is reported, and nothing of them is changed")
    func others() async throws {
        let scenario = DamagedCacheScenario()
        try scenario.fill(damaging: "sealed_secret")
        let database = try scenario.open(.never)
        let damaged = try await database.damagedTables()
        #expect(damaged.keys.sorted() == ["sealed_secret"])
        try await CacheReset(database).run(damaged: damaged)
        #expect(throws: StorageError.self) { try database.checkReadiness() }
        #expect(try ResponseStore(database).responses(like: makeCachedResponse("https://ships.test/1")).count == 1)
        #expect(scenario.log.messages.count == 1)
        try database.close()
    }
}
