import Cluster
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

    /// Stores a folder with this many files, all of them in a list, and returns its path.
    private static func store(_ count: Int, in app: DiskHarness) async throws -> DiskPath {
        let folder = DiskPath.root.child("of \(count)")
        let items = (0..<count).map { DiskItem(path: folder.child("\($0).txt"), kind: .file) }
        let list = PageList(
            key: PageKey(account: "disk/1130", screen: "recent", offset: count, limit: count),
            rowKeys: items.map(\.path.text),
            total: nil,
            hasMore: false,
            fetchedAt: app.clock.now
        )
        try await app.database.write { db in
            let all = [DiskItem(path: folder, kind: .dir)] + items
            try app.store.keep(all, about: nil, account: "1130", at: app.clock.now, in: db)
            try app.store.pages.save(list, in: db)
        }
        return folder
    }

    /// Returns the number of statements that some work runs.
    private static func statements(in app: DiskHarness, _ work: () async throws -> Void) async throws -> Int {
        let statements = Mutex(0)
        try await app.database.write { db in
            db.trace(options: .statement) { _ in statements.withLock { $0 += 1 } }
        }
        let before = statements.withLock { $0 }
        try await work()
        let after = statements.withLock { $0 }
        try await app.database.write { db in db.trace() }
        return after - before
    }

    @Test("DISK-28 renaming a folder with 10,000 stored children is as many statements as renaming one with two")
    func manyChildren() async throws {
        try await DiskHarness.run(FakeYandexDisk()) { app in
            _ = try await app.logIn()
            let counts = try await [2, 10_000].asyncMap { count in
                let folder = try await Self.store(count, in: app)
                let change = DiskChange.moved(from: folder, to: DiskPath.root.child("moved \(count)"))
                let statements = try await Self.statements(in: app) {
                    try await app.store.apply(change, account: "1130", at: app.clock.now)
                }
                let items = "SELECT count(*) FROM disk_item WHERE path LIKE"
                #expect(try app.database.integer("\(items) 'disk:/moved \(count)/%'") == count)
                #expect(try app.database.integer("\(items) 'disk:/of \(count)%'") == 0)
                let listed = "SELECT count(*) FROM page_row WHERE row_key LIKE 'disk:/moved \(count)/%'"
                #expect(try app.database.integer(listed) == count)
                return statements
            }
            #expect(counts[0] == counts[1], "\(counts)")
            #expect(counts[0] < 48)
        }
    }

    @Test("100,000 items in a folder: a page requests and stores one page and knows the total; search is partial")
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
            #expect(try app.database.integer("SELECT count(*) FROM disk_item WHERE kind = 'file'") == 150)
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

@Suite("Downloads and operations, of one server and of several", .timeLimit(.minutes(3)))
struct DiskStoreJobsTests {
    private static func job(_ id: String = "one") -> DownloadJob {
        DownloadJob(id: id, account: "1130", path: .at("/a"), version: "v", bytesTotal: 10)
    }

    private static func operation(_ number: Int) -> DiskOperation {
        DiskOperation(
            id: "\(number)",
            account: "1130",
            upstreamID: "u",
            action: .move,
            path: .at("/a"),
            target: .at("/b"),
            status: .running
        )
    }

    @Test("A version has one download at a time, which ends once", arguments: StoreKind.allCases)
    func downloads(kind: StoreKind) async throws {
        let node = try await DiskNode.alone(kind)
        let store = node.cache
        #expect(try await store.share(Self.job(), at: DiskNode.noon) == nil, "no account")
        try await node.logIn()
        let (first, lease) = try #require(try await store.share(Self.job(), at: DiskNode.noon))
        #expect(first == Self.job() && lease != nil)
        let second = try #require(try await store.share(Self.job("two"), at: DiskNode.noon))
        #expect(second.job == Self.job() && second.lease == nil)
        var job = Self.job()
        for event in [DownloadJob.Event.started, .received(bytes: 4), .failed(.changed)] { _ = job.apply(event) }
        #expect(try await store.note(job, holding: lease))
        #expect(try store.download("one", account: "1130") == job)
        #expect(try store.download("one", account: "7") == nil)
        #expect(try await !store.note(Self.job(), holding: lease), "it has ended")
        #expect(try await store.share(Self.job("two"), at: DiskNode.noon)?.job == Self.job("two"))
        try await store.keep(Self.operation(1), at: DiskNode.noon)
        try await node.logOut()
        #expect(try store.download("two", account: "1130") == nil)
        #expect(try store.operation("1", account: "1130") == nil)
    }

