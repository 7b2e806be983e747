import Foundation
import GRDB
import HTTP
import HTTPTypes
import Screens
import Storage
import Synchronization
import TestKit
import Testing
import Upstream

@testable import Disk

/// Writes of the Disk with `Idempotency-Key`.
@Suite("Repeated writes of the Disk", .timeLimit(.minutes(10)))
struct KeyedDiskTests {
    private static func leave(
        _ app: DiskHarness,
        _ method: HTTPRequest.Method,
        _ target: String,
        as token: String,
        _ key: String,
        json: String? = nil
    ) async throws -> Exchanged {
        try await app.ask(method, target, as: token, [.idempotencyKey: key, .prefer: "respond-async"], json: json)
    }

    @Test("ONE-09 OUT-02 A write that waits is queued once; row and response are stored in one transaction")
    func queued() async throws {
        try await DiskHarness.run(WriteScenario.disk()) { app in
            let token = try await WriteScenario.away(app)
            let plain = try await app.leave(.post, "/v1/disk/folders", as: token, json: #"{"path":"/first"}"#)
            #expect(plain.status == 202 && plain["meta.pending"] == 1)
            let body = #"{"path":"/new"}"#
            let responses = Watched<[Exchanged]>([])
            let statements = try await app.statements.statements {
                let response = try await Self.leave(app, .post, "/v1/disk/folders", as: token, "one", json: body)
                responses.update { $0.append(response) }
            }
            let first = try #require(responses.value.first)
            #expect(first.status == 202 && first["meta.pending"] == 2, "\(first.text)")
            let writes = statements.split { $0.hasPrefix("COMMIT") }.filter { part in
                part.contains { $0.contains("keyed_response") && !$0.hasPrefix("SELECT") }
            }
            #expect(writes.count == 1 && writes[0].contains { $0.contains("INSERT INTO disk_outbox") })
            let again = try await Self.leave(app, .post, "/v1/disk/folders", as: token, "one", json: body)
            again.expectRepeats(first)
            #expect(app.store.outbox.load.waiting == 2)
            let other = try await Self.leave(app, .post, "/v1/disk/folders", as: token, "one", json: #"{"path":"/b"}"#)
            other.expectProblem("idempotency-key-reused", 422)
        }
    }

    @Test("ONE-09 A write that is tried again with a key is sent at once: the key is that of the request only")
    func triedAgain() async throws {
        let disk = WriteScenario.disk()
        try await DiskHarness.run(disk) { app in
            let token = try await WriteScenario.away(app)
            let left = try await Self.leave(app, .delete, "/v1/disk/file?path=/a.txt", as: token, "one")
            disk.intercept { $0.method == .get ? nil : FakeYandexDisk.refusal(403, "ForbiddenError") }
            let href = try left.string("links.self")
            try await app.outbox(href, is: "failed", as: token)
            disk.intercept(nil)
            let again = try await app.ask(.post, "\(href)/retry", as: token, [.idempotencyKey: "two"])
            #expect(again.status == 200, "\(again.text)")
            await BoundedWait.poll(for: "the deletion") { disk.change { $0.nodes["disk:/a.txt"] == nil } }
        }
    }

    @Test("ONE-09 An upload that waits, and decisions on writes, are made once")
    func decisions() async throws {
        try await DiskHarness.run(WriteScenario.disk()) { app in
            let token = try await WriteScenario.away(app)
            let target = "/v1/disk/file/content?path=/new.txt"
            let fields: HTTPFields = [.idempotencyKey: "upload", .prefer: "respond-async"]
            let first = try await app.ask(.put, target, as: token, fields, bytes: Array("text".utf8))
            #expect(first.status == 202, "\(first.text)")
            let again = try await app.ask(.put, target, as: token, fields, bytes: Array("text".utf8))
            again.expectRepeats(first)
            #expect(app.store.outbox.load.waiting == 1)
            try await app.ask(.put, target, as: token, fields, bytes: Array("other".utf8))
                .expectProblem("idempotency-key-reused", 422)
            let operation = try first.string("links.self")
            let removed = try await app.ask(.delete, operation, as: token, [.idempotencyKey: "back"])
            #expect(removed.status == 200 && removed["meta.pending"] == nil, "\(removed.text)")
            try await app.ask(.delete, operation, as: token, [.idempotencyKey: "back"]).expectRepeats(removed)
            try await app.ask(.delete, operation, as: token, [.idempotencyKey: "other"]).expectProblem("not-found", 404)
        }
    }

    @Test("ONE-09 A write that is sent has its key on the disk first, and is sent once; so is a batch")
    func sent() async throws {
        try await WriteScenario.run { app, disk, token in
            let keys = Mutex<[Int?]>([])
            disk.intercept { request in
                guard request.method != .get else { return nil }
                let count = try? app.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM keyed_response") }
                keys.withLock { $0.append(count) }
                return nil
            }
            let first = try await Self.leave(app, .delete, "/v1/disk/file?path=/a.txt", as: token, "one")
            #expect(first.status == 200, "\(first.text)")
            try await Self.leave(app, .delete, "/v1/disk/file?path=/a.txt", as: token, "one").expectRepeats(first)
            let batch = #"{"action":"delete","paths":["/folder/a inner.txt","/folder"]}"#
            let both = try await Self.leave(app, .post, "/v1/disk/files/batch", as: token, "two", json: batch)
            #expect(both.status == 200, "\(both.text)")
            try await Self.leave(app, .post, "/v1/disk/files/batch", as: token, "two", json: batch).expectRepeats(both)
            disk.intercept(nil)
            #expect(keys.withLock(\.self) == [1, 2, 2] && disk.asked.count { $0.hasPrefix("DELETE") } == 3)
        }
    }

    @Test("ONE-09 A batch of writes that wait has one response, that of all")
    func batch() async throws {
        try await DiskHarness.run(WriteScenario.disk()) { app in
            let token = try await WriteScenario.away(app)
            let batch = #"{"action":"delete","paths":["/a.txt","/folder"]}"#
            let first = try await Self.leave(app, .post, "/v1/disk/files/batch", as: token, "one", json: batch)
            #expect(first.status == 200 && first.all("state", in: "data.results").count == 2, "\(first.text)")
            try await Self.leave(app, .post, "/v1/disk/files/batch", as: token, "one", json: batch).expectRepeats(first)
            #expect(app.store.outbox.load.waiting == 2)
        }
    }

    @Test("ONE-09 TRUST-02 Whichever system call fails, the repetition gets the 202, and the write waits once")
    func faults() async throws {
        let directory = try DataDirectory.temporary()
        let scope = try FaultScope(directory.path)
        let number = Atomic(0)
        var settings = DiskHarness.Settings()
        settings.directory = directory
        try await DiskHarness.run(WriteScenario.disk(), settings) { app in
            let token = try await WriteScenario.away(app)
            let loop = FaultLoop(scope, app.database, migrations: DiskHarness.migrations)
            let count = try await loop.run(
                mayBePartial: true,
                prepare: { number.add(1, ordering: .relaxed) },
                write: {
                    let key = "key-\(number.load(ordering: .relaxed))"
                    let body = #"{"path":"/\#(key)"}"#
                    let response = try await Self.leave(app, .post, "/v1/disk/folders", as: token, key, json: body)
                    guard response.status == 202 else { throw Exchanged.Refused(response) }
                }
            )
            #expect(count > 0)
            let waiting = try app.database.read { try String.fetchAll($0, sql: "SELECT work FROM disk_outbox") }
            #expect(Set(waiting).count == waiting.count && waiting.count == number.load(ordering: .relaxed))
        }
    }

    @Test("ONE-09 OUT-02 A copy of the files, as kill -9 leaves them, has the write with its 202, or neither")
    func killed() async throws {
        let (directory, copy) = (try DataDirectory.temporary(), TemporaryFolder.unmade())
        var settings = DiskHarness.Settings()
        settings.directory = directory
        let made = Mutex<(token: String, first: Exchanged?)>(("", nil))
        let body = #"{"path":"/new"}"#
        try await DiskHarness.run(WriteScenario.disk(), settings) { app in
            let token = try await WriteScenario.away(app)
            let first = try await Self.leave(app, .post, "/v1/disk/folders", as: token, "one", json: body)
            made.withLock { $0 = (token, first) }
            try KilledCopy.make(of: URL(filePath: directory.path), at: copy.url)
        }
        let (token, first) = made.withLock(\.self)
        let response = try #require(first)
        let disk = WriteScenario.disk()
        disk.goAway()
        settings.directory = try DataDirectory(at: copy.url)
        try await DiskHarness.run(disk, settings) { app in
            try await Self.leave(app, .post, "/v1/disk/folders", as: token, "one", json: body).expectRepeats(response)
            #expect(app.store.outbox.load.waiting == 1)
        }
    }
}
