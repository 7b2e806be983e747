import Foundation
import GRDB
import TestKit
import Testing

@testable import Storage

@Suite struct CacheEvictionTests {
    private let database: LarderDatabase
    private let store: ResponseStore

    init() throws {
        database = try .temporary(migrations: [
            SchemaMigration("app/001 rows", sql: "CREATE TABLE app_row (body BLOB NOT NULL) STRICT")
        ])
        store = ResponseStore(database)
    }

    private func url(_ number: Int) -> String { "https://ships.test/\(number)" }

    /// Stores a response of 1000 bytes of body, used so many seconds after noon.
    @discardableResult
    private func save(_ number: Int, isPinned: Bool = false, asFile: Bool = false) async throws -> CachedResponse.ID {
        let bytes = Data(repeating: UInt8(number & 255), count: 1000)
        var response = makeCachedResponse(
            url(number),
            body: asFile ? .blob(try database.blobs.write(bytes)) : .bytes(bytes),
            seconds: Double(number)
        )
        response.isPinned = isPinned
        return try await store.save(response)
    }

    private func stored() async throws -> [String] {
        try await database.pool.read { try String.fetchAll($0, sql: "SELECT url FROM stored_response ORDER BY id") }
    }

    private func files() throws -> [String] {
        try database.blobs.fileNames()
    }

    @Test("Within the budget nothing is evicted")
    func withinBudget() async throws {
        for number in 0..<5 { try await save(number) }
        let eviction = CacheEviction(database, budget: CacheBudget(bytes: try store.totals()[0].bytes))
        #expect(try await eviction.run() == CacheEviction.Freed())
        #expect(try await stored().count == 5)
    }

    @Test("The least recently used responses, with files, are removed to the low-water mark; a noted use counts")
    func order() async throws {
        var ids: [CachedResponse.ID] = []
        for number in 0..<10 { ids.append(try await save(number, asFile: number < 5)) }
        try await database.write { [ids] db in try store.touch([ids[0]: noon + 100], in: db) }
        let total = try CacheEviction(database, budget: .unlimited).total()
        let freed = try await CacheEviction(database, budget: CacheBudget(bytes: total / 2)).run()
        let kept = try await stored()
        #expect(kept == [url(0), url(7), url(8), url(9)], "what was used last, and the one that was touched")
        #expect(freed.responses == 6 && freed.pages == 0)
        #expect(try store.totals()[0].bytes == total - freed.bytes)
        #expect(try store.totals()[0].bytes <= CacheBudget(bytes: total / 2).lowWaterMark)
        #expect(try files().count == 1, "files are removed with their responses")
    }

    @Test("Page lists and responses are evicted in one order; the rows of pages go along, and the totals are right")
    func pages() async throws {
        let pages = PageStore()
        let page = { @Sendable (number: Int) in
            let key = PageKey(account: "disk/1", screen: "recent", offset: number, limit: 1)
            return PageList(
                key: key,
                rowKeys: [String(repeating: "k", count: 1000)],
                total: nil,
                hasMore: true,
                fetchedAt: noon + Double(number)
            )
        }
        try await database.write { db in for number in [0, 2, 4] { try pages.save(page(number), in: db) } }
        for number in [1, 3, 5] { try await save(number) }
        let eviction = CacheEviction(database, budget: CacheBudget(bytes: 3700))
        let freed = try await eviction.run()
        #expect(freed.pages == 2 && freed.responses == 1, "0, 1 and 2")
        #expect(try await stored() == [url(3), url(5)])
        let left = try await database.pool.read { db in
            (
                try Int.fetchAll(db, sql: "SELECT page_offset FROM page"),
                try Int.fetchOne(db, sql: "SELECT count(*) FROM page_row")
            )
        }
        #expect(left.0 == [4] && left.1 == 1)
        try await database.write { db in try pages.save(page(4), in: db) }
        #expect(try eviction.total() == 1000 + store.totals()[0].bytes)
    }

