import Foundation
import HTTPTypes
import Screens
import Synchronization
import TestKit
import Testing

@testable import Concurrency
@testable import Disk
@testable import Upstream

@Suite struct WriteRunTests {
    @Test("An upload reads the account three times, and four times the item that it makes or replaces")
    func statements() async throws {
        try await DiskHarness.run(FakeYandexDisk(["disk:/old.txt": "old"])) { app, token in
            _ = try await app.get("/v1/disk/files", as: token)
            for target in ["/new.txt", "/old.txt&overwrite=true"] {
                let log = try await app.statements.statements {
                    let upload = try await app.ask(.put, "/v1/disk/file/content?path=\(target)", as: token, bytes: [1])
                    #expect(upload.status == 201)
                    #expect(upload["meta.stale"] == false)
                }
                // With the request; when the row read back is stored, for its freshness and for its changes.
                #expect(log.reads(of: "disk_cache") == 3, "\(log)")
                // Before the write; when it is applied; when the row read back is stored; for the response.
                let ranks = log.filter { $0.contains("WHERE rank =") }
                #expect(log.reads(of: "disk_item") - ranks.count == 4, "\(log)")
                // A row that is new or modified gets a rank that no other row has.
                #expect(ranks.count <= 2, "\(log)")
            }
        }
    }
}

@Suite("Many readers and writers of one account at once")
struct WriteRunLoadTests {
    /// Responses by kind and status.
    private final class Tally: Sendable {
        private let counts = Mutex<[String: Int]>([:])
        func note(_ kind: String, _ response: Exchanged, _ accepted: Int) {
            if response.status != accepted {
                counts.withLock { $0["\(kind) \(response.status) \(response["detail"] ?? "")", default: 0] += 1 }
            }
        }
        var unexpected: [String: Int] { counts.withLock { $0 } }
        private let writing = Mutex(true)
        var isWriting: Bool { writing.withLock { $0 } }
        func endWriting() { writing.withLock { $0 = false } }
    }