    @Test("An operation ends once; the latest thousand are kept")
    func operations() async throws {
        let node = try await DiskNode.alone(.sqlite)
        try await node.logIn()
        let store = node.cache
        for number in 0..<1002 {
            try await store.keep(Self.operation(number), at: DiskNode.noon.addingTimeInterval(Double(number)))
        }
        #expect(try store.operation("1", account: "1130") == nil)
        #expect(try store.operation("2", account: "1130") == Self.operation(2))
        #expect(try store.operation("2", account: "7") == nil)
        #expect(try await store.finish(Self.operation(2), as: .done))
        #expect(try await !store.finish(Self.operation(2), as: .failed))
        #expect(try store.operation("2", account: "1130")?.status == .done)
    }

    @Test("SCALE-02 Of two servers that end an operation at once, one applies its change")
    func ends() async throws {
        let (one, other) = try await DiskNode.two()
        try await one.logIn()
        try await one.cache.keep(Self.operation(1), at: DiskNode.noon)
        async let first = one.cache.finish(Self.operation(1), as: .done)
        async let second = other.cache.finish(Self.operation(1), as: .failed)
        let ended = try await [first, second]
        #expect(ended.count { $0 } == 1)
        for node in [one, other] {
            _ = try await node.cache.users.catchUp()
            #expect(try node.cache.operation("1", account: "1130")?.status == (ended[0] ? .done : .failed))
        }
    }

    @Test("SCALE-07 A download belongs to one server until its lease has run out; then another one takes it up")
    func leases() async throws {
        let (one, other) = try await DiskNode.two()
        try await one.logIn()
        try await other.follow()
        let lease = try #require(try await one.cache.share(Self.job(), at: DiskNode.noon)?.lease)
        #expect(try await other.cache.share(Self.job("two"), at: DiskNode.noon)?.job == Self.job())
        #expect(try await other.cache.takeUpDownloads(except: []).isEmpty)
        var job = Self.job()
        for event in [DownloadJob.Event.started, .received(bytes: 4)] { _ = job.apply(event) }
        #expect(try await one.cache.note(job, holding: lease))
        #expect(try await one.cache.users.leases.renew([lease], lasting: DiskStore.downloadLease).count == 1)
        _ = try await other.cache.users.catchUp()
        #expect(try other.cache.download("one", account: "1130")?.bytesDone == 4)
        try await one.endLeases()
        let renewed = try await one.cache.users.leases.renew([lease], lasting: DiskStore.downloadLease)
        #expect(renewed.count == 1, "none has taken it")
        #expect(try await other.cache.takeUpDownloads(except: []).isEmpty)
        try await one.endLeases()
        let taken = try #require(try await other.cache.takeUpDownloads(except: []).first)
        #expect(taken.job == Self.job())
        #expect(try await one.cache.users.leases.renew([lease], lasting: DiskStore.downloadLease).isEmpty)
        _ = job.apply(.stored)
        #expect(try await !one.cache.note(job, holding: lease), "it is another server's")
        try await other.cache.users.leases.release([taken.lease])
        let again = try #require(try await one.cache.takeUpDownloads(except: []).first)
        #expect(again.job == Self.job())
        #expect(try await one.cache.note(job, holding: again.lease))
        _ = try await other.cache.users.catchUp()
        #expect(try other.cache.download("one", account: "1130")?.status == .done)
        try await one.endLeases()
        #expect(try await other.cache.takeUpDownloads(except: []).isEmpty, "it has ended")
    }

