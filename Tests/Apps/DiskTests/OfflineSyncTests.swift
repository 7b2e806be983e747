import Concurrency
import Foundation
import GRDB
import HTTPTypes
import NIOCore
import Screens
import Storage
import Synchronization
import TestKit
import Testing
import Upstream

@testable import Disk

@Suite("Offline files are kept up to date in the background", .timeLimit(.minutes(2)))
struct OfflineSyncTests {
    private static let bytes = (0..<400_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

    private static func fetches(_ disk: FakeYandexDisk) -> [OutgoingRequest] {
        disk.requests.filter { $0.url.contains("downloader.test/disk") }
    }

    @Test("DISK-39 a connection that breaks off is continued with Range and If-Range")
    func resumption() async throws {
        let disk = FakeYandexDisk()
        disk.put("disk:/a.bin", bytes: Self.bytes)
        let breaks = Mutex(1)
        disk.change {
            $0.bodyParts = { _, bytes in
                let isBroken = breaks.withLock { left in
                    left -= 1
                    return left >= 0
                }
                return isBroken
                    ? BodyFixture.breaking(after: bytes.prefix(150_000)) : ByteStream(ByteBuffer(bytes: bytes))
            }
        }
        try await DiskHarness.run(disk, keeping: "/a.bin", until: "failed") { app, token in
            let failed = try await app.offlineRow("/a.bin", as: token)
            #expect(failed["reason"] == "upstream-unavailable" && failed["retryable"] == true)
            try await app.offline("/a.bin", is: "kept", as: token, advancing: .seconds(10))
            let requests = Self.fetches(disk)
            #expect(requests.count == 2)
            #expect(requests.first?.headerFields[.range] == nil)
            #expect(requests.last?.headerFields[.range] == "bytes=150000-399999")
            #expect(requests.last?.headerFields[.ifRange] == "\"\(FakeYandexDisk.md5(Self.bytes))\"")
            disk.goAway()
            #expect(try await app.get("/v1/disk/file/content?path=/a.bin", as: token).body == Data(Self.bytes))
        }
    }

    @Test("DISK-39 while it is fetched it says so with its bytes, and unmarking ends that without a trace")
    func cancellation() async throws {
        let (disk, gate) = (FakeYandexDisk(), Gate())
        disk.put("disk:/a.bin", bytes: Self.bytes)
        disk.change { $0.bodyParts = { _, bytes in BodyFixture.waiting(bytes, at: gate) } }
        try await DiskHarness.run(disk, keeping: "/a.bin") { app, token in
            await gate.arrivals()
            let row = try await app.offlineRow("/a.bin", as: token)
            #expect(row["state"] == "fetching" && row["bytes_done"] == 200_000 && row["progress"] == 0.5)
            #expect(try await app.ask(.delete, "/v1/disk/offline?path=/a.bin", as: token).status == 200)
            await BoundedWait.poll(for: "the end of the job") { app.app.offline.received(of: "1130").isEmpty }
            let files = try FileManager.default.contentsOfDirectory(atPath: app.database.directory.path + "/blobs")
            #expect(files.filter { $0.hasSuffix(".part") } == [])
            #expect(try app.database.integer("SELECT count(*) FROM blob") == 0)
        }
    }

    @Test("DISK-39 a file with another checksum is not kept, and fetched again later")
    func checksum() async throws {
        let disk = FakeYandexDisk()
        disk.put("disk:/a.bin", bytes: Self.bytes)
        disk.change { $0.bodyParts = { _, bytes in ByteStream(ByteBuffer(bytes: bytes.map { $0 ^ 1 })) } }
        try await DiskHarness.run(disk, keeping: "/a.bin", until: "failed") { app, token in
            #expect(try await app.offlineRow("/a.bin", as: token)["reason"] == "damaged")
            disk.change { $0.bodyParts = nil }
            try await app.offline("/a.bin", is: "kept", as: token, advancing: .seconds(10))
            #expect(Self.fetches(disk).map { $0.headerFields[.range] } == [nil, nil], "from the beginning")
        }
    }

    @Test("DISK-39 a folder that is unpublished while it is compared with the API is not shown as published again")
    func unpublished() async throws {
        let (disk, gate) = (FakeYandexDisk(), Gate())
        disk.makeFolder("disk:/docs")
        disk.makeFolder("disk:/docs/inner")
        disk.onTheWay { if $0.url.contains("limit=1000") { await gate.pass() } }
        try await DiskHarness.run(disk) { app, token in
            let paths = ["/docs", "/docs/inner"]
            for path in paths {
                let link = try await app.ask(.post, "/v1/disk/links", as: token, json: #"{"path":"\#(path)"}"#)
                #expect(link.status == 201, "\(link.text)")
            }
            try await app.keep("/docs", as: token)
            await gate.arrivals()
            for path in paths {
                #expect(try await app.ask(.delete, "/v1/disk/published?path=\(path)", as: token).status == 200)
            }
            // Lists that are fresh, so that they are not requested again.
            let lists = ["/v1/disk/files", "/v1/disk/files?path=/docs"]
            for list in lists { #expect(try await app.get(list, as: token)["data.items.0.published"] == false) }
            gate.open()
            try await app.offline("/docs", is: "kept", as: token)
            for list in lists {
                let files = try await app.get(list, as: token)
                #expect(files["data.items.0.published"] == false && files["data.items.0.public_url"] == .null)
            }
        }
    }

    @Test("DISK-39 a change is fetched after the time of a comparison, and at once if a list has shown it")
    func changes() async throws {
        let disk = FakeYandexDisk()
        disk.makeFolder("disk:/docs")
        disk.put("disk:/docs/a.txt", "one")
        try await DiskHarness.run(disk, keeping: "/docs", until: "kept") { app, token in
            disk.put("disk:/docs/a.txt", "two")
            disk.put("disk:/docs/new.txt", "new")
            try await BoundedWait.poll(for: "the new file") {
                app.clock.advance(by: .seconds(900))
                return try await app.offlineRow("/docs", as: token)["files_kept"] == 2
            }
            disk.put("disk:/docs/a.txt", "three")
            disk.change { $0.nodes["disk:/docs/new.txt"] = nil }
            _ = try await app.get("/v1/disk/files?path=/docs&refresh=1", as: token)
            let wanted = FakeYandexDisk.md5(Array("three".utf8))
            try await BoundedWait.poll(for: "the changed file") {
                let path = try #require(DiskPath("disk:/docs/a.txt"))
                return try app.store.keptContent(of: path, account: "1130")?.version == wanted
            }
            try await BoundedWait.poll(for: "the removal") {
                app.clock.advance(by: .seconds(900))
                return try await app.offlineRow("/docs", as: token)["files"] == 1
            }
            disk.goAway()
            #expect(try await app.get("/v1/disk/file/content?path=/docs/a.txt", as: token).text == "three")
            #expect(DiskHarness.names(try await app.get("/v1/disk/files?path=/docs", as: token)) == ["a.txt"])
        }
    }

    @Test("DISK-39 offline an older version is served, with its own entity tag, if the present one is not here yet")
    func outdated() async throws {
        let disk = FakeYandexDisk()
        disk.put("disk:/a.txt", "one")
        try await DiskHarness.run(disk, keeping: "/a.txt", until: "kept") { app, token in
            disk.put("disk:/a.txt", "another")
            disk.intercept { (request) in
                request.url.contains("downloader.test") ? IncomingResponse(status: .init(code: 500)) : nil
            }
            _ = try await app.get("/v1/disk/files?refresh=1", as: token)
            try await app.offline("/a.txt", is: "failed", as: token)
            #expect(try await app.get("/v1/disk/file?path=/a.txt", as: token)["data.downloaded"] == false)
            disk.goAway()
            let old = try await app.get("/v1/disk/file/content?path=/a.txt&refresh=1", as: token)
            #expect(old.status == 200 && old.text == "one" && old.cacheStatus == "larder; hit; detail=offline")
            #expect(old.headerFields[.eTag] == "\"\(FakeYandexDisk.md5(Array("one".utf8)))\"")
        }
    }

    @Test("DISK-39 a rename moves mark and content, a move out of a kept folder and a deletion end it")
    func ownWrites() async throws {
        let disk = FakeYandexDisk()
        disk.makeFolder("disk:/docs")
        for name in ["a", "b", "c"] { disk.put("disk:/docs/\(name).txt", "text of \(name)") }
        try await DiskHarness.run(disk) { app, token in
            for path in ["/docs", "/docs/a.txt"] { try await app.keep(path, as: token) }
            try await app.offline("/docs", is: "kept", as: token)
            let before = Self.fetches(disk).count
            let rename = try await app.ask(.patch, "/v1/disk/file?path=/docs", as: token, json: #"{"name":"papers"}"#)
            #expect(rename.status == 200)
            try await app.offline("/papers", is: "kept", as: token)
            try await app.offline("/papers/a.txt", is: "kept", as: token)
            let move = try await app.ask(
                .post,
                "/v1/disk/files/move",
                as: token,
                json: #"{"from":"/papers/b.txt","to":"/b.txt"}"#
            )
            #expect(move.status == 201)
            #expect(try await app.ask(.delete, "/v1/disk/file?path=/papers/a.txt", as: token).status == 200)
            try await app.offline("/papers", is: "kept", as: token)
            #expect(try await app.offlineRow("/papers", as: token)["files"] == 1)
            #expect(try await app.offlineRow("/papers/a.txt", as: token) == [:])
            #expect(Self.fetches(disk).count == before, "nothing is fetched again")
            disk.goAway()
            #expect(try await app.get("/v1/disk/file/content?path=/papers/c.txt", as: token).text == "text of c")
            #expect(try await app.get("/v1/disk/file/content?path=/b.txt", as: token).status == 503)
        }
    }

    @Test("DISK-39 what does not fit into the budget says so and is not begun; once there is room it is fetched")
    func budget() async throws {
        let disk = FakeYandexDisk()
        disk.makeFolder("disk:/docs")
        for name in ["a", "b"] { disk.put("disk:/docs/\(name).bin", bytes: Array(repeating: 1, count: 600)) }
        disk.put("disk:/small.bin", bytes: Array(repeating: 2, count: 500))
        var settings = DiskHarness.Settings()
        settings.values[DiskApp.offlineBudget] = 1300
        try await DiskHarness.run(disk, settings, keeping: "/small.bin", until: "kept") { app, token in
            try await app.keep("/docs", as: token)
            try await app.offline("/docs", is: "too_large", as: token)
            let row = try await app.offlineRow("/docs", as: token)
            #expect(row["reason"] == "too-large" && row["retryable"] == false && row["files_kept"] == 0)
            #expect(Self.fetches(disk).count == 1)
            let screen = try await app.get("/v1/disk/offline", as: token)
            #expect(screen["data.bytes"] == 500 && screen["data.budget"] == 1300)
            _ = try await app.ask(.delete, "/v1/disk/offline?path=/small.bin", as: token)
            try await app.offline("/docs", is: "kept", as: token)
            #expect(try await app.get("/v1/disk/offline", as: token)["data.bytes"] == 1200)
        }
    }

    @Test("DISK-39 more files than allowed are too many, and none of them is fetched")
    func tooManyFiles() async throws {
        let disk = FakeYandexDisk()
        disk.makeFolder("disk:/docs")
        for number in 0..<6 { disk.put("disk:/docs/\(number).txt") }
        var settings = DiskHarness.Settings()
        settings.values[DiskApp.offlineFiles] = 5
        try await DiskHarness.run(disk, settings, keeping: "/docs", until: "too_large") { app, token in
            let row = try await app.offlineRow("/docs", as: token)
            #expect(row["reason"] == "too-many-files")
            #expect(Self.fetches(disk).isEmpty)
        }
    }

    @Test("DISK-39 a mark can be set while the API is down; nothing is requested until it recovers, then it is fetched")
    func recovery() async throws {
        try await DiskHarness.run(FakeYandexDisk("disk:/a.txt")) { app, disk, token in
            _ = try await app.get("/v1/disk/files", as: token)
            disk.goAway()
            _ = try await app.get("/v1/disk/files?refresh=1", as: token)
            #expect(try await app.keep("/a.txt", as: token).status == 201)
            let row = try await app.offlineRow("/a.txt", as: token)
            #expect(row["state"] == "waiting")
            #expect(Self.fetches(disk).isEmpty)
            await app.recover { disk.intercept(nil) }
            try await app.offline("/a.txt", is: "kept", as: token)
        }
    }

    @Test("DISK-39 a content that is in the cache is not requested again")
    func cachedContent() async throws {
        let disk = FakeYandexDisk()
        disk.put("disk:/a.bin", bytes: Self.bytes)
        try await DiskHarness.run(disk) { app, token in
            _ = try await app.get("/v1/disk/file/content?path=/a.bin", as: token)
            try await app.keep("/a.bin", as: token)
            try await app.offline("/a.bin", is: "kept", as: token)
            #expect(Self.fetches(disk).count == 1)
            #expect(try app.database.integer("SELECT count(*) FROM blob") == 1)
        }
    }

    @Test("DISK-39 a content whose file is lost is fetched again")
    func lostFile() async throws {
        let disk = FakeYandexDisk()
        disk.put("disk:/a.bin", bytes: Self.bytes)
        try await DiskHarness.run(disk, keeping: "/a.bin", until: "kept") { app, token in
            let path = try #require(DiskPath("disk:/a.bin"))
            let kept = try #require(try app.store.keptContent(of: path, account: "1130"))
            try FileManager.default.removeItem(atPath: app.database.blobs.filePath(of: kept.blob))
            #expect(try await app.get("/v1/disk/file/content?path=/a.bin", as: token).body == Data(Self.bytes))
            try await app.offline("/a.bin", is: "kept", as: token)
            try await BoundedWait.poll(for: "another blob") {
                try app.store.keptContent(of: path, account: "1130").map { $0.blob.id != kept.blob.id } ?? false
            }
        }
    }

    @Test("DISK-39 TRUST-02 a full disk fails the item, leaves nothing half done, and it is fetched once there is room")
    func fullDisk() async throws {
        let directory = try DataDirectory.temporary()
        let faults = try FaultScope(directory.path)
        let (disk, gate) = (FakeYandexDisk(), Gate())
        disk.put("disk:/a.bin", bytes: Self.bytes)
        disk.change { $0.bodyParts = { _, bytes in BodyFixture.waiting(bytes, at: gate) } }
        var settings = DiskHarness.Settings()
        settings.directory = directory
        try await DiskHarness.run(disk, settings, keeping: "/a.bin") { app, token in
            await gate.arrivals()
            _ = await faults.failing(.noRoomOnce, at: 1) {
                gate.open()
                try? await app.offline("/a.bin", is: "failed", as: token)
            }
            #expect(try await app.offlineRow("/a.bin", as: token)["reason"] == "storage-full")
            let files = try FileManager.default.contentsOfDirectory(atPath: directory.path + "/blobs")
            #expect(files.filter { $0.hasSuffix(".part") } == [])
            try await app.offline("/a.bin", is: "kept", as: token, advancing: .seconds(10))
        }
    }

    @Test("DISK-39 a token that is refused fails the item, and a login lets it go on")
    func refusedToken() async throws {
        try await DiskHarness.run(FakeYandexDisk("disk:/a.txt")) { app, disk, token in
            _ = try await app.get("/v1/disk/file?path=/a.txt", as: token)
            disk.change { $0.tokens = ["later": "1130"] }
            try await app.keep("/a.txt", as: token)
            let path = try #require(DiskPath("disk:/a.txt"))
            try await BoundedWait.poll(for: "the refusal") {
                try app.store.mark(path, account: "1130")?.failure == .sessionExpired
            }
            try await app.get("/v1/disk/offline", as: token).expectProblem("upstream-session-expired", 401)
            let later = try await app.logIn("later")
            try await app.offline("/a.txt", is: "kept", as: later)
        }
    }

    @Test(
        "DISK-39 a fetch of a file that has changed or is gone has not failed",
        arguments: [
            ("changed", .changed), ("gone", .changed), ("never seen", .changed), ("as it was", .failed(.unavailable)),
        ] as [(String, OfflineFile.Outcome)]
    )
    func changedMeanwhile(what: String, expected: OfflineFile.Outcome) async throws {
        try await DiskHarness.run(FakeYandexDisk(["disk:/a.txt": "one"])) { app, disk, token in
            _ = try await app.get("/v1/disk/files", as: token)
            switch what {
            case "changed": disk.put("disk:/a.txt", "another")
            case "gone": disk.change { $0.nodes["disk:/a.txt"] = nil }
            default: break
            }
            disk.intercept { $0.url.contains("downloader.test") ? .json("", status: .internalServerError) : nil }
            let file = OfflineFile(
                account: "1130",
                path: .at(what == "never seen" ? "/b.txt" : "/a.txt"),
                version: FakeYandexDisk.md5(Array("one".utf8)),
                size: 3
            )
            var partial: PartialContent?
            #expect(await OfflineFetcher(disk: app.app.disk).fetch(file, &partial) { _ in } == expected)
        }
    }

    @Test("DISK-39 events of progress are at most one in a second, and the last one comes")
    func events() async throws {
        let (disk, gate) = (FakeYandexDisk(), Gate())
        disk.put("disk:/a.bin", bytes: Self.bytes)
        disk.change { $0.bodyParts = { _, bytes in BodyFixture.waiting(bytes, at: gate) } }
        try await DiskHarness.run(disk, keeping: "/a.bin") { app, token in
            await gate.arrivals()
            func count() -> Int { app.events.published.count { $0.json.contains(#""disk.offline""#) } }
            #expect(count() == 1, "while the clock stands still")
            gate.open()
            try await app.offline("/a.bin", is: "kept", as: token)
            #expect(count() == 1)
            await app.clock.sleepers(of: .seconds(1))
            app.clock.advance(by: .seconds(1))
            await BoundedWait.poll(for: "the last event") { count() == 2 }
        }
    }
}
