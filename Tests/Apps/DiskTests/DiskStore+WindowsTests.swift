import Foundation
import GRDB
import HTTPTypes
import Screens
import Storage
import TestKit
import Testing
import Upstream

@testable import Disk

@Suite("Windows of stored lists over HTTP")
struct DiskStoreWindowsTests {
    private static func disk(_ count: Int) -> FakeYandexDisk {
        let disk = FakeYandexDisk()
        for number in 0..<count {
            disk.put("disk:/\(10 + number).txt", bytes: Array(repeating: 0, count: count - number))
        }
        return disk
    }

    private static func names(_ numbers: some Sequence<Int>) -> [String] { numbers.map { "\(10 + $0).txt" } }

    @Test("DISK-36 offline any window inside what is stored is served: other limits, other offsets, across pages")
    func inside() async throws {
        try await DiskHarness.run(Self.disk(30)) { app, token in
            let seen = ["files?limit=20", "files?limit=20&offset=20", "recent?limit=25", "published", "trash?limit=9"]
            for target in seen {
                #expect(try await app.get("/v1/disk/\(target)", as: token).status == 200)
            }
            app.disk.goAway()
            app.clock.advance(by: .seconds(60))
            for (target, names, hasMore) in [
                ("files?limit=5", Self.names(0..<5), true), ("files?limit=7&offset=16", Self.names(16..<23), true),
                ("files?limit=100", Self.names(0..<30), false), ("files?offset=25", Self.names(25..<30), false),
                ("recent?limit=4", Self.names((26..<30).reversed()), true),
                ("recent?limit=4&offset=4", Self.names((22..<26).reversed()), true), ("published?limit=3", [], false),
                ("trash?limit=2", [], false),
            ] {
                let response = try await app.get("/v1/disk/\(target)", as: token)
                #expect(response.status == 200 && DiskHarness.names(response) == names, "\(target): \(response.text)")
                #expect(response["meta.offline"] == true && response["meta.partial"] == nil, "\(target)")
                #expect(response["meta.page.has_more"] == .bool(hasMore), "\(target)")
                #expect(response.age == "60")
            }
            try await app.get("/v1/disk/recent?limit=4&offset=30", as: token).expectProblem("upstream-unavailable", 503)
        }
    }

    @Test(
        "DISK-36 what a cursor has fetched is served by offset, and the other way round, offline too",
        arguments: ["files?", "files?sort=-name&", "recent?"]
    )
    func cursors(list: String) async throws {
        try await DiskHarness.run(Self.disk(30)) { app, token in
            let first = try await app.get("/v1/disk/\(list)limit=10", as: token)
            let second = try first.string("links.next")
            #expect(second.contains("cursor=") && !second.contains("offset="))
            let byCursor = try await app.get(second, as: token)
            #expect(byCursor["meta.page.offset"] == .null && byCursor["meta.page.next_offset"] == .null)
            let asked = app.disk.asked.count
            let byOffset = try await app.get("/v1/disk/\(list)limit=10&offset=10", as: token)
            #expect(byOffset["data"] == byCursor["data"] && app.disk.asked.count == asked, "one stored page")
            #expect(byOffset["meta.page.next_offset"] == 20 && byOffset["links.next"] == byCursor["links.next"])
            _ = try await app.get("/v1/disk/\(list)limit=10&offset=20", as: token)
            app.disk.goAway()
            app.clock.advance(by: .seconds(60))
            let third = try await app.get(try byCursor.string("links.next"), as: token)
            #expect(DiskHarness.names(third).count == 10 && third["links.next"] == .null)
            #expect(third["meta.offline"] == true && third["meta.partial"] == nil)
            let other = try await app.get(second.replacing("limit=10", with: "limit=7"), as: token)
            #expect(DiskHarness.names(other) == Array(DiskHarness.names(byCursor).prefix(7)), "any limit")
            let further = try await app.get(try other.string("links.next"), as: token)
            let expected = Array(DiskHarness.names(byCursor).dropFirst(7)) + DiskHarness.names(third).prefix(4)
            #expect(DiskHarness.names(further) == expected, "a window across two stored pages")
        }
    }

    @Test(
        "DISK-12 a cursor of another folder, order or list is refused, unsent",
        arguments: ["path=/sub", "sort=name", "offset=1"]
    )
    func foreignCursors(parameter: String) async throws {
        try await DiskHarness.run(Self.disk(3)) { app, token in
            let next = try await app.get("/v1/disk/files?limit=1", as: token).string("links.next")
            let asked = app.disk.asked.count
            try await app.get("\(next)&\(parameter)", as: token).expectProblem("invalid-parameter", 400)
            for screen in ["recent", "published", "trash"] {
                let foreign = next.replacing("/files?", with: "/\(screen)?")
                try await app.get(foreign, as: token).expectProblem("invalid-parameter", 400)
            }
            #expect(app.disk.asked.count == asked)
        }
    }