    @Test("Servers share the downloads of one that has ended, and begin each once", arguments: [1, 40])
    func takenUp(count: Int) async throws {
        let (one, other) = try await DiskNode.two()
        try await one.logIn()
        for number in 0..<count {
            let job = DownloadJob(
                id: "\(number)",
                account: "1130",
                path: .at("/\(number)"),
                version: "v",
                bytesTotal: 10
            )
            _ = try await one.cache.share(job, at: DiskNode.noon)
        }
        try await one.endLeases()
        var taken: [String] = []
        while true {
            let known = Set(taken)
            async let first = one.cache.takeUpDownloads(except: known)
            async let second = other.cache.takeUpDownloads(except: known)
            let both = try await [first, second]
            #expect(both.allSatisfy { $0.count <= 16 })
            let ids = both.joined().map(\.job.id)
            if ids.isEmpty { break }
            taken += ids
        }
        #expect(taken.count == count && Set(taken).count == count)
    }
}

@Suite("Writes that wait, in the database")
struct DiskStoreOutboxTests {
    private static let noon = Date(timeIntervalSince1970: 1_767_700_000)

    @Test("Leaving, sending, finishing and asking for a write find their rows by an index")
    func plans() async throws {
        try await DiskHarness.run { app in
            _ = try await app.logIn()
            let store = app.store
            let folder = QueuedWrite(kind: .folder, path: .at("/new"))
            let entry = OutboxEntry(id: "one", account: "1130", work: folder, queuedAt: Self.noon)
            let other = OutboxEntry(id: "two", account: "1130", work: folder, queuedAt: Self.noon)
            let ran = try await app.statements.statements {
                try await app.database.write { db in
                    _ = try store.change([.put(entry), .put(other)], account: "1130", db)
                }
                _ = try await store.change("one", account: "1130") { _ = $0.progress.apply(.began, at: Self.noon) }
                try await app.database.write { try store.finish("one", account: "1130", at: Self.noon, $0) }
                let rest = try #require(store.outbox.entry("two", of: "1130"))
                try await app.database.write { db in _ = try store.change([.remove(rest)], account: "1130", db) }
                _ = try app.database.read { try store.outbox.finished("one", account: "1130", $0) }
                try await app.database.write { try store.outbox.removeAll(of: "1130", in: $0) }
            }
            let own = Set(ran.filter { $0.contains("disk_outbox") && !$0.hasPrefix("--") })
            #expect(own.count == 5, "\(own)")
            for sql in own {
                let plan = try QueryPlan(sql, in: app.database)
                #expect(!plan.scans && !plan.sorts, "\(sql): \(plan)")
            }
        }
    }

    @Test("A hundred of the writes that are done are kept, so that a client can ask what became of them")
    func kept() async throws {
        try await DiskHarness.run { app in
            _ = try await app.logIn()
            let store = app.store
            for number in 0..<120 {
                let write = QueuedWrite(kind: .folder, path: .at("/\(number)"))
                let entry = OutboxEntry(id: "\(number)", account: "1130", work: write, queuedAt: Self.noon)
                try await app.database.write { db in _ = try store.change([.put(entry)], account: "1130", db) }
                _ = try await store.change("\(number)", account: "1130") { entry in
                    _ = entry.progress.apply(.began, at: Self.noon)
                    _ = entry.progress.apply(.succeeded, at: Self.noon)
                }
            }
            let found = try app.database.read { db in
                try (0..<120).filter { try store.outbox.finished("\($0)", account: "1130", db) != nil }
            }
            #expect(found == Array(20..<120))
            #expect(store.outbox.queue(of: "1130") == nil)
        }
    }
}