    private func write(_ app: DiskHarness, _ token: String, writer: Int, _ tally: Tally) async throws {
        for round in 0..<3 {
            let (name, renamed) = ("w\(writer)-\(round).txt", "m\(writer)-\(round).txt")
            let text = Array("text \(name)".utf8)
            tally.note(
                "upload",
                try await app.ask(.put, "/v1/disk/file/content?path=/load/\(name)", as: token, bytes: text),
                201
            )
            let folder = #"{"path":"/load/d\#(writer)-\#(round)"}"#
            tally.note("folder", try await app.ask(.post, "/v1/disk/folders", as: token, json: folder), 201)
            let rename = try await app.ask(
                .patch,
                "/v1/disk/file?path=/load/\(name)",
                as: token,
                json: #"{"name":"\#(renamed)"}"#
            )
            tally.note("rename", rename, 200)
            // A writer sees its own writes, at once.
            let own = try await app.get("/v1/disk/files?path=/load&limit=100", as: token)
            tally.note("own list", own, 200)
            let names = Set(DiskHarness.names(own))
            #expect(names.contains(renamed) && names.contains("d\(writer)-\(round)") && !names.contains(name))
            guard round.isMultiple(of: 2) else { continue }
            tally.note("delete", try await app.ask(.delete, "/v1/disk/file?path=/load/\(renamed)", as: token), 200)
            tally.note("read of what is gone", try await app.get("/v1/disk/file?path=/load/\(renamed)", as: token), 404)
            #expect(
                !DiskHarness.names(try await app.get("/v1/disk/files?path=/load&limit=100", as: token)).contains(
                    renamed
                )
            )
        }
    }

    private func read(_ app: DiskHarness, _ token: String, reader: Int, _ tally: Tally) async throws {
        let screens = [
            "files?path=/load&limit=100", "recent?limit=50", "file?path=/load", "search?q=m", "files", "published",
            "trash",
        ]
        var (next, revision) = (reader, 0.0)
        while tally.isWriting {
            let screen = screens[next % screens.count]
            next += 1
            let response = try await app.get("/v1/disk/\(screen)", as: token)
            tally.note(screen, response, 200)
            guard case .number(let now) = response["meta.revision"] else { continue }
            #expect(now >= revision, "\(screen)")
            revision = now
        }
    }

    @Test("TRUST-04 16 writers, 16 readers: each write is done once and stays, each read succeeds, revisions grow")
    func load() async throws {
        let disk = FakeYandexDisk()
        disk.makeFolder("disk:/load")
        disk.put("disk:/m0.txt")
        disk.change { $0.detours = 5 }
        try await DiskHarness.run(disk) { app, token in
            let tally = Tally()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for reader in 0..<16 { group.addTask { try await read(app, token, reader: reader, tally) } }
                try await withThrowingTaskGroup(of: Void.self) { writers in
                    for writer in 0..<16 { writers.addTask { try await write(app, token, writer: writer, tally) } }
                    defer { tally.endWriting() }
                    try await writers.waitForAll()
                }
                try await group.waitForAll()
            }
            #expect(tally.unexpected == [:])
            let upstream = disk.change { state in Set(state.nodes.keys.filter { $0.hasPrefix("disk:/load/") }) }
            let expected = (0..<16).flatMap { writer in
                (0..<3).map { "disk:/load/d\(writer)-\($0)" } + ["disk:/load/m\(writer)-1.txt"]
            }
            #expect(upstream == Set(expected))
            let listed = try await app.get("/v1/disk/files?path=/load&limit=100", as: token)
            #expect(Set(DiskHarness.names(listed)) == Set(expected.map { String($0.dropFirst("disk:/load/".count)) }))
            let writes = disk.asked.filter { !$0.hasPrefix("GET") }
            #expect(Set(writes).count == writes.count, "nothing was sent twice")
        }
    }

    @Test("TRUST-04 a list requested before a delete and received after it restores no row, and is revalidated")
    func overtakenByDelete() async throws {
        try await DiskHarness.run(FakeYandexDisk("disk:/a.txt", "disk:/b.txt")) { app, disk, token in
            _ = try await app.get("/v1/disk/files", as: token)
            let isFirst = Counter(1)
            app.clock.advance(by: .seconds(60))
            disk.onTheWay { [disk] request in
                guard request.url.contains("_embedded"), isFirst.take() else { return }
                disk.change { $0.nodes["disk:/a.txt"] = nil }
                try await app.store.apply(.deleted(DiskPath.root.child("a.txt")), account: "1130", at: app.clock.now)
            }
            #expect(DiskHarness.names(try await app.get("/v1/disk/files", as: token)) == ["b.txt"])
            let lists = disk.asked.count { $0.contains("_embedded") }
            #expect(DiskHarness.names(try await app.get("/v1/disk/files", as: token)) == ["b.txt"])
            #expect(
                disk.asked.count { $0.contains("_embedded") } == lists + 1,
                "what was overtaken does not count as fresh"
            )
            #expect(try app.store.row(DiskPath.root.child("a.txt"), account: "1130") == nil)
        }
    }

    @Test("TRUST-04 published files requested before one is unpublished and received after it lack that one")
    func overtakenByUnpublishing() async throws {
        let disk = FakeYandexDisk()
        for name in ["a", "b"] { disk.put("disk:/\(name).txt") }
        try await DiskHarness.run(disk) { app, token in
            for name in ["a", "b"] {
                _ = try await app.ask(.post, "/v1/disk/links", as: token, json: #"{"path":"/\#(name).txt"}"#)
            }
            let isFirst = Counter(1)
            disk.onTheWay { request in
                guard request.url.contains("/resources/public"), isFirst.take() else { return }
                let withdrawn = try await app.ask(.delete, "/v1/disk/published?path=/a.txt", as: token)
                #expect(withdrawn.status == 200)
            }
            #expect(DiskHarness.names(try await app.get("/v1/disk/published", as: token)) == ["b.txt"])
        }
    }

    @Test("TRUST-04 a write that stalls holds up others of its path for a bounded time only: 423, retryable")
    func stalled() async throws {
        try await DiskHarness.run(FakeYandexDisk("disk:/a.txt")) { app, disk, token in
            let gate = Gate()
            disk.onTheWay { request in
                if request.method == .delete { try await gate.passUnlessCancelled() }
            }
            async let first = app.ask(.delete, "/v1/disk/file?path=/a.txt", as: token)
            await gate.arrivals()
            async let second = app.ask(.put, "/v1/disk/file/content?path=/a.txt", as: token, bytes: [1])
            let wait = app.app.disk.client.upstream.configuration.totalTimeout
            await app.clock.sleepers(of: wait)
            app.clock.advance(by: wait)
            let refused = try await second
            refused.expectProblem("locked", 423)
            #expect(refused["retryable"] == true)
            gate.open()
            #expect(try await first.status == 200)
            #expect(try await app.ask(.put, "/v1/disk/file/content?path=/a.txt", as: token, bytes: [1]).status == 201)
        }
    }

    @Test("TRUST-04 a 404 that was requested before an upload does not remove what has been uploaded since")
    func overtakenByUpload() async throws {
        try await DiskHarness.run { app, disk, token in
            let isFirst = Counter(1)
            let path = DiskPath.root.child("a.txt")
            disk.onTheWay { [disk] request in
                guard request.url.contains("/resources?path=disk%3A%2Fa.txt&limit=0"), isFirst.take() else { return }
                disk.put("disk:/a.txt", "new")
                try await app.store.apply(
                    .appeared(path, DiskItem(path: path, kind: .file)),
                    account: "1130",
                    at: app.clock.now
                )
            }
            try await app.get("/v1/disk/file?path=/a.txt", as: token).expectProblem("not-found", 404)
            #expect(try app.store.row(path, account: "1130") != nil)
            #expect(try await app.get("/v1/disk/file?path=/a.txt", as: token)["data.size"] == 3)
        }
    }
}
