import Foundation
import GRDB
import HTTP
import HTTPTypes
import Storage
import TestKit
import Testing
import Upstream

@testable import Disk

@Suite("A full disk", .timeLimit(.minutes(10)))
struct FullDiskTests {
    /// Runs a test against an app whose files can be made to fail.
    private static func run(_ disk: FakeYandexDisk, _ test: @Sendable (DiskHarness, FaultScope) async throws -> Void)
        async throws
    {
        let directory = try DataDirectory.temporary()
        let faults = try FaultScope(directory.path)
        var settings = DiskHarness.Settings()
        settings.directory = directory
        try await DiskHarness.run(disk, settings) { try await test($0, faults) }
    }

    @Test("TRUST-02 a picture that was fetched is shown, although there is no space to store it")
    func preview() async throws {
        let disk = FakeYandexDisk()
        disk.put("disk:/a.jpg", mediaType: "image")
        try await Self.run(disk) { app, faults in
            let token = try await app.logIn()
            _ = try await app.get("/v1/disk/files", as: token)
            let target = "/v1/disk/file/preview?path=/a.jpg"
            let (shown, hasFailed) = await faults.failing(.fullDisk, at: 1) { try? await app.get(target, as: token) }
            let picture = FakeYandexDisk.preview("120x120", crop: true)
            #expect(hasFailed && shown?.status == 200 && shown.map { Array($0.body) } == picture)
            #expect(shown?.cacheStatus == "larder; fwd=uri-miss")
            #expect(try await app.get(target, as: token).cacheStatus == "larder; fwd=uri-miss; stored")
        }
    }

    @Test("TRUST-02 a token that the API refuses is recorded, so that nothing stored is shown from then on")
    func refused() async throws {
        let disk = FakeYandexDisk()
        disk.put("disk:/a.txt")
        try await Self.run(disk) { app, faults in
            let token = try await app.logIn()
            #expect(try await app.get("/v1/disk/recent", as: token).status == 200)
            disk.respond(401)
            let (refused, hasFailed) = await faults.failing(.noRoomOnce, at: 1) {
                try? await app.get("/v1/disk/recent?refresh=1", as: token)
            }
            #expect(hasFailed && refused?.status == 401 && refused?["code"] == "upstream-session-expired")
            disk.respond(503)
            try await app.get("/v1/disk/recent", as: token).expectProblem("upstream-session-expired", 401)
        }
    }

    @Test("TRUST-02 a list that cannot be stored is shown as it was, and the API is not blamed")
    func list() async throws {
        let disk = FakeYandexDisk()
        disk.put("disk:/a.txt")
        try await Self.run(disk) { app, faults in
            let token = try await app.logIn()
            _ = try await app.get("/v1/disk/files", as: token)
            disk.put("disk:/b.txt")
            let (shown, hasFailed) = await faults.failing(.fullDisk, at: 1) {
                try? await app.get("/v1/disk/files?refresh=1", as: token)
            }
            #expect(hasFailed && shown.map(DiskHarness.names) == ["a.txt"])
            #expect(shown?.cacheStatus == "larder; fwd=request; detail=storage-full")
            #expect(shown?["meta.stale"] == true && shown?["meta.offline"] == false)
            let later = try await app.get("/v1/disk/files?refresh=1", as: token)
            #expect(Set(DiskHarness.names(later)) == ["a.txt", "b.txt"])
        }
    }