    @Test("DISK-36 a folder that is stored whole is served in any order; one that is not, in the order of its pages")
    func orders() async throws {
        try await DiskHarness.run(Self.disk(30)) { app, token in
            for offset in [0, 20] { _ = try await app.get("/v1/disk/files?offset=\(offset)", as: token) }
            app.disk.makeFolder("disk:/sub")
            for number in 0..<5 { app.disk.put("disk:/sub/\(number)") }
            _ = try await app.get("/v1/disk/files?path=/sub&limit=3", as: token)
            app.disk.goAway()
            app.clock.advance(by: .seconds(60))
            let reversed = try await app.get("/v1/disk/files?sort=-name&limit=4&offset=2", as: token)
            #expect(DiskHarness.names(reversed) == Self.names((24..<28).reversed()))
            #expect(reversed["meta.page.total"] == 30 && reversed["meta.page.has_more"] == true)
            #expect(reversed["meta.partial"] == nil && reversed["meta.offline"] == true)
            let bySize = try await app.get("/v1/disk/files?sort=size&limit=2", as: token)
            #expect(DiskHarness.names(bySize) == Self.names([29, 28]))
            try await app.get("/v1/disk/files?path=/sub&sort=-name", as: token)
                .expectProblem("upstream-unavailable", 503)
        }
    }

    @Test("DISK-36 a window that is stored in part is served with `partial` while the upstream is unreachable only")
    func partial() async throws {
        try await DiskHarness.run(Self.disk(30)) { app, token in
            _ = try await app.get("/v1/disk/files?limit=10&offset=10", as: token)
            app.disk.respond(503)
            try await app.get("/v1/disk/files?limit=15", as: token).expectProblem("upstream-unavailable", 503)
            app.disk.goAway()
            for _ in 0..<2 {
                let part = try await app.get("/v1/disk/files?limit=15", as: token)
                #expect(DiskHarness.names(part) == Self.names(10..<15), "\(part.text)")
                #expect(part["meta.partial"] == true && part["meta.offline"] == true)
            }
            try await app.get("/v1/disk/files?limit=5", as: token).expectProblem("upstream-unavailable", 503)
        }
    }

    @Test("DISK-36 a failing upstream: the window is stale and not offline; a whole one is requested when it is back")
    func failing() async throws {
        try await DiskHarness.run(Self.disk(30)) { app, token in
            _ = try await app.get("/v1/disk/files?limit=30", as: token)
            app.disk.respond(503)
            let stale = try await app.get("/v1/disk/files?limit=8", as: token)
            #expect(DiskHarness.names(stale) == Self.names(0..<8))
            #expect(stale["meta.stale"] == true && stale["meta.offline"] == false)
            app.disk.intercept(nil)
            app.disk.change { $0.nodes["disk:/10.txt"] = nil }
            let fresh = try await app.get("/v1/disk/files?limit=8&refresh=1", as: token)
            #expect(DiskHarness.names(fresh) == Self.names(1..<9) && fresh["meta.stale"] == false)
        }
    }

    @Test(
        "statements of windows find their rows by an index",
        arguments: [
            DiskStore.selectSources, DiskStore.selectFolderPages, "SELECT * \(DiskStore.ofList)", DiskStore.selectItems,
        ]
    )
    func plans(sql: String) async throws {
        try await DiskHarness.run { app in
            let plan = try app.database.read { db in
                let statement = try db.makeStatement(sql: "EXPLAIN QUERY PLAN " + sql)
                statement.setUncheckedArguments([])
                return try Row.fetchAll(statement).map { $0["detail"] as String }
            }
            // The pages that were found, of which there are 200 at most.
            let isSmall = { (step: String) in step.contains("json_each") || step == "SCAN source" }
            #expect(!plan.contains { $0.contains("SCAN") && !isSmall($0) }, "\(plan)")
        }
    }
}

@Suite("Windows made of stored pages")
struct PageWindowTests {
    private static func page(
        _ range: Range<Int>,
        hasMore: Bool = true,
        total: Int? = nil,
        at seconds: Double = 0,
        without removed: Set<Int> = []
    ) -> PageWindow.Source {
        var source = PageWindow.Source(
            offset: range.lowerBound,
            limit: range.count,
            hasMore: hasMore,
            total: total,
            fetchedAt: Date(timeIntervalSince1970: seconds),
            changedAt: Date(timeIntervalSince1970: seconds)
        )
        for position in range where !removed.contains(position) { source.keys[position] = "disk:/\(position)" }
        return source
    }