    @Test("Users' data, rows of apps, secrets and pinned responses are never evicted, not even by a budget of nothing")
    func userDataStays() async throws {
        let secrets = try SealedSecrets(database)
        try await database.write { db in
            try secrets.store(Data(repeating: 7, count: 5000), name: "token", in: db)
            try db.execute(sql: "INSERT INTO app_row (body) VALUES (randomblob(5000))")
        }
        try await save(1, isPinned: true)
        try await save(2)
        let freed = try await CacheEviction(database, budget: CacheBudget(bytes: 0)).run()
        #expect(freed.responses == 1)
        #expect(try await stored() == [url(1)])
        let isThere = try await database.write { db in
            (
                try secrets.secret(name: "token", in: db)?.count,
                try Int.fetchOne(db, sql: "SELECT length(body) FROM app_row")
            )
        }
        #expect(isThere.0 == 5000 && isThere.1 == 5000)
        #expect(try store.responses(like: makeCachedResponse(url(1))).first?.isPinned == true)
    }

    @Test("A response stays pinned if an unpinned one takes its place")
    func pinStays() async throws {
        try await save(1, isPinned: true)
        try await save(1)
        #expect(try store.responses(like: makeCachedResponse(url(1))).map(\.isPinned) == [true])
    }

    @Test("A body that was opened before its response was evicted can be read to its end")
    func openReader() async throws {
        try await save(1, asFile: true)
        let response = try #require(try store.responses(like: makeCachedResponse(url(1))).first)
        guard case .blob(let reader) = try await store.openBody(of: response) else {
            Issue.record("not a file")
            return
        }
        _ = try await CacheEviction(database, budget: CacheBudget(bytes: 0)).run()
        #expect(try files().isEmpty)
        #expect(try reader.readAll() == Data(repeating: 1, count: 1000))
    }

    @Test("Under concurrent saves, each followed by eviction, the budget is kept, and every file has its row")
    func concurrentSaves() async throws {
        let budget = CacheBudget(bytes: 20_000)
        try await (0..<4).concurrentMap { task in
            for round in 0..<40 {
                try await save(task * 100 + round, asFile: round.isMultiple(of: 3))
                _ = try await CacheEviction(database, budget: budget).run()
            }
        }
        #expect(try !budget.isExceeded(by: CacheEviction(database, budget: budget).total()))
        let (sum, blobs) = try await database.pool.read { db in
            (
                try Int.fetchOne(db, sql: "SELECT sum(size) FROM stored_response"),
                try Int.fetchOne(db, sql: "SELECT count(*) FROM blob")
            )
        }
        #expect(try store.totals().map(\.bytes) == [sum])
        #expect(try files().count == blobs)
        let newest = try await stored().contains(url(339))
        #expect(newest, "what was stored last is the last to go")
    }

    @Test("More than a batch is evicted in several transactions, between which a writer that waits has its turn")
    func batches() async throws {
        for number in 0..<(3 * CacheEviction.batch) { try await save(number) }
        let transactions = try await self.transactions {
            _ = try await CacheEviction(database, budget: CacheBudget(bytes: 0)).run()
        }
        #expect(transactions >= 3)
        #expect(try await stored().isEmpty)
    }

    @Test("Each transaction that stores is signalled; uses, removals and other tables are not")
    func signal() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        database.pool.add(transactionObserver: StoreSignal(continuation), extent: .databaseLifetime)
        let id = try await save(1)
        try await save(1)
        try await database.write { db in try store.touch([id: noon + 60], in: db) }
        try await database.write { db in try store.remove(id, in: db) }
        try await database.write { db in try db.execute(sql: "INSERT INTO app_row (body) VALUES (x'00')") }
        try await database.write { db in
            let key = PageKey(account: "a", screen: "s", offset: 0, limit: 1)
            try PageStore().save(PageList(key: key, rowKeys: [], total: nil, hasMore: false, fetchedAt: noon), in: db)
        }
        continuation.finish()
        var count = 0
        for await _ in stream { count += 1 }
        #expect(count == 3, "two responses and a page")
    }

    @Test("A consumer of stores receives one that happened before it waited again")
    func stores() async throws {
        var stores = database.stores().makeAsyncIterator()
        try await save(1)
        try await save(2)
        #expect(await stores.next() != nil)
    }

    private final class Commits: TransactionObserver {
        // Written on the writer's queue only, read when nothing is written any more.
        nonisolated(unsafe) var count = 0
        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
        func databaseDidChange(with event: DatabaseEvent) {}
        func databaseDidCommit(_ db: Database) { count += 1 }
        func databaseDidRollback(_ db: Database) {}
    }

    private func transactions(during body: () async throws -> Void) async throws -> Int {
        let commits = Commits()
        database.pool.add(transactionObserver: commits)
        try await body()
        return commits.count
    }
}

