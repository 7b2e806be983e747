import Foundation
import GRDB
import HTTPTypes
import Screens
import Storage
import TestKit
import Testing

@testable import Disk

@Suite("Offline files over HTTP", .timeLimit(.minutes(2)))
struct OfflineTests {
    private static let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 13) }

    private static func disk() -> FakeYandexDisk {
        let disk = FakeYandexDisk()
        disk.put("disk:/a.bin", bytes: bytes)
        disk.makeFolder("disk:/docs")
        disk.makeFolder("disk:/docs/sub")
        disk.put("disk:/docs/b.txt", "text of b")
        disk.put("disk:/docs/sub/c.txt", "text of c")
        disk.put("disk:/docs/sub/empty.txt", "")
        return disk
    }

    @Test("DISK-39 a file is marked once, fetched, served offline with ranges; neither eviction nor a purge takes it")
    func file() async throws {
        try await DiskHarness.run(Self.disk()) { app, disk, token in
            let first = try await app.keep("/a.bin", as: token)
            first.expectScreen("disk.offline", status: 201)
            #expect(first["data.path"] == "disk:/a.bin" && first["data.size"] == 300_000 && first["data.files"] == 1)
            let second = try await app.keep("disk:/a.bin", as: token)
            #expect(second.status == 200)
            try await app.offline("/a.bin", is: "kept", as: token)
            let row = try await app.offlineRow("/a.bin", as: token)
            #expect(row["progress"] == 1 && row["bytes_done"] == 300_000 && row["kept_at"] != .null)
            #expect(row["state_text"] == "Available offline" && row["reason"] == .null)
            let screen = try await app.get("/v1/disk/offline", as: token)
            #expect(screen["data.bytes"] == 300_000 && screen["data.budget"] == .number(Double(2048 << 20)))
            #expect(disk.asked.count { $0.contains("downloader.test/disk") } == 1)
            #expect(try await app.get("/v1/disk/file?path=/a.bin", as: token)["data.downloaded"] == true)

            _ = try await CacheEviction(app.database, budget: CacheBudget(bytes: 0)).run()
            _ = try await CachePurge().run(on: app.database)
            disk.goAway()
            let whole = try await app.get("/v1/disk/file/content?path=/a.bin&refresh=1", as: token)
            #expect(whole.status == 200 && whole.body == Data(Self.bytes))
            #expect(whole.cacheStatus == "larder; hit; detail=offline")
            let part = try await app.get("/v1/disk/file/content?path=/a.bin", as: token, [.range: "bytes=7-9"])
            #expect(part.status == 206 && part.body == Data(Self.bytes[7...9]))
        }
    }

    @Test("DISK-39 a folder is kept with all below it: contents and lists that were never opened, flagged")
    func folder() async throws {
        try await DiskHarness.run(Self.disk()) { app, disk, token in
            try await app.keep("/docs", as: token)
            try await app.offline("/docs", is: "kept", as: token)
            let row = try await app.offlineRow("/docs", as: token)
            #expect(row["files"] == 3 && row["files_kept"] == 3 && row["size"] == 18 && row["type"] == "dir")
            _ = try await CachePurge().run(on: app.database)
            disk.goAway()
            for (query, names) in [
                ("path=/docs", ["b.txt", "sub"]), ("path=/docs/sub&sort=-name", ["empty.txt", "c.txt"]),
                ("path=/docs/sub&sort=name&limit=1", ["c.txt"]),
                ("path=/docs/sub&sort=size&limit=1&offset=1", ["c.txt"]),
            ] {
                let list = try await app.get("/v1/disk/files?\(query)", as: token)
                #expect(list.status == 200 && DiskHarness.names(list) == names, "\(query) \(list.text)")
                #expect(list["meta.offline"] == true && list["meta.stale"] == true, "\(query)")
            }
            #expect(try await app.get("/v1/disk/file?path=/docs/sub/c.txt", as: token)["meta.offline"] == true)
            let content = try await app.get("/v1/disk/file/content?path=/docs/sub/c.txt", as: token)
            #expect(content.text == "text of c")
            #expect(try await app.get("/v1/disk/file/content?path=/docs/sub/empty.txt", as: token).status == 200)
            try await app.get("/v1/disk/files?path=/", as: token).expectProblem("upstream-unavailable", 503)
        }
    }

    @Test("DISK-39 rows and the file's screen say what is kept, and offer to keep it and to end that")
    func actions() async throws {
        try await DiskHarness.run(Self.disk()) { app, token in
            func action(_ target: String) async throws -> (JSON?, [JSON]) {
                let response = try await app.get(target, as: token)
                let ids = response.all("id", in: "data.actions").filter { "\($0)".contains("offline") }
                return (response["data.kept_offline"], ids)
            }
            #expect(try await action("/v1/disk/file?path=/docs") == (false, ["keep_offline"]))
            try await app.keep("/docs", as: token)
            #expect(try await action("/v1/disk/file?path=/docs") == (true, ["remove_offline"]))
            try await app.offline("/docs", is: "kept", as: token)
            let list = try await app.get("/v1/disk/files?path=/docs", as: token)
            #expect(list["data.items.0.kept_offline"] == true)
            #expect(list["data.items.0.actions.0.id"] == "keep_offline", "only what is above it is marked")
            #expect(list["data.items.0.actions.0.enabled"] == false)
            #expect(list["data.items.0.actions.0.title"] == "Add to offline")
            let root = try await app.get("/v1/disk/files", as: token)
            #expect(root.all("kept_offline", in: "data.items") == [false, true])
            #expect(root["data.items.1.actions.0.title"] == "Delete from offline")
            let href = try root.string("data.items.1.actions.0.href")
            #expect(try await app.ask(.delete, href, as: token).status == 200)
            #expect(try await action("/v1/disk/file?path=/docs") == (false, ["keep_offline"]))
        }
    }

    @Test("DISK-39 what no mark keeps any more is removed with its files; what another mark keeps stays")
    func unmarking() async throws {
        try await DiskHarness.run(Self.disk()) { app, disk, token in
            for path in ["/docs", "/docs/b.txt"] { try await app.keep(path, as: token) }
            try await app.offline("/docs", is: "kept", as: token)
            let removal = try await app.ask(.delete, "/v1/disk/offline?path=/docs", as: token)
            #expect(removal.status == 200 && removal["data.path"] == "disk:/docs")
            disk.goAway()
            #expect(try await app.get("/v1/disk/file/content?path=/docs/b.txt", as: token).text == "text of b")
            #expect(try await app.get("/v1/disk/file/content?path=/docs/sub/c.txt", as: token).status == 503)
            #expect(try await app.get("/v1/disk/offline", as: token)["data.bytes"] == 9)
            _ = try await app.ask(.delete, "/v1/disk/offline?path=/docs/b.txt", as: token)
            let empty = try await app.get("/v1/disk/offline", as: token)
            #expect(empty["meta.state"] == "empty" && empty["data.empty.title"] == "Offline")
            #expect(try app.database.integer("SELECT count(*) FROM blob") == 0)
        }
    }

    @Test("DISK-39 the root, what is not there and what is not marked are refused; preconditions hold")
    func refusals() async throws {
        try await DiskHarness.run(Self.disk()) { app, token in
            for path in ["/", "disk:/", "trash:/x", "x"] {
                try await app.keep(path, as: token).expectProblem("validation-failed", 422)
            }
            try await app.keep("/none", as: token).expectProblem("not-found", 404)
            try await app.ask(.delete, "/v1/disk/offline?path=/a.bin", as: token).expectProblem("not-found", 404)
            try await app.ask(.delete, "/v1/disk/offline?path=/", as: token).expectProblem("invalid-parameter", 400)
            let body = #"{"path":"/a.bin"}"#
            try await app.ask(.put, "/v1/disk/offline", as: token, [.ifMatch: "*"], json: body)
                .expectProblem("precondition-failed", 412)
            let new = try await app.ask(.put, "/v1/disk/offline", as: token, [.ifNoneMatch: "*"], json: body)
            #expect(new.status == 201)
            try await app.ask(.put, "/v1/disk/offline", as: token, [.ifNoneMatch: "*"], json: body)
                .expectProblem("precondition-failed", 412)
            #expect(try await app.get("/v1/disk/offline").status == 401)
        }
    }

    @Test("DISK-39 pages by cursor, the latest first")
    func pages() async throws {
        let disk = FakeYandexDisk()
        for number in 0..<5 { disk.put("disk:/\(number).txt") }
        try await DiskHarness.run(disk) { app, token in
            for number in 0..<5 { try await app.keep("/\(number).txt", as: token) }
            var target = "/v1/disk/offline?limit=2"
            var names: [String] = []
            for _ in 0..<3 {
                let page = try await app.get(target, as: token)
                #expect(page["meta.page.total"] == 5)
                names += DiskHarness.names(page)
                if case .string(let next) = page["links.next"] { target = next } else { target = "" }
            }
            #expect(names == ["4.txt", "3.txt", "2.txt", "1.txt", "0.txt"] && target.isEmpty)
        }
    }

    @Test("DISK-39 DISK-33 sessions of an account share marks, another account sees none, and a logout wipes them")
    func accounts() async throws {
        let disk = Self.disk()
        disk.change { $0.tokens = ["good": "1130", "other": "2260"] }
        try await DiskHarness.run(disk) { app in
            let (one, two, other) = (try await app.logIn(), try await app.logIn(), try await app.logIn("other"))
            try await app.keep("/a.bin", as: one)
            try await app.offline("/a.bin", is: "kept", as: two)
            #expect(try await app.get("/v1/disk/offline", as: other)["data.items"] == .array([]))
            try await app.keep("/a.bin", as: other)
            try await app.offline("/a.bin", is: "kept", as: other)
            let events = app.events.published.filter { $0.json.contains("disk.offline") }
            let audiences = Set(events.map { "\($0.audience)" })
            #expect(events.allSatisfy { $0.kind == "screen-changed" } && audiences.count == 2)
            disk.goAway()
            #expect(try await app.ask(.delete, "/v1/disk/session?confirm=true", as: one).status == 200)
            #expect(try await app.get("/v1/disk/offline", as: two).status == 401)
            #expect(try await app.get("/v1/disk/file/content?path=/a.bin", as: other).status == 200)
            let left = try app.database.read { db in
                try ["disk_offline", "disk_offline_entry", "blob"].map {
                    try Int.fetchOne(db, sql: "SELECT count(*) FROM \($0)")
                }
            }
            #expect(left == [1, 1, 1])
        }
    }
}