    private static func keys(_ range: Range<Int>) -> [String] { range.map { "disk:/\($0)" } }

    @Test("DISK-36 a window inside one page, or across two, has their rows, and is as old as the older one")
    func inside() throws {
        let pages = [Self.page(50..<75, hasMore: false, total: 75, at: 9), Self.page(0..<50, total: 75, at: 5)]
        let first = try #require(PageWindow(pages, offset: 10, limit: 20))
        #expect(first.rowKeys == Self.keys(10..<30) && first.isWhole && first.hasMore && first.total == 75)
        #expect(first.fetchedAt == Date(timeIntervalSince1970: 5))
        let across = try #require(PageWindow(pages, offset: 40, limit: 20))
        #expect(across.rowKeys == Self.keys(40..<60) && across.isWhole && across.hasMore)
        #expect(across.fetchedAt == Date(timeIntervalSince1970: 5))
    }

    @Test("DISK-36 the end of a list is known from its last page; behind it there is nothing")
    func end() throws {
        let pages = [Self.page(50..<75, hasMore: false, total: 75)]
        let last = try #require(PageWindow(pages, offset: 60, limit: 20))
        #expect(last.rowKeys == Self.keys(60..<75) && last.isWhole && !last.hasMore)
        let exact = try #require(PageWindow(pages, offset: 55, limit: 20))
        #expect(exact.rowKeys == Self.keys(55..<75) && exact.isWhole && !exact.hasMore)
        let behind = try #require(PageWindow(pages, offset: 200, limit: 20))
        #expect(behind.rowKeys.isEmpty && behind.isWhole && !behind.hasMore)
    }

    @Test("DISK-36 what is stored in part is not whole; what is not stored at all is none")
    func partial() throws {
        let pages = [Self.page(10..<20)]
        let part = try #require(PageWindow(pages, offset: 0, limit: 15))
        #expect(part.rowKeys == Self.keys(10..<15) && !part.isWhole && part.hasMore)
        let tail = try #require(PageWindow(pages, offset: 15, limit: 15))
        #expect(tail.rowKeys == Self.keys(15..<20) && !tail.isWhole && tail.hasMore)
        #expect(PageWindow(pages, offset: 20, limit: 5) == nil && PageWindow([], offset: 0, limit: 5) == nil)
    }

    @Test("DISK-36 each position is the newest page's, also if that says that the list has become shorter")
    func newest() throws {
        let newer = Self.page(0..<30, hasMore: false, total: 30, at: 9)
        let older = Self.page(20..<60, total: 60, at: 5)
        let window = try #require(PageWindow([newer, older], offset: 20, limit: 20))
        #expect(window.rowKeys == Self.keys(20..<30) && window.isWhole && !window.hasMore && window.total == 30)
        var moved = older
        moved.keys[40] = "disk:/3"
        let twice = try #require(PageWindow([Self.page(0..<40, at: 9), moved], offset: 0, limit: 60))
        #expect(twice.rowKeys.count == 59, "a row that has moved to another page is there once")
    }

    @Test("DISK-36 a row that was removed since leaves its position empty")
    func removed() throws {
        let pages = [Self.page(0..<10, hasMore: false, without: [3, 9])]
        let window = try #require(PageWindow(pages, offset: 2, limit: 3))
        #expect(window.rowKeys == ["disk:/2", "disk:/4"] && window.isWhole && window.hasMore)
        #expect(try #require(PageWindow(pages, offset: 5, limit: 4)).hasMore == false)
    }

    @Test("DISK-36 a list is stored whole from its first row to a page that says that it ends")
    func wholeList() {
        #expect(PageWindow.isWholeList([Self.page(50..<75, hasMore: false), Self.page(0..<50)]))
        #expect(PageWindow.isWholeList([Self.page(0..<60), Self.page(50..<75, hasMore: false)]))
        #expect(!PageWindow.isWholeList([Self.page(0..<40), Self.page(50..<75, hasMore: false)]))
        #expect(!PageWindow.isWholeList([Self.page(0..<50)]) && !PageWindow.isWholeList([]))
        #expect(!PageWindow.isWholeList([Self.page(10..<50, hasMore: false)]))
    }

    @Test("a window at the end of all numbers does not overflow")
    func numbers() {
        let page = Self.page(0..<3, hasMore: false)
        #expect(PageWindow([page], offset: .max, limit: 20)?.rowKeys.isEmpty ?? true)
        #expect(PageWindow([page], offset: .max - 5, limit: 20)?.rowKeys == [])
    }
}