@Suite struct CacheBudgetTests {
    @Test("Within the budget nothing has to go; above it as much as leaves nine tenths")
    func waterMarks() {
        let budget = CacheBudget(bytes: 1000)
        #expect(!budget.isExceeded(by: 1000))
        #expect(budget.isExceeded(by: 1001))
        #expect(budget.excess(of: 1001) == 101)
        #expect(budget.excess(of: 900) == 0)
        #expect(budget.excess(of: 10) == 0)
    }

    @Test("What would push out everything else is not admitted")
    func persistRows() {
        let budget = CacheBudget(bytes: 1000)
        #expect(budget.admits(900))
        #expect(!budget.admits(901))
        #expect(!CacheBudget(bytes: 0).admits(1))
        #expect(CacheBudget.unlimited.admits(1 << 40))
    }

    @Test("The least recently used go first, whatever they are, and no more than needed")
    func victims() {
        let candidates = [
            CacheEviction.Candidate(kind: .response, id: 1, size: 10, lastUsed: 50),
            CacheEviction.Candidate(kind: .response, id: 2, size: 10, lastUsed: 20),
            CacheEviction.Candidate(kind: .page, id: 1, size: 5, lastUsed: 30),
        ]
        #expect(CacheEviction.victims(freeing: 1, among: candidates).map(\.lastUsed) == [20])
        #expect(CacheEviction.victims(freeing: 10, among: candidates).map(\.lastUsed) == [20])
        #expect(CacheEviction.victims(freeing: 11, among: candidates).map(\.lastUsed) == [20, 30])
        #expect(CacheEviction.victims(freeing: 1000, among: candidates).map(\.lastUsed) == [20, 30, 50])
        #expect(CacheEviction.victims(freeing: 0, among: candidates).isEmpty)
    }

    @Test("One step removes a batch at most, however much has to go")
    func batch() {
        let candidates = (0..<1000).map { CacheEviction.Candidate(kind: .response, id: $0, size: 1, lastUsed: $0) }
        #expect(CacheEviction.victims(freeing: 1000, among: candidates).count == CacheEviction.batch)
    }

    @Test(
        "The path of a URL is what stands between authority and query",
        arguments: [
            ("https://a.test/v4/ships?x=/y", "/v4/ships"), ("https://a.test", "/"), ("https://a.test?x", "/"),
            ("http://u@[::1]:80/", "/"),
        ]
    )
    func path(url: String, path: String) {
        #expect(CachePurge.path(of: url) == path[...])
    }

    @Test("A purge means what all its conditions name")
    func purge() {
        func matches(_ purge: CachePurge) -> Bool {
            purge.matches(upstream: "ships", url: "https://a.test/v4/ships?q", received: noon)
        }
        #expect(matches(CachePurge()))
        #expect(matches(CachePurge(upstream: "ships", pathPrefix: "/v4/", receivedBefore: noon + 1)))
        #expect(!matches(CachePurge(upstream: "other", pathPrefix: "/v4/")))
        #expect(!matches(CachePurge(pathPrefix: "/v5/")))
        #expect(!matches(CachePurge(pathPrefix: "/v4/ships?")))
        #expect(!matches(CachePurge(receivedBefore: noon)))
    }
}