@Suite("The budget of offline files")
struct OfflineAdmissionTests {
    private static let candidates = [("a", 40), ("b", 30), ("c", 20)].map {
        OfflineAdmission.Candidate(path: $0.0, bytes: $0.1)
    }

    @Test(
        "DISK-39 what was marked fits as a whole or not at all; what is added to it later fits by itself",
        arguments: [
            (90, true, 3), (89, true, 0), (90, false, 3), (89, false, 2), (65, false, 2), (20, false, 1), (0, false, 0),
            (-5, true, 0),
        ]
    )
    func fits(free: Int, isWhole: Bool, count: Int) {
        let admission = OfflineAdmission(budget: 1000, reserved: 1000 - free)
        let admitted = admission.admitted(Self.candidates, isWhole: isWhole)
        #expect(admitted.count == count)
        #expect(admitted.reduce(0) { $0 + $1.bytes } <= max(0, free))
    }

    @Test("what needs no bytes fits into a full budget")
    func empty() {
        let empty = OfflineAdmission.Candidate(path: "e", bytes: 0)
        #expect(OfflineAdmission(budget: 0, reserved: 0).admitted([empty], isWhole: true) == [empty])
    }
}

@Suite("An offline file as a state machine")
struct OfflineFileTests {
    private static let now = Date(timeIntervalSince1970: 1_767_607_200)