@Suite("Lists as they will be", .timeLimit(.minutes(2)))
struct PendingListPageTests {
    @Test("OUT-04 a page that changes fill is the last one if nothing else will be shown", arguments: [true, false])
    func lastPage(isDeleted: Bool) async throws {
        try await DiskHarness.run(FakeYandexDisk("disk:/a.txt")) { app, disk, token in
            let screens = ["files?limit=1", "search?q=a&limit=1"]
            for screen in screens { #expect(try await app.get("/v1/disk/\(screen)", as: token).status == 200) }
            disk.goAway()
            _ = try await app.get("/v1/disk/files?refresh=1", as: token)
            _ = try await app.leave(.post, "/v1/disk/folders", as: token, json: #"{"path":"/new a"}"#)
            if isDeleted { _ = try await app.leave(.delete, "/v1/disk/file?path=/a.txt", as: token) }
            for screen in screens {
                let page = try await app.get("/v1/disk/\(screen)", as: token)
                #expect(DiskHarness.names(page) == ["new a"], "\(page.text)")
                #expect(page["meta.page.has_more"] == .bool(!isDeleted), "\(page.text)")
            }
        }
    }

    @Test("OUT-04 a page that changes fill is shown although the API cannot be asked", arguments: ["", "&refresh=1"])
    func filledPage(refresh: String) async throws {
        try await DiskHarness.run(FakeYandexDisk("disk:/f/a.txt")) { app, disk, token in
            #expect(try await app.get("/v1/disk/files", as: token).status == 200)
            disk.goAway()
            _ = try await app.get("/v1/disk/files?refresh=1", as: token)
            let left = try await app.leave(.post, "/v1/disk/folders", as: token, json: #"{"path":"/f/new"}"#)
            #expect(left.status == 202)
            let page = try await app.get("/v1/disk/files?path=/f&limit=1\(refresh)", as: token)
            #expect(DiskHarness.names(page) == ["new"], "\(page.text)")
            #expect(page["meta.page.has_more"] == true && page["meta.offline"] == true, "\(page.text)")
            try await app.get("/v1/disk/files?path=/f&limit=2\(refresh)", as: token)
                .expectProblem("upstream-unavailable", 503)
        }
    }

    @Test("OUT-11 a list that is read while the queue drains faster keeps what waits")
    func drain() async throws {
        // Each read asks the API.
        let settings = DiskHarness.Settings(values: .disk.with(DiskApp.freshness, .zero))
        try await DiskHarness.run(WriteScenario.disk(), settings) { app in
            let token = try await WriteScenario.away(app)
            for number in 0..<16 {
                let body = #"{"path":"/q\#(number)"}"#
                #expect(try await app.leave(.post, "/v1/disk/folders", as: token, json: body).status == 202)
            }
            let store = app.store
            app.disk.intercept { request in
                guard request.method == .get else { return FakeYandexDisk.refusal(423, "DiskResourceLockedError") }
                // As if another write were done while the API responds.
                guard let last = store.outbox.queue(of: "1130")?.entries.last else { return nil }
                try? store.database.write { db in
                    _ = try store.change([.remove(last)], account: "1130", db)
                    try store.responses.invalidate(credential: store.credential(of: "1130"), in: db)
                }
                return nil
            }
            let list = try await app.get("/v1/disk/files?refresh=1", as: token)
            // Each read was overtaken, the last one too.
            #expect(store.outbox.queue(of: "1130").map { $0.entries.count <= 16 - Disk.attempts } == true)
            #expect(DiskHarness.names(list).starts(with: ["q0", "q1"]), "\(list.text)")
        }
    }
}

@Suite("What lists of the Disk cost the database")
struct DiskStatementTests {
    @Test(
        "a stored page, offline: one transaction of four statements, however many rows it has",
        arguments: ["files?limit=20", "files?limit=100", "recent?limit=20"]
    )
    func offline(target: String) async throws {
        let disk = FakeYandexDisk()
        for number in 0..<30 { disk.put("disk:/\(number).txt") }
        try await DiskHarness.run(disk) { app, token in
            for _ in 0..<2 { _ = try await app.get("/v1/disk/\(target)", as: token) }
            app.disk.goAway()
            app.clock.advance(by: .seconds(60))
            _ = try await app.get("/v1/disk/\(target)", as: token)
            let ran = try await app.statements.count {
                let response = try await app.get("/v1/disk/\(target)", as: token)
                #expect(response["meta.offline"] == true && response.all("name", in: "data.items").count >= 20)
            }
            #expect(ran == .init(transactions: 1, statements: 4))
        }
    }
}
