import Foundation
import HTTPTypes
import TestKit
import Testing
import Upstream

@testable import Disk

@Suite("Files that other clients rename or move", .timeLimit(.minutes(2)))
struct MovedItemsTests {
    /// The requests that fetch contents.
    private static func fetches(_ disk: FakeYandexDisk) -> Int {
        disk.asked.count { $0.contains("downloader.test/disk") }
    }

    @Test(
        "DISK-49 a file that is kept offline stays so when others rename or move it, and is not fetched again",
        arguments: [("disk:/b.txt", "comparison"), ("disk:/folder/a.txt", "comparison"), ("disk:/b.txt", "screen")]
    )
    func kept(to path: String, noticedBy what: String) async throws {
        let disk = WriteScenario.disk()
        try await DiskHarness.run(disk, keeping: "/a.txt", until: "kept") { app, token in
            let before = Self.fetches(disk)
            disk.move("disk:/a.txt", to: path)
            if path.contains("folder") { _ = try await app.get("/v1/disk/files?path=/folder&refresh=1", as: token) }
            let name = String(path.dropFirst("disk:".count))
            if what == "screen" {
                let gone = try await app.get("/v1/disk/file?path=/a.txt&refresh=1", as: token)
                gone.expectProblem("not-found", 404)
                try await app.offline(name, is: "kept", as: token)
            } else {
                try await app.offline(name, is: "kept", as: token, advancing: .seconds(300))
            }
            #expect(try await app.offlineRow("/a.txt", as: token).isEmpty)
            disk.goAway()
            _ = try await app.get("/v1/disk/files?refresh=1", as: token)
            #expect(try await app.get("/v1/disk/file/content?path=\(name)", as: token).text == "text of a")
            #expect(Self.fetches(disk) == before)
        }
    }

    @Test("DISK-49 two readers that miss a file at once do not end its mark")
    func twoReaders() async throws {
        let (disk, gate) = (WriteScenario.disk(), Gate())
        try await DiskHarness.run(disk, keeping: "/a.txt", until: "kept") { app, token in
            disk.move("disk:/a.txt", to: "disk:/b.txt")
            disk.onTheWay { if $0.url.contains("limit=1000") { await gate.pass() } }
            let path = "/v1/disk/file?path=/a.txt&refresh=1"
            async let one = app.get(path, as: token)
            async let other = app.get(path, as: token)
            await gate.arrivals(2)
            gate.open()
            for response in try await [one, other] { response.expectProblem("not-found", 404) }
            try await app.offline("/b.txt", is: "kept", as: token)
        }
    }

    @Test("DISK-49 a file of a folder that is kept offline is not fetched again under its new name")
    func keptFolder() async throws {
        let disk = WriteScenario.disk()
        try await DiskHarness.run(disk, keeping: "/folder", until: "kept") { app, token in
            let before = Self.fetches(disk)
            disk.move("disk:/folder/a inner.txt", to: "disk:/folder/b.txt")
            let path = try #require(DiskPath("disk:/folder/b.txt"))
            try await BoundedWait.poll(for: "the new name") {
                app.clock.advance(by: .seconds(300))
                return try app.store.keptContent(of: path, account: "1130") != nil
            }
            #expect(DiskHarness.names(try await app.get("/v1/disk/files?path=/folder", as: token)) == ["b.txt"])
            #expect(Self.fetches(disk) == before)
        }
    }

    @Test("DISK-49 a mark stays while it is not known whether its file was deleted or moved, and ends with a deletion")
    func unknown() async throws {
        let disk = WriteScenario.disk()
        try await DiskHarness.run(disk, keeping: "/a.txt", until: "kept") { app, token in
            disk.change { $0.nodes["disk:/a.txt"] = nil }
            disk.intercept { request in
                request.url.contains("limit=1000") ? IncomingResponse(status: .serviceUnavailable) : nil
            }
            _ = try await app.get("/v1/disk/file?path=/a.txt&refresh=1", as: token)
            #expect(try await !app.offlineRow("/a.txt", as: token).isEmpty)
            disk.intercept(nil)
            try await BoundedWait.poll(for: "the end of the mark") {
                app.clock.advance(by: .seconds(300))
                return try await app.offlineRow("/a.txt", as: token).isEmpty
            }
        }
    }

    @Test(
        "DISK-49 a write that waits for a file that others have moved is a conflict there, where it can be made",
        arguments: ["delete", "rename", "publish"]
    )
    func conflict(what: String) async throws {
        let disk = WriteScenario.disk()
        disk.put("disk:/folder/x.txt", "text of x")
        try await DiskHarness.run(disk) { app in
            let token = try await WriteScenario.away(app)
            let rename = #"{"name":"z.txt"}"#
            let left =
                switch what {
                case "delete": try await app.leave(.delete, "/v1/disk/file?path=/folder/x.txt", as: token)
                case "rename":
                    try await app.leave(.patch, "/v1/disk/file?path=/folder/x.txt", as: token, json: rename)
                default: try await app.leave(.post, "/v1/disk/links", as: token, json: #"{"path":"/folder/x.txt"}"#)
                }
            disk.move("disk:/folder/x.txt", to: "disk:/folder/y.txt")
            disk.intercept(nil)
            let href = try left.string("data.href")
            let conflict = try await app.outbox(href, is: "conflict", as: token)
            #expect(conflict["data.problem"] == "moved", "\(conflict.text)")
            #expect(conflict["data.conflict.path"] == "disk:/folder/y.txt")
            #expect(conflict["data.conflict.theirs.size"] == 9 && conflict["data.conflict.base.size"] == 9)
            #expect(disk.change { $0.nodes["disk:/folder/y.txt"]?.publicURL == nil })
            #expect(try await app.ask(.post, "\(href)/resolve", as: token, json: #"{"how":"overwrite"}"#).status == 200)
            await app.drained()
            let nodes = disk.change { state in
                ["y", "z"].map { state.nodes["disk:/folder/\($0).txt"].map { $0.publicURL != nil } }
            }
            #expect(nodes == (what == "delete" ? [nil, nil] : what == "rename" ? [nil, false] : [true, nil]))
        }
    }

    @Test("DISK-49 a rename that others have made is done")
    func anticipated() async throws {
        let disk = WriteScenario.disk()
        try await DiskHarness.run(disk) { app in
            let token = try await WriteScenario.away(app)
            let left = try await app.leave(.patch, "/v1/disk/file?path=/a.txt", as: token, json: #"{"name":"b.txt"}"#)
            disk.move("disk:/a.txt", to: "disk:/b.txt")
            disk.intercept(nil)
            try await app.outbox(try left.string("data.href"), is: "done", as: token)
            #expect(DiskHarness.names(try await app.get("/v1/disk/files", as: token)).contains("b.txt"))
        }
    }
}
