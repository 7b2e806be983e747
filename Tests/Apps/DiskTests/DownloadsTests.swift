import Concurrency
import Foundation
import GRDB
import HTTPTypes
import NIOCore
import Screens
import Storage
import TestKit
import Testing
import Upstream

@testable import Disk

@Suite("Downloads over HTTP")
struct DownloadsTests {
    private static let bytes = (0..<400_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

    private func start(
        _ app: DiskHarness,
        _ token: String,
        _ path: String = "/a.bin"
    ) async throws -> (Exchanged, String) {
        let response = try await app.ask(.post, "/v1/disk/downloads", as: token, json: #"{"path":"\#(path)"}"#)
        guard case .string(let id) = response["data.id"] else { return (response, "") }
        return (response, id)
    }

    /// A simulated Disk with one file whose body waits in the middle.
    private func held(_ gate: Gate) -> FakeYandexDisk {
        let disk = FakeYandexDisk()
        disk.put("disk:/a.bin", bytes: Self.bytes)
        disk.change {
            $0.bodyParts = { url, bytes in
                url.contains("downloader.test/disk/")
                    ? BodyFixture.waiting(bytes, at: gate) : ByteStream(ByteBuffer(bytes: bytes))
            }
        }
        return disk
    }

    /// Runs a test while a download waits in the middle of its file.
    private func whileHeld(
        _ test:
            @Sendable (
                _ app: DiskHarness, _ disk: FakeYandexDisk, _ gate: Gate, _ token: String, _ id: String
            ) async throws -> Void
    ) async throws {
        let gate = Gate()
        try await DiskHarness.run(held(gate)) { app, disk, token in
            let (_, id) = try await start(app, token)
            await gate.arrivals()
            try await test(app, disk, gate, token, id)
        }
    }

    @Test("DISK-23 202 with Location, then progress that grows, then done with the content; two requests are one job")
    func progress() async throws {
        let gate = Gate()
        try await DiskHarness.run(held(gate)) { app, disk, token in
            let (first, id) = try await start(app, token)
            first.expectScreen("disk.file", status: 202)
            #expect(first.headerFields[.location] == "/v1/disk/downloads/\(id)")
            #expect(first["meta.state"] == "loading")
            await gate.arrivals()
            let (second, other) = try await start(app, token)
            #expect(second.status == 202 && other == id)
            let running = try await app.get("/v1/disk/downloads/\(id)", as: token)
            #expect(running.status == 202 && running["meta.state"] == "loading")
            #expect(running["data.status"] == "running")
            #expect(
                running["data.progress"] == 0.5 && running["data.bytes_done"] == 200_000
                    && running["data.bytes_total"] == 400_000
            )
            #expect(running["data.content_url"] == .null)
            gate.open()
            await app.events.published("job", containing: #""status":"done""#)
            let done = try await app.get("/v1/disk/downloads/\(id)", as: token)
            #expect(
                done.status == 200 && done["meta.state"] == "content" && done["data.status"] == "done"
                    && done["data.progress"] == 1
            )
            let content = try done.string("data.content_url")
            disk.goAway()
            #expect(try await app.get(content, as: token).body == Data(Self.bytes))
            let events = app.events.published.filter { $0.kind == "job" }
            #expect(events.allSatisfy { $0.audience == .account(app: "disk", account: "1130") })
            #expect(events.first?.json.contains(#""status":"queued","percent":0"#) == true)
            #expect(events.contains { $0.json.contains(#""status":"running","percent":50"#) })
            #expect(events.last?.json.contains(#""status":"done","percent":100"#) == true)
            #expect(disk.asked.count { $0.contains("downloader.test/disk") } == 1)
            let (again, same) = try await start(app, token)
            #expect(again.status == 202 && again["data.status"] == "done" && same == id)
            try await app.database.write { db in
                try db.execute(sql: "DELETE FROM stored_response WHERE url LIKE '%?content'")
            }
            disk.intercept(nil)
            let (anew, new) = try await start(app, token)
            #expect(anew["data.status"] != "done" && new != id, "its bytes were evicted")
        }
    }

    @Test("DISK-23 a failure is failed, with its reason; the next request is a new job")
    func failure() async throws {
        let disk = FakeYandexDisk()
        disk.put("disk:/a.bin", bytes: Self.bytes)
        try await DiskHarness.run(disk) { app, token in
            disk.intercept { (request) in
                request.url.contains("downloader.test") ? IncomingResponse(status: .init(code: 500)) : nil
            }
            let (_, id) = try await start(app, token)
            await app.events.published("job", containing: #""status":"failed""#)
            let failed = try await app.get("/v1/disk/downloads/\(id)", as: token)
            #expect(
                failed.status == 200 && failed["data.status"] == "failed"
                    && failed["data.failure"] == "upstream-unavailable"
                    && failed["data.content_url"] == .null
            )
            disk.intercept(nil)
            let (_, next) = try await start(app, token)
            #expect(next != id)
            await app.events.published("job", containing: #""id":"\#(next)","status":"done""#)
        }
    }

    /// Makes the first bodies break after a third of the requested bytes.
    private static func breaking(_ disk: FakeYandexDisk, times: Int) {
        let breaks = Counter(times)
        disk.put("disk:/a.bin", bytes: bytes)
        disk.change {
            $0.bodyParts = { url, bytes in
                guard url.contains("downloader.test/disk/"), breaks.take() else {
                    return ByteStream(ByteBuffer(bytes: bytes))
                }
                return ByteStream {
                    var isFirst = true
                    return {
                        guard isFirst else { throw BodyFixture.Broken() }
                        isFirst = false
                        return ByteBuffer(bytes: bytes.prefix(bytes.count / 3))
                    }
                }
            }
        }
    }

    @Test("DISK-43 a connection that breaks is followed by one that goes on where it stopped")
    func resumedByRange() async throws {
        let disk = FakeYandexDisk()
        Self.breaking(disk, times: 3)
        try await DiskHarness.run(disk) { app, token in
            let (_, id) = try await start(app, token)
            await app.events.published("job", containing: #""status":"done""#)
            let ranges = disk.requests.filter { $0.url.contains("downloader.test/disk") }.map {
                $0.headerFields[.range]
            }
            #expect(ranges == [nil, "bytes=133333-399999", "bytes=222222-399999", "bytes=281481-399999"])
            let done = try await app.get("/v1/disk/downloads/\(id)", as: token)
            #expect(done["data.bytes_done"] == 400_000 && done["data.actions"] == [])
            disk.goAway()
            #expect(try await app.get("/v1/disk/file/content?path=/a.bin", as: token).body == Data(Self.bytes))
        }
    }

    @Test("DISK-43 a connection that breaks at last says so, and the download can be tried again")
    func brokeAtLast() async throws {
        let disk = FakeYandexDisk()
        disk.put("disk:/a.bin", bytes: Self.bytes)
        disk.change {
            $0.bodyParts = { url, bytes in
                guard url.contains("downloader.test/disk/") else { return ByteStream(ByteBuffer(bytes: bytes)) }
                return ByteStream { { throw BodyFixture.Broken() } }
            }
        }
        try await DiskHarness.run(disk) { app, token in
            let (_, id) = try await start(app, token)
            try await BoundedWait.poll(for: "the download to end") {
                app.clock.advance(by: .seconds(15))
                return try await app.get("/v1/disk/downloads/\(id)", as: token)["data.status"] == "failed"
            }
            let failed = try await app.get("/v1/disk/downloads/\(id)", as: token)
            #expect(failed["data.failure"] == "connection-broke")
            #expect(failed["data.failure_text"] == "The connection broke")
            #expect(failed["data.actions.0.href"] == "/v1/disk/downloads")
            #expect(disk.requests.count { $0.url.contains("downloader.test/disk") } == 7)
        }
    }

    @Test("a token that is revoked in the middle of a download: the job fails and says why, and nothing is kept")
    func revoked() async throws {
        let gate = Gate()
        let disk = FakeYandexDisk()
        disk.put("disk:/a.bin", bytes: Self.bytes)
        disk.change { state in
            state.bodyParts = { url, bytes in
                guard url.contains("downloader.test/disk/") else { return ByteStream(ByteBuffer(bytes: bytes)) }
                return ByteStream {
                    var step = 0
                    return {
                        step += 1
                        guard step > 1 else { return ByteBuffer(bytes: bytes.prefix(100_000)) }
                        try await gate.passUnlessCancelled()
                        throw BodyFixture.Broken()
                    }
                }
            }
        }
        try await DiskHarness.run(disk) { app, token in
            let (_, id) = try await start(app, token)
            await gate.arrivals()
            disk.change { $0.tokens = [:] }
            gate.open()
            await app.events.published("job", containing: #""status":"failed""#)
            let row = try #require(try app.store.download(id, account: "1130"))
            #expect(row.status == .failed && row.failure == .sessionExpired)
            #expect(
                try await app.get("/v1/disk/downloads/\(id)", as: token)["data.failure"] == "upstream-session-expired"
            )
            try await app.get("/v1/disk/file/content?path=/a.bin", as: token).expectProblem(
                "upstream-session-expired",
                401
            )
            #expect(try app.database.blobs.fileNames() == [])
        }
    }

    @Test("DISK-33 logging out during a download ends it; nothing of it stays, and what still comes is not stored")
    func logout() async throws {
        try await whileHeld { (app, disk, gate, token, id) async throws in
            #expect(try await app.ask(.delete, "/v1/disk/session?confirm=true", as: token).status == 200)
            #expect(app.app.downloads.job(id) == nil)
            gate.open()
            let again = try await app.logIn()
            try await app.get("/v1/disk/downloads/\(id)", as: again).expectProblem("not-found", 404)
            let rows = "SELECT (SELECT count(*) FROM disk_download) + (SELECT count(*) FROM blob)"
            #expect(try app.database.integer(rows) == 0)
        }
    }

    @Test("logging out while a client reads a file stores nothing of it")
    func logoutDuringContent() async throws {
        let gate = Gate()
        try await DiskHarness.run(held(gate)) { app, token in
            async let content = app.get("/v1/disk/file/content?path=/a.bin", as: token)
            await gate.arrivals()
            _ = try await app.ask(.delete, "/v1/disk/session?confirm=true", as: token)
            gate.open()
            _ = try? await content
            #expect(
                try app.database.read {
                    try Int.fetchOne(
                        $0,
                        sql:
                            """
                            SELECT (SELECT count(*) FROM stored_response) + (SELECT count(*) FROM blob)
                                + (SELECT count(*) FROM disk_item)
                            """
                    )
                } == 0
            )
        }
    }

    @Test("a job that ran when the server ended is resumed")
    func resumed() async throws {
        let temporary = TemporaryFolder.unmade()
        defer { withExtendedLifetime(temporary) {} }
        let folder = temporary.url
        let gate = Gate()
        let disk = held(gate)
        let (box, job) = (TokenBox(), TokenBox())
        try await DiskHarness.run(disk, DiskHarness.Settings(directory: try DataDirectory(at: folder))) { app in
            box.token = try await app.logIn()
            job.token = try await start(app, box.token).1
            await gate.arrivals()
        }
        disk.change { $0.bodyParts = nil }
        try await DiskHarness.run(disk, DiskHarness.Settings(directory: try DataDirectory(at: folder))) { app in
            let before = try await app.get("/v1/disk/downloads/\(job.token)", as: box.token)
            #expect(before["data.status"] == "running" || before["data.status"] == "queued")
            try await app.app.downloads.resume()
            await app.events.published("job", containing: #""status":"done""#)
            #expect(try await app.get("/v1/disk/downloads/\(job.token)", as: box.token)["data.status"] == "done")
        }
    }

    @Test("a file that changes while it is fetched fails the job; its old version is not taken for the new one")
    func changed() async throws {
        try await whileHeld { (app, disk, gate, token, id) async throws in
            #expect(
                try await app.ask(.patch, "/v1/disk/file?path=/a.bin", as: token, json: #"{"name":"b.bin"}"#).status
                    == 200
            )
            gate.open()
            await app.events.published("job", containing: #""status":"failed""#)
            #expect(try await app.get("/v1/disk/downloads/\(id)", as: token)["data.failure"] == "file-changed")
            #expect(try await app.get("/v1/disk/file?path=/b.bin", as: token)["data.downloaded"] == false)
        }
    }

    @Test("only the configured number run at a time; the others wait")
    func places() async throws {
        let gate = Gate()
        let disk = held(gate)
        disk.put("disk:/b.bin", bytes: Array("b".utf8))
        try await DiskHarness.run(disk, DiskHarness.Settings(values: .disk.with(DiskApp.downloads, 1))) { app, token in
            _ = try await start(app, token)
            await gate.arrivals()
            let (_, second) = try await start(app, token, "/b.bin")
            #expect(try await app.get("/v1/disk/downloads/\(second)", as: token)["data.status"] == "queued")
            gate.open()
            await app.events.published("job", containing: #""id":"\#(second)","status":"done""#)
        }
    }

    @Test("DISK-38 a download that the cache has no room for is refused at once")
    func tooLarge() async throws {
        let disk = FakeYandexDisk()
        disk.put("disk:/a.bin", bytes: Self.bytes)
        try await DiskHarness.run(disk, DiskHarness.Settings(budget: CacheBudget(bytes: 1000))) { app, token in
            let requests = disk.requests.count
            for _ in 0..<2 {
                try await app.ask(.post, "/v1/disk/downloads", as: token, json: #"{"path":"/a.bin"}"#)
                    .expectProblem("too-large", 413)
            }
            #expect(disk.requests.count <= requests + 1, "only its size was requested")
        }
    }

    @Test("what cannot be downloaded is refused at once; an account does not see another's job")
    func refused() async throws {
        let disk = FakeYandexDisk()
        disk.change { $0.tokens["other"] = "2240" }
        disk.makeFolder("disk:/f")
        disk.put("disk:/a.bin", bytes: Self.bytes)
        try await DiskHarness.run(disk) { app, token in
            for (body, status) in [
                (#"{"path":"/f"}"#, 422), (#"{}"#, 422), (#"{"path":1}"#, 422), (#"{"path":"a"}"#, 422), ("[]", 400),
                (#"{"path":"/none"}"#, 404),
            ] {
                #expect(
                    try await app.ask(.post, "/v1/disk/downloads", as: token, json: body).status == status,
                    "\(body)"
                )
            }
            let (_, id) = try await start(app, token)
            try await app.get("/v1/disk/downloads/\(id)", as: try await app.logIn("other")).expectProblem(
                "not-found",
                404
            )
            await app.events.published("job", containing: #""status":"done""#)
            disk.put("disk:/b.bin")
            disk.goAway()
            try await app.ask(.post, "/v1/disk/downloads", as: token, json: #"{"path":"/b.bin"}"#).expectProblem(
                "upstream-unavailable",
                503
            )
        }
    }
}
