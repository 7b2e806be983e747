import Foundation
import GRDB
import HTTPTypes
import Logging
import Synchronization
import TestKit
import Testing

@testable import Storage

@Suite struct CachePurgeTests {
    private let database: LarderDatabase
    private let store: ResponseStore

    init() async throws {
        database = try .temporary()
        store = ResponseStore(database)
        try await store.save(makeCachedResponse("https://a.test/v4/ships?token=x", seconds: 0))
        try await store.save(
            makeCachedResponse("https://a.test/v4/ships?token=x", varying: [.accept: "a/b"], seconds: 10)
        )
        try await store.save(
            makeCachedResponse(
                "https://a.test/images/1",
                body: .blob(try database.blobs.write(Data(repeating: 1, count: 2000))),
                seconds: 20
            )
        )
        try await store.save(makeCachedResponse("https://b.test/v4/x", upstream: "other", seconds: 30))
        var pinned = makeCachedResponse("https://a.test/v4/list", seconds: 5)
        pinned.isPinned = true
        try await store.save(pinned)
        try await database.write { db in
            let key = PageKey(account: "disk/1", screen: "recent", offset: 0, limit: 10)
            try PageStore().save(PageList(key: key, rowKeys: ["a"], total: 1, hasMore: false, fetchedAt: noon), in: db)
        }
    }

    private func left() async throws -> [String] {
        try await database.pool.read { try String.fetchAll($0, sql: "SELECT url FROM stored_response ORDER BY id") }
    }

    @Test("Everything is removed except pinned responses, and the files with it")
    func all() async throws {
        let report = try await CachePurge().run(on: database)
        #expect(report.upstreams.mapValues(\.responses) == ["ships": 3, "other": 1])
        #expect(report.pages == 1 && report.pinned == 1)
        #expect(try await left() == ["https://a.test/v4/list"])
        #expect(try database.blobs.fileNames().isEmpty)
        #expect(try CacheEviction(database, budget: .unlimited).total() == store.totals().reduce(0) { $0 + $1.bytes })
    }

    @Test("By upstream, path and age; a preview says the same and removes nothing")
    func conditions() async throws {
        let purge = CachePurge(upstream: "ships", pathPrefix: "/v4/", receivedBefore: noon + 10)
        let preview = try await database.pool.read { try purge.preview(in: $0) }
        #expect(try await left().count == 5)
        let report = try await purge.run(on: database)
        #expect(report == preview)
        #expect(report.upstreams.mapValues(\.responses) == ["ships": 1])
        #expect(report.pages == 0 && report.pinned == 1)
        #expect(try await left().count == 4)
    }