    private func file() throws -> OfflineFile {
        OfflineFile(account: "1", path: try #require(DiskPath("disk:/a.bin")), version: "v1", size: 10, dueAt: Self.now)
    }

    @Test("DISK-39 a failed attempt is repeated after 5 s, then after twice as long each time, at most after an hour")
    func retries() throws {
        var file = try file()
        var pauses: [Double] = []
        for _ in 0..<12 {
            file = file.after(.failed(.unavailable), at: Self.now, jitter: 0)
            pauses.append(try #require(file.dueAt).timeIntervalSince(Self.now))
        }
        #expect(pauses == [5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600])
        #expect(file.attempts == 12 && file.failure == .unavailable)
        let later = file.after(.failed(.damaged), at: Self.now, jitter: 0.999)
        #expect(try #require(later.dueAt) > Self.now.addingTimeInterval(3600))
        let stored = file.after(.stored, at: Self.now, jitter: 0)
        #expect(stored.attempts == 0 && stored.dueAt == nil && stored.failure == nil)
    }

    @Test("DISK-39 what cannot succeed without a change is not repeated; what could not begin does not count")
    func finalFailures() throws {
        let file = try file()
        for failure in [OfflineFailure.forbidden, .sizeUnknown, .tooLarge, .tooManyFiles] {
            #expect(file.after(.failed(failure), at: Self.now, jitter: 0).dueAt == nil, "\(failure)")
        }
        for failure in [OfflineFailure.sessionExpired, .unavailable, .damaged, .storageFull, .storage] {
            #expect(file.after(.failed(failure), at: Self.now, jitter: 0).dueAt != nil, "\(failure)")
        }
        #expect(file.after(.postponed, at: Self.now, jitter: 0) == file)
    }

    @Test("DISK-39 a file that has changed has not failed, and is not fetched again at once")
    func changed() throws {
        let changed = try file().after(.changed, at: Self.now, jitter: 0)
        #expect(changed.attempts == 0 && changed.failure == nil)
        #expect(changed.dueAt == Self.now.addingTimeInterval(5))
    }
}

@Suite("The state of a mark")
struct OfflineMarkTests {
    private func mark(_ failure: OfflineFailure? = nil, isChecked: Bool = true) throws -> OfflineMark {
        OfflineMark(
            number: 1,
            account: "1",
            path: try #require(DiskPath("disk:/a")),
            kind: .dir,
            markedAt: .distantPast,
            checkedAt: isChecked ? .distantPast : nil,
            failure: failure
        )
    }

    @Test("DISK-39 waiting until it is known, kept if all of it is here, else what is wrong with it")
    func states() throws {
        func state(_ mark: OfflineMark, _ change: (inout OfflineCounts) -> Void = { _ in }, isFetching: Bool = false)
            -> OfflineState
        {
            var counts = OfflineCounts()
            (counts.files, counts.keptFiles) = (3, 3)
            change(&counts)
            return OfflineState(mark, counts, isFetching: isFetching)
        }
        let (mark, unchecked) = (try self.mark(), try self.mark(isChecked: false))
        #expect(state(mark) == .kept)
        #expect(state(mark) { ($0.files, $0.keptFiles) = (0, 0) } == .kept, "an empty folder")
        #expect(state(unchecked) == .waiting)
        #expect(state(mark) { $0.keptFiles = 2 } == .waiting)
        #expect(state(mark, { $0.keptFiles = 2 }, isFetching: true) == .fetching)
        #expect(state(mark) { ($0.keptFiles, $0.outdatedFiles) = (2, 1) } == .outOfDate)
        #expect(state(mark) { ($0.keptFiles, $0.failedFiles) = (2, 1) } == .failed)
        #expect(try state(self.mark(.unavailable)) == .failed)
        #expect(state(mark) { ($0.failedFiles, $0.refusedFiles) = (1, 1) } == .tooLarge)
        for failure in [OfflineFailure.tooLarge, .tooManyFiles] {
            #expect(try state(self.mark(failure)) == .tooLarge)
        }
    }

    @Test("each state and each reason has a text of its own")
    func texts() {
        #expect(Set(OfflineState.allCases.map(\.text)).count == OfflineState.allCases.count)
        let failures: [OfflineFailure] = [
            .tooLarge, .tooManyFiles, .sizeUnknown, .sessionExpired, .forbidden, .unavailable, .damaged, .storageFull,
            .storage,
        ]
        #expect(Set(failures.map(\.text)).count == failures.count)
    }
}

@Suite("The order of work on offline files")
struct OfflineScheduleTests {
    private static func fetch(_ account: String, _ name: String) throws -> OfflineSchedule.Job {
        .fetch(OfflineKey(account: account, path: try #require(DiskPath("disk:/\(name)"))))
    }

    private static func check(_ account: String, _ name: String) throws -> OfflineSchedule.Job {
        .check(OfflineKey(account: account, path: try #require(DiskPath("disk:/\(name)"))))
    }

    @Test("DISK-39 no more jobs run than the limit, none twice, and accounts take turns")
    func turns() throws {
        var schedule = OfflineSchedule(limit: 3)
        let large = try (0..<5).map { try Self.fetch("a", "\($0)") }
        let other = try Self.fetch("b", "x")
        #expect(schedule.begin(large + [other]) { _ in false } == [large[0], other, large[1]])
        #expect(schedule.begin(large + [other]) { _ in false } == [])
        schedule.end(large[0])
        #expect(schedule.begin(large + [other]) { _ in false } == [large[0]])
        schedule.end(other)
        let next = try Self.fetch("b", "y")
        #expect(schedule.begin([large[2], next]) { _ in false } == [next], "it is the turn of the other account")
        #expect(schedule.running.count == 3)
    }

    @Test("DISK-39 an account whose API requested a pause waits, others do not; one comparison of an account at a time")
    func pauses() throws {
        var schedule = OfflineSchedule(limit: 4)
        let jobs = [
            try Self.check("a", "1"), try Self.check("a", "2"), try Self.fetch("a", "3"), try Self.fetch("b", "4"),
        ]
        #expect(schedule.begin(jobs) { $0 == "a" } == [jobs[3]])
        #expect(schedule.begin(jobs) { _ in false } == [jobs[0], jobs[2]])
        schedule.end(jobs[0])
        #expect(schedule.begin([jobs[1]]) { _ in false } == [jobs[1]])
        #expect(schedule.begin([jobs[0]]) { _ in true } == [])
    }

    @Test("a limit of 0 would never do anything")
    func smallestLimit() throws {
        var schedule = OfflineSchedule(limit: 0)
        let job = try Self.fetch("a", "1")
        #expect(schedule.begin([job]) { _ in false } == [job])
    }
}