    @Test(
        "OUT-07 a write of the outbox that was carried out, and whose end could not be stored, is not repeated",
        arguments: [EachWrite.upload, .overwrite, .folder, .rename, .move, .delete, .publish, .unpublish],
        [FaultScope.Fault.fullDisk, .brokenOnce]
    )
    func outbox(write: EachWrite, fault: FaultScope.Fault) async throws {
        let disk = EachWrite.disk()
        try await Self.run(disk) { app, faults in
            let token = try await app.logIn()
            for screen in ["files", "files?path=/folder", "published"] {
                _ = try await app.get("/v1/disk/\(screen)", as: token)
            }
            disk.goAway()
            _ = try await app.get("/v1/disk/files?refresh=1", as: token)
            let left = try await write.ask(app, token, [.prefer: "respond-async"])
            #expect(left.status == 202, "\(left.text)")
            let (id, href) = (try left.string("data.id"), try left.string("data.href"))
            let gate = Gate()
            disk.onTheWay { if EachWrite.isWrite($0) { await gate.pass() } }
            disk.intercept(nil)
            _ = try await app.get("/v1/disk/files?refresh=1", as: token)
            await gate.arrivals()
            let (_, hasFailed) = await faults.failing(fault, at: 1) {
                gate.open()
                await BoundedWait.poll(for: "the end that cannot be stored") {
                    let isWritten = !app.log.lines.contains { $0.contains("the outbox could not be written") }
                    return !isWritten || app.store.outbox.entry(id, of: "1130")?.progress.state != .running
                }
            }
            #expect(hasFailed && write.isDone(on: disk))
            #expect(disk.requests.count { EachWrite.isWrite($0) } == 1)
            try await app.outbox(href, is: "done", as: token)
            #expect(try await app.get(href, as: token)["data.problem"] != "discarded")
            #expect(disk.requests.count { EachWrite.isWrite($0) } == 1, "\(disk.asked)")
        }
    }

    @Test(
        "TRUST-05 a write that was carried out is a success, also if that cannot be stored; the next read asks the API",
        arguments: EachWrite.allCases,
        [FaultScope.Fault.fullDisk, .brokenDisk]
    )
    func direct(write: EachWrite, fault: FaultScope.Fault) async throws {
        let disk = EachWrite.disk()
        try await Self.run(disk) { app, faults in
            let token = try await app.logIn()
            let screens = ["files", "files?path=/folder", "trash", "published"]
            for screen in screens { _ = try await app.get("/v1/disk/\(screen)", as: token) }
            let gate = Gate()
            disk.onTheWay { if EachWrite.isWrite($0) { await gate.pass() } }
            let answer = Task { try? await write.ask(app, token) }
            await gate.arrivals()
            let (response, hasFailed) = await faults.failing(fault, at: 1) {
                gate.open()
                return await answer.value
            }
            #expect(hasFailed && write.isDone(on: disk))
            #expect(response?.status == write.successStatus, "\(response?.text ?? "")")
            #expect(disk.requests.count { EachWrite.isWrite($0) } == 1)
            // The clock is not advanced: stored responses would be fresh.
            for screen in screens {
                let shown = try await app.get("/v1/disk/\(screen)", as: token)
                let folder = screen == "files" ? "disk:/" : screen.contains("folder") ? "disk:/folder/" : nil
                guard let folder else { continue }
                let there = disk.change { state in
                    state.nodes.keys.filter { $0.hasPrefix(folder) && $0 != folder }.map { $0.dropFirst(folder.count) }
                        .filter { !$0.contains("/") }.map(String.init)
                }
                #expect(DiskHarness.names(shown).sorted() == there.sorted(), "\(screen)")
            }
        }
    }

    @Test("TRUST-05 an operation that goes on at the API, and that cannot be stored, is `outcome-unknown`")
    func operation() async throws {
        let disk = EachWrite.disk()
        disk.change { $0.pollsOfWrites = 100 }
        try await Self.run(disk) { app, faults in
            let token = try await app.logIn()
            _ = try await app.get("/v1/disk/files", as: token)
            let gate = Gate()
            disk.onTheWay { if EachWrite.isWrite($0) { await gate.pass() } }
            let answer = Task { try? await EachWrite.move.ask(app, token) }
            await gate.arrivals()
            let (response, hasFailed) = await faults.failing(.fullDisk, at: 1) {
                gate.open()
                return await answer.value
            }
            #expect(hasFailed)
            try #require(response).expectProblem("outcome-unknown", 502)
        }
    }
}
