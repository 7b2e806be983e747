import Foundation
import HTTP
import HTTPTypes
import Screens
import Synchronization
import TestKit
import Testing
import Upstream

@testable import Disk

@Suite("Writes that wait, over HTTP", .timeLimit(.minutes(2)))
struct OutboxRequestsTests {
    private static let prefer: HTTPFields = [.prefer: "respond-async"]

    /// Runs a test with lists that were seen, and a Disk that is away.
    private static func away(
        _ settings: DiskHarness.Settings = DiskHarness.Settings(),
        _ test: @Sendable (DiskHarness, String) async throws -> Void
    ) async throws {
        let disk = WriteScenario.disk()
        disk.change { $0.nodes["disk:/a.txt"]?.publicURL = nil }
        try await DiskHarness.run(disk, settings) { app, token in
            try await WriteScenario.seen(app, token)
            _ = try await app.get("/v1/disk/profile", as: token)
            disk.goAway()
            // From here on it counts as away.
            _ = try await app.get("/v1/disk/files?refresh=1", as: token)
            try await test(app, token)
        }
    }

    @Test("OUT-01 offline a write is left with Prefer, refused with the way without; online the field changes nothing")
    func contract() async throws {
        try await Self.away { app, token in
            let refused = try await app.ask(.post, "/v1/disk/folders", as: token, json: #"{"path":"/new"}"#)
            refused.expectProblem("offline-write-refused", 503)
            #expect(refused["actions.0.href"] == "/v1/disk/folders" && refused["actions.0.body.path"] == "disk:/new")
            #expect(refused["actions.0.method"] == "POST" && refused.text.contains("respond-async"))
            let left = try await app.leave(.post, "/v1/disk/folders", as: token, json: #"{"path":"/new"}"#)
            #expect(left.status == 202 && left.headerFields[.preferenceApplied] == "respond-async")
            let href = try #require(left.headerFields[.location])
            #expect(href == "/v1/disk/outbox/\(try left.string("data.id"))")
            #expect(left["data.action"] == "folder" && left["data.status"] == "queued" && left["meta.pending"] == 1)
            #expect(try await app.get(href, as: token)["data.path"] == "disk:/new")
            let screen = try await app.get("/v1/disk/outbox", as: token)
            screen.expectScreen("disk.outbox", status: 200)
            #expect(screen.all("id", in: "data.items") == [left["data.id"]])
            // Writes that cannot be queued stay refused.
            try await app.leave(.post, "/v1/disk/files/copy", as: token, json: #"{"from":"/a.txt","to":"/b.txt"}"#)
                .expectProblem("offline-write-refused", 503)
            try await app.leave(.post, "/v1/disk/folders", as: token, json: #"{"path":"/folder"}"#)
                .expectProblem("target-exists", 409)
            app.disk.intercept(nil)
            await app.drained()
            let online = try await app.leave(.post, "/v1/disk/folders", as: token, json: #"{"path":"/direct"}"#)
            #expect(online.status == 201 && online.headerFields[.preferenceApplied] == nil)
        }
    }

    @Test("OUT-03 a queued upload is listed, found, counted and read, whole and in ranges; then it is a usual file")
    func upload() async throws {
        try await Self.away { app, token in
            let used = try #require(try await app.get("/v1/disk/profile", as: token)["data.used"]?.number)
            let bytes = Array("a queued text".utf8)
            let left = try await app.ask(
                .put,
                "/v1/disk/file/content?path=/folder/a%20new.txt",
                as: token,
                Self.prefer,
                bytes: bytes
            )
            #expect(left.status == 202, "\(left.text)")
            let list = try await app.get("/v1/disk/files?path=/folder", as: token)
            #expect(DiskHarness.names(list) == ["a new.txt", "a inner.txt"] && list["meta.pending"] == 1)
            #expect(list["data.items.0.pending.operation"] == left["data.id"], "\(list.text)")
            #expect(list["data.items.0.pending.state"] == "queued" && list["meta.page.total"] == 2)
            #expect(list["data.items.0.pending.kind_text"] == "Upload")
            let first = try await app.get("/v1/disk/files?path=/folder&limit=1&offset=1", as: token)
            #expect(DiskHarness.names(first) == ["a inner.txt"])
            let found = try await app.get("/v1/disk/search?q=new", as: token)
            #expect(DiskHarness.names(found) == ["a new.txt"], "\(found.text)")
            let after = try #require(try await app.get("/v1/disk/profile", as: token)["data.used"]?.number)
            #expect(after == used + 13)
            let content = "/v1/disk/file/content?path=/folder/a%20new.txt"
            let whole = try await app.get(content, as: token)
            #expect(
                whole.status == 200 && Array(whole.body) == bytes
                    && whole.headerFields[.contentType] == "text/plain; charset=utf-8"
            )
            let part = try await app.get(content, as: token, [.range: "bytes=2-7"])
            #expect(part.status == 206 && part.text == "queued")
            let head = try await app.ask(.head, content, as: token)
            #expect(head.status == 200 && head.headerFields[.contentLength] == "13")
            let file = try await app.get("/v1/disk/file?path=/folder/a%20new.txt", as: token)
            #expect(file["data.pending.kind"] == "upload" && file["meta.pending"] == 1)
            app.disk.intercept(nil)
            await app.drained()
            let sent = try await app.get("/v1/disk/file?path=/folder/a%20new.txt&refresh=1", as: token)
            #expect(sent["data.pending"] == nil && sent["meta.pending"] == nil && sent["data.size"] == 13)
            #expect(app.disk.change { $0.nodes["disk:/folder/a new.txt"]?.bytes } == bytes)
            #expect(try await app.get(try left.string("data.href"), as: token)["data.state"] == "done")
        }
    }

    @Test("OUT-04 a folder that will be renamed shows its content under the new name; taken back, all is as before")
    func rename() async throws {
        try await Self.away { app, token in
            let targets = [
                "/v1/disk/files", "/v1/disk/files?path=/folder", "/v1/disk/file?path=/folder",
                "/v1/disk/search?q=inner",
            ]
            var before: [Data] = []
            for target in targets { before.append(try await app.get(target, as: token).body) }
            let left = try await app.leave(.patch, "/v1/disk/file?path=/folder", as: token, json: #"{"name":"papers"}"#)
            #expect(left.status == 202 && left["data.action"] == "move", "\(left.text)")
            #expect(DiskHarness.names(try await app.get("/v1/disk/files", as: token)) == ["a.txt", "papers"])
            let list = try await app.get("/v1/disk/files?path=/papers", as: token)
            #expect(list.all("path", in: "data.items") == ["disk:/papers/a inner.txt"], "\(list.text)")
            try await app.get("/v1/disk/files?path=/folder", as: token).expectProblem("not-found", 404)
            let found = try await app.get("/v1/disk/search?q=inner", as: token)
            #expect(found.all("path", in: "data.items") == ["disk:/papers/a inner.txt"])
            let taken = try await app.ask(.delete, try left.string("data.href"), as: token)
            #expect(taken.status == 200, "\(taken.text)")
            for (target, body) in zip(targets, before) {
                #expect(try await app.get(target, as: token).body == body, "\(target)")
            }
            let deletion = try await app.leave(.delete, "/v1/disk/file?path=/folder", as: token)
            #expect(deletion.status == 202)
            #expect(DiskHarness.names(try await app.get("/v1/disk/files", as: token)) == ["a.txt"])
            try await app.get("/v1/disk/file?path=/folder/a%20inner.txt", as: token).expectProblem("not-found", 404)
        }
    }

    @Test("OUT-05 the queue drains in order without a client, and events tell the account only")
    func drain() async throws {
        try await Self.away { app, token in
            _ = try await app.leave(.post, "/v1/disk/folders", as: token, json: #"{"path":"/new"}"#)
            _ = try await app.ask(.put, "/v1/disk/file/content?path=/new/f.txt", as: token, Self.prefer, bytes: [1])
            _ = try await app.leave(.delete, "/v1/disk/file?path=/a.txt", as: token)
            _ = try await app.leave(.post, "/v1/disk/links", as: token, json: #"{"path":"/folder"}"#)
            app.disk.intercept(nil)
            await app.drained()
            let writes = app.disk.asked.filter { !$0.hasPrefix("GET") }.suffix(4)
            let order = ["resources?path=disk%3A%2Fnew", "uploader", "DELETE", "publish"]
            #expect(zip(writes, order).allSatisfy { $0.contains($1) }, "\(writes)")
            let events = app.events.published.filter { $0.kind == "outbox-changed" }
            #expect(!events.isEmpty && events.allSatisfy { $0.audience == .account(app: "disk", account: "1130") })
        }
    }

    @Test(
        "OUT-06 a file that came meanwhile is a conflict with both sides; each choice does what it says",
        arguments: ["keep_both", "overwrite", "discard"]
    )
    func conflict(how: String) async throws {
        try await Self.away { app, token in
            let left = try await app.ask(
                .put,
                "/v1/disk/file/content?path=/n.txt",
                as: token,
                Self.prefer,
                bytes: [1, 2]
            )
            _ = try await app.leave(.post, "/v1/disk/folders", as: token, json: #"{"path":"/independent"}"#)
            app.disk.put("disk:/n.txt", "theirs")
            app.disk.intercept(nil)
            let href = try left.string("data.href")
            try await app.outbox(href, is: "conflict", as: token)
            let conflict = try await app.get(href, as: token)
            #expect(conflict["data.conflict.base"] == .null && conflict["data.conflict.theirs.size"] == 6)
            #expect(conflict["data.conflict.ours.size"] == 2)
            let held = try await app.ask(.delete, "/v1/disk/file?path=/n.txt", as: token)
            held.expectProblem("locked", 423)
            #expect(held["actions.0.id"] == "leave" && held["href"] == "/v1/disk/outbox", "\(held.text)")
            #expect(conflict.all("id", in: "data.actions") == ["keep_both", "overwrite", "discard"])
            // Only choices that lose data ask first.
            #expect(conflict["data.actions.0.confirm"] == .null)
            #expect(try conflict.string("data.actions.1.confirm.message").contains("n.txt will be replaced"))
            #expect(try conflict.string("data.actions.2.confirm.message").contains("Larder will delete it"))
            await BoundedWait.poll(for: "the independent write") {
                app.disk.change { $0.nodes["disk:/independent"] != nil }
            }
            let resolved = try await app.ask(.post, "\(href)/resolve", as: token, json: #"{"how":"\#(how)"}"#)
            #expect(resolved.status == 200, "\(resolved.text)")
            #expect((resolved["data.problem"] == "discarded") == (how == "discard"))
            await app.drained()
            let nodes = app.disk.change { $0.nodes }
            #expect(nodes["disk:/n.txt"]?.bytes == (how == "overwrite" ? [1, 2] : Array("theirs".utf8)))
            #expect((nodes["disk:/n (2).txt"]?.bytes == [1, 2]) == (how == "keep_both"))
        }
    }

    @Test(
        "OUT-08 refusals while sending keep the write, with a state and a text",
        arguments: [
            (401, "waiting"), (403, "failed"), (404, "failed"), (409, "failed"), (423, "waiting"), (429, "waiting"),
            (500, "waiting"), (503, "waiting"), (507, "waiting"),
        ]
    )
    func refusals(status: Int, state: String) async throws {
        try await Self.away { app, token in
            let left = try await app.leave(.post, "/v1/disk/folders", as: token, json: #"{"path":"/new"}"#)
            app.disk.intercept { request in
                guard request.method == .put else { return nil }
                return FakeYandexDisk.refusal(status, "SomeError")
            }
            let href = try left.string("data.href")
            let id = try left.string("data.id")
            await BoundedWait.poll(for: "the write to be \(state)") {
                app.clock.advance(by: .seconds(1))
                return app.store.outbox.entry(id, of: "1130")?.progress.state.rawValue == state
            }
            app.disk.intercept(nil)
            if status == 401 { return }
            let screen = try await app.get(href, as: token)
            #expect(screen["data.problem"] != .null && screen["data.problem_text"] != .null, "\(screen.text)")
            _ = try await app.ask(.post, "\(href)/retry", as: token)
            await app.drained()
            #expect(app.disk.change { $0.nodes["disk:/new"] != nil })
        }
    }

    @Test("OUT-09 beyond the limits nothing is kept; accounts see their own only; logout names the number")
    func limits() async throws {
        var settings = DiskHarness.Settings()
        (settings.values[DiskApp.outboxBytes], settings.values[DiskApp.outboxOperations]) = (10, 2)
        try await Self.away(settings) { app, token in
            let large = try await app.ask(
                .put,
                "/v1/disk/file/content?path=/l.bin",
                as: token,
                Self.prefer,
                bytes: [UInt8](repeating: 1, count: 11)
            )
            large.expectProblem("outbox-full", 507)
            for name in ["one", "two"] {
                _ = try await app.leave(.post, "/v1/disk/folders", as: token, json: #"{"path":"/\#(name)"}"#)
            }
            try await app.leave(.post, "/v1/disk/folders", as: token, json: #"{"path":"/three"}"#)
                .expectProblem("outbox-full", 507)
            let screen = try await app.get("/v1/disk/outbox", as: token)
            #expect(screen["meta.page.total"] == 2 && screen["data.bytes"] == 0)
            let id = try screen.string("data.items.0.id")
            app.disk.change { $0.tokens["other"] = "77" }
            app.disk.intercept { request in request.method == .get ? nil : FakeYandexDisk.refusal(423, "Locked") }
            let other = try await app.logIn("other")
            #expect(try await app.get("/v1/disk/outbox", as: other)["meta.state"] == "empty")
            try await app.get("/v1/disk/outbox/\(id)", as: other).expectProblem("not-found", 404)
            let asked = try await app.ask(.delete, "/v1/disk/session", as: token)
            asked.expectProblem("confirmation-required", 409)
            #expect(try asked.string("dialog.message").contains("lost: 2"))
            #expect(try await app.ask(.delete, "/v1/disk/session?confirm=true", as: token).status == 200)
            #expect(app.store.outbox.queue(of: "1130") == nil)
        }
    }

    @Test(
        "OUT-07 an answer that is lost repeats nothing, for every verb",
        arguments: [
            "folder", "upload", "move", "delete", "publish",
        ]
    )
    func lost(verb: String) async throws {
        try await Self.away { app, token in
            switch verb {
            case "folder": _ = try await app.leave(.post, "/v1/disk/folders", as: token, json: #"{"path":"/new"}"#)
            case "upload":
                _ = try await app.ask(.put, "/v1/disk/file/content?path=/n", as: token, Self.prefer, bytes: [1])
            case "move":
                let body = #"{"from":"/a.txt","to":"/folder/b.txt"}"#
                _ = try await app.leave(.post, "/v1/disk/files/move", as: token, json: body)
            case "delete": _ = try await app.leave(.delete, "/v1/disk/file?path=/a.txt", as: token)
            default: _ = try await app.leave(.post, "/v1/disk/links", as: token, json: #"{"path":"/a.txt"}"#)
            }
            let disk = app.disk
            let isOver = Mutex(false)
            disk.intercept { (request) throws(UpstreamError) in
                guard request.method != .get,
                    !isOver.withLock({ over in
                        defer { over = true }
                        return over
                    })
                else { return nil }
                disk.carryOut(request)
                throw .unreachable(.reset)
            }
            await app.drained()
            let writes = disk.requests.filter { $0.method != .get }
            #expect(writes.count == 1, "\(disk.asked)")
        }
    }

    @Test("OUT-05 the progress of an upload grows while it is sent")
    func progress() async throws {
        try await Self.away { app, token in
            let bytes = [UInt8](repeating: 7, count: 1 << 20)
            let target = "/v1/disk/file/content?path=/large"
            let left = try await app.ask(.put, target, as: token, Self.prefer, bytes: bytes)
            let href = try left.string("data.href")
            let shares = Mutex<[Double]>([])
            app.disk.change { state in
                state.onPart = {
                    let screen = try? await app.get(href, as: token)
                    guard case .number(let share)? = screen?["data.progress"] else { return }
                    shares.withLock { $0.append(share) }
                }
            }
            app.disk.intercept(nil)
            await app.drained()
            let seen = shares.withLock { $0 }
            #expect(seen.count > 2 && seen == seen.sorted() && seen.first ?? 1 < seen.last ?? 0, "\(seen)")
        }
    }
}