    @Test("An upstream's mount belongs to it: both are listed and purged by its name, names with its prefix not")
    func mount() async throws {
        try await store.save(makeCachedResponse("https://a.test/raw", upstream: "other.raw", seconds: 30))
        try await store.save(makeCachedResponse("https://a.test/raw", upstream: "others", seconds: 30))
        var listed: [String] = []
        let inspection = try #require(
            try CacheInspection(at: URL(filePath: database.directory.databasePath).deletingLastPathComponent())
        )
        try inspection.forEachEntry(upstream: "other") { listed.append($0.upstream) }
        #expect(listed == ["other", "other.raw"])
        let report = try await CachePurge(upstream: "other").run(on: database)
        #expect(report.upstreams.mapValues(\.responses) == ["other": 1, "other.raw": 1])
        try await store.save(makeCachedResponse("https://b.test/v4/x", upstream: "other", seconds: 30))
        #expect(try await CachePurge(upstream: "other.raw").run(on: database).upstreams.isEmpty)
    }

    @Test("More responses than a batch are purged")
    func manyResponses() async throws {
        try await database.write { db in
            for number in 0..<(2 * CachePurge.batchSize + 1) {
                try store.save(makeCachedResponse("https://c.test/\(number)", upstream: "many"), in: db)
            }
        }
        let report = try await CachePurge(upstream: "many").run(on: database)
        #expect(report.upstreams.mapValues(\.responses) == ["many": 2 * CachePurge.batchSize + 1])
        #expect(try await left().count == 5)
    }

    @Test("An inspection beside the open database lists each URL once with its variants, sorted, and previews")
    func inspection() throws {
        let inspection = try #require(try CacheInspection(at: URL(filePath: database.directory.path)))
        var entries: [CacheInspection.Entry] = []
        try inspection.forEachEntry { entries.append($0) }
        #expect(
            entries.map(\.url) == [
                "https://b.test/v4/x", "https://a.test/images/1", "https://a.test/v4/list",
                "https://a.test/v4/ships?token=x",
            ]
        )
        #expect(entries.map(\.variants) == [1, 1, 1, 2])
        #expect(entries.map(\.isPinned) == [false, false, true, false])
        #expect(entries.map(\.status) == [200, 200, 200, 200])
        #expect(entries[3].received == noon + 10 && entries[3].lastUsed == noon + 10)
        #expect(try entries.reduce(0) { $0 + $1.bytes } == store.totals().reduce(0) { $0 + $1.bytes })
        func urls(_ order: CacheInspection.Order) throws -> [String] {
            var urls: [String] = []
            try inspection.forEachEntry(sortedBy: order, upstream: "ships") { urls.append(String($0.url.suffix(4))) }
            return urls
        }
        #expect(try urls(.size).first == "es/1")
        #expect(try urls(.age) == ["list", "en=x", "es/1"])
        #expect(try urls(.use) == ["list", "en=x", "es/1"])
        #expect(try inspection.preview(of: CachePurge()).upstreams["ships"]?.responses == 3)
        let totals = try inspection.totals()
        #expect(try totals.upstreams == store.totals())
        #expect(totals.pages == 1)
    }

    @Test("An inspection of a closed database leaves no file beside it; a database without tables has nothing cached")
    func inspectionLeavesNothing() async throws {
        let temporary = TemporaryFolder.unmade()
        defer { withExtendedLifetime(temporary) {} }
        let folder = temporary.url
        let database = try LarderDatabase.withCacheTables(in: DataDirectory(at: folder), logger: Logger(label: "test"))
        try await ResponseStore(database).save(makeCachedResponse())
        try database.close()
        func names() throws -> Set<String> { Set(try FileManager.default.contentsOfDirectory(atPath: folder.path)) }
        let before = try names()
        do {
            let inspection = try #require(try CacheInspection(at: folder))
            #expect(try inspection.totals().upstreams.map(\.responses) == [1])
        }
        #expect(try names() == before)
        let path = folder.appending(path: "larder.sqlite").path
        try FileManager.default.removeItem(atPath: path)
        let empty = try DatabaseQueue(path: path)
        try await empty.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
        try empty.close()
        #expect(try CacheInspection(at: folder) == nil)
    }

    @Test("An inspection needs a database of this build, and makes none")
    func inspectionOfOthers() throws {
        let temporary = TemporaryFolder.unmade()
        defer { withExtendedLifetime(temporary) {} }
        let folder = temporary.url
        #expect(try CacheInspection(at: folder) == nil)
        #expect(!FileManager.default.fileExists(atPath: folder.path))
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.appending(path: "larder.sqlite").path
        let queue = try DatabaseQueue(path: path)
        try SchemaMigration.migrator(BlobStore.migrations + ResponseStore.migrations + PageStore.migrations).migrate(
            queue
        )
        try queue.close()
        #expect(throws: StorageError.olderSchema(path: path)) { try CacheInspection(at: folder) }
        try FileManager.default.removeItem(atPath: path)
        try DatabaseQueue(path: path).write { try $0.execute(sql: "CREATE TABLE t (x)") }
        #expect(throws: StorageError.foreignDatabase(path: path, detail: "its tables are not those of Larder")) {
            try CacheInspection(at: folder)
        }
    }
}

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
