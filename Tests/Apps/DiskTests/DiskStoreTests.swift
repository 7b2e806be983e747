import Foundation
import GRDB
import Screens
import Storage
import Synchronization
import TestKit
import Testing

@testable import Concurrency
@testable import Disk
@testable import Upstream

@Suite("Rows, lists and bodies of many files")
struct DiskStoreTests {
    @Test(
        "a query that runs per request, or over a folder, finds its rows by an index",
        arguments: [
            DiskStore.selectAccount, DiskStore.selectItem, DiskStore.upsertItem, DiskStore.deleteItem,
            DiskStore.deleteBelow, DiskStore.renameItem,
            DiskStore.moveBelow,
            DiskStore.updateUnpublished, DiskStore.deleteFolderPages, DiskStore.moveFolderPages, DiskStore.selectShared,
            DiskStore.finishDownload,
            DiskStore.selectRank, DiskStore.deleteAllItems, DiskStore.deleteOverwritten,
            DiskStore.nextEpoch, DiskStore.followEpoch,
            DiskStore.selectSeen,
        ]
    )
    func plans(sql: String) async throws {
        try await DiskHarness.run { app in
            let plan = try QueryPlan(sql, in: app.database)
            #expect(!plan.scans, "\(plan)")
            if sql == DiskStore.moveBelow {
                #expect(plan.steps == ["SEARCH disk_item USING PRIMARY KEY (account=? AND path>? AND path<?)"])
            }
        }
    }

    @Test("what a search has found is looked up by rank, of which each row is one seek")
    func plansOfSearch() async throws {
        try await DiskHarness.run { app in
            let found = try QueryPlan(DiskStore.selectRanked, in: app.database)
            #expect(found.steps.contains { $0.hasPrefix("SEARCH item USING ") && $0.contains("rank=?") }, "\(found)")
            #expect(!found.steps.contains { $0.hasPrefix("SCAN item") || $0.hasPrefix("SCAN disk_item") }, "\(found)")
        }
    }

    @Test("DISK-28 renaming a folder with 10,000 stored children is as many statements as renaming one with two")
    func manyChildren() async throws {
        let disk = FakeYandexDisk()
        try await DiskHarness.run(disk) { app in
            _ = try await app.logIn()
            let counts = try await [2, 10_000].asyncMap { count in
                let folder = DiskPath.root.child("of \(count)")
                let items = (0..<count).map { DiskItem(path: folder.child("\($0).txt"), kind: .file) }
                try await app.database.write { db in
                    try app.store.keep(
                        [DiskItem(path: folder, kind: .dir)] + items,
                        about: nil,
                        account: "1130",
                        at: app.clock.now,
                        in: db
                    )
                    let key = PageKey(account: "disk/1130", screen: "recent", offset: count, limit: count)
                    try app.store.pages.save(
                        PageList(
                            key: key,
                            rowKeys: items.map(\.path.text),
                            total: nil,
                            hasMore: false,
                            fetchedAt: app.clock.now
                        ),
                        in: db
                    )
                }
                let statements = Mutex(0)
                try await app.database.write { db in
                    db.trace(options: .statement) { _ in statements.withLock { $0 += 1 } }
                }
                let before = statements.withLock { $0 }
                try await app.store.apply(
                    .moved(from: folder, to: DiskPath.root.child("moved \(count)")),
                    account: "1130",
                    at: app.clock.now
                )
                let after = statements.withLock { $0 }
                try await app.database.write { db in db.trace() }
                try app.database.read { db in
                    let moved = try Int.fetchOne(
                        db,
                        sql: "SELECT count(*) FROM disk_item WHERE path LIKE 'disk:/moved \(count)/%'"
                    )
                    let left = try Int.fetchOne(
                        db,
                        sql: "SELECT count(*) FROM disk_item WHERE path LIKE 'disk:/of \(count)%'"
                    )
                    let listed = try Int.fetchOne(
                        db,
                        sql: "SELECT count(*) FROM page_row WHERE row_key LIKE 'disk:/moved \(count)/%'"
                    )
                    #expect(moved == count && left == 0 && listed == count)
                }
                return after - before
            }
            #expect(counts[0] == counts[1], "\(counts)")
            #expect(counts[0] < 48)
        }
    }

    @Test(
        "100,000 items in a folder: a page requests and stores one page and knows the total; search says it is partial"
    )
    func manyItems() async throws {
        let disk = FakeYandexDisk()
        disk.intercept { (request) in
            guard request.url.contains("_embedded"),
                let offset = request.url.firstMatch(of: /[?&]offset=(\d+)/).flatMap({ Int($0.1) }),
                let limit = request.url.firstMatch(of: /[?&]limit=(\d+)/).flatMap({ Int($0.1) })
            else { return nil }
            let items = (offset..<min(offset + limit, 100_000)).map {
                #"{"path":"disk:/\#($0).txt","name":"\#($0).txt","type":"file","size":1}"#
            }
            return .json(
                #"{"path":"disk:/","name":"disk","type":"dir","_embedded":{"total":100000,"#
                    + #""items":[\#(items.joined(separator: ","))]}}"#
            )
        }
        try await DiskHarness.run(disk) { app, token in
            let last = try await app.get("/v1/disk/files?limit=100&offset=99950", as: token)
            #expect(
                last["meta.page.count"] == 50 && last["meta.page.total"] == 100_000
                    && last["meta.page.has_more"] == false
            )
            let first = try await app.get("/v1/disk/files?limit=100", as: token)
            #expect(first["meta.page.count"] == 100 && first["meta.page.has_more"] == true)
            #expect(
                try app.database.read {
                    try Int.fetchOne($0, sql: "SELECT count(*) FROM disk_item WHERE kind = 'file'")
                } == 150
            )
            #expect(disk.asked.count { $0.contains("_embedded") } == 2)
            let past = try await app.get("/v1/disk/files?offset=100000", as: token)
            #expect(past.status == 200 && past["meta.page.has_more"] == false && DiskHarness.names(past) == [])
            // Rows of the whole folder, as if every page had been requested, after the list of all files.
            try await app.database.write { db in
                let items = (0..<100_000).map { DiskItem(path: DiskPath.root.child("\($0).txt"), kind: .file) }
                try app.store.keep(items, about: nil, account: "1130", at: app.clock.now + 60, in: db)
            }
            let found = try await app.get("/v1/disk/search?q=9999", as: token)
            #expect(found["meta.page.total"] == 19)
        }
    }

    @Test("a response requested before a change is discarded after it: the list is requested again")
    func staleResponse() async throws {
        try await DiskHarness.run(FakeYandexDisk("disk:/a.txt")) { (app, disk, token) async throws in
            let isFirst = Counter(1)
            let store = app.store
            disk.intercept { (request) in
                guard request.url.contains("_embedded"), isFirst.take() else { return nil }
                // A change is made before the response arrives.
                try? store.database.write { try $0.execute(sql: "UPDATE disk_cache SET epoch = epoch + 1") }
                return .json(
                    #"{"path":"disk:/","name":"disk","type":"dir","_embedded":{"total":1,"#
                        + #""items":[{"path":"disk:/old.txt","name":"old.txt","type":"file"}]}}"#
                )
            }
            #expect(DiskHarness.names(try await app.get("/v1/disk/files", as: token)) == ["a.txt"])
            #expect(try app.store.row(DiskPath.root.child("old.txt"), account: "1130") == nil)
        }
    }
}

extension Sequence {
    /// One after the other.
    func asyncMap<Value>(_ transform: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}
