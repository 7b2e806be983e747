import GRDB
import Screens
import Storage
import TestKit
import Testing

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
