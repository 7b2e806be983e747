import Foundation
import HTTP
import HTTPTypes
import Screens
import TestKit
import Testing
import Upstream

@testable import Disk

@Suite("Writes of the outbox, one by one", .timeLimit(.minutes(2)))
struct OutboxRunnerTests {
    @Test(
        "OUT-06 a deletion of a file is one call, by which the API compares it; what has changed is a conflict",
        arguments: [("as it was", "done", 0), ("changed", "conflict", 1), ("gone", "done", 1)]
    )
    func deletion(what: String, state: String, looks: Int) async throws {
        let disk = WriteScenario.disk()
        try await DiskHarness.run(disk) { app in
            let token = try await WriteScenario.away(app)
            let left = try await app.leave(.delete, "/v1/disk/file?path=/a.txt", as: token)
            switch what {
            case "changed": disk.put("disk:/a.txt", "of another one")
            case "gone": disk.change { $0.nodes["disk:/a.txt"] = nil }
            default: break
            }
            let before = disk.asked.count
            disk.intercept(nil)
            let href = try left.string("data.href")
            try await app.outbox(href, is: state, as: token)
            let asked = disk.asked.dropFirst(before).filter { $0.contains("path=disk%3A%2Fa.txt") }
            #expect(asked.filter { $0.hasPrefix("DELETE") && $0.contains("md5=") }.count == 1, "\(asked)")
            #expect(asked.filter { $0.hasPrefix("GET") }.count == looks, "\(asked)")
            #expect(disk.change { $0.nodes["disk:/a.txt"] != nil } == (what == "changed"))
            guard state == "conflict" else { return }
            let conflict = try await app.get(href, as: token)
            #expect(conflict["data.conflict.theirs.size"] == 14, "\(conflict.text)")
            #expect(try await app.ask(.post, "\(href)/resolve", as: token, json: #"{"how":"overwrite"}"#).status == 200)
            await app.drained()
            #expect(disk.change { $0.nodes["disk:/a.txt"] == nil })
        }
    }

    private static let screens = [
        "recent", "files", "published", "search?q=a", "file?path=/a.txt", "files?path=/folder",
    ]

    /// Returns the names that the screens show.
    private static func shown(_ app: DiskHarness, _ token: String) async throws -> [[String]] {
        var names: [[String]] = []
        for screen in screens {
            let answer = try await app.get("/v1/disk/\(screen)", as: token)
            names.append(DiskHarness.names(answer))
            if case .string(let name)? = answer["data.name"] { names.append([name]) }
        }
        return names
    }

    /// Expects that each screen says that a write needs a decision.
    private static func expectNeedsDecision(_ app: DiskHarness, _ token: String) async throws {
        for screen in screens + ["profile", "outbox"] {
            let answer = try await app.get("/v1/disk/\(screen)", as: token)
            #expect(answer["meta.needs_decision"] == 1, "\(screen): \(answer.text)")
            #expect(answer["meta.banner.code"] == "needs-decision" && answer["meta.banner.dismiss"] == "on_resolved")
            #expect(try answer.string("meta.banner.text").contains("need your decision: 1"))
        }
        let russian = try await app.get("/v1/disk/files", as: token, [.acceptLanguage: "ru"])
        #expect(try russian.string("meta.banner.text").contains("вашего решения: 1"))
    }

    @Test(
        "DISK-41 a write that was refused for good changes nothing that is shown; meta and a banner say that it waits",
        arguments: ["delete", "rename"]
    )
    func refused(what: String) async throws {
        try await WriteScenario.run { app, disk, token in
            let before = try await Self.shown(app, token)
            disk.goAway()
            _ = try await app.get("/v1/disk/files?refresh=1", as: token)
            let rename = #"{"name":"b.txt"}"#
            let left =
                what == "delete"
                ? try await app.leave(.delete, "/v1/disk/file?path=/a.txt", as: token)
                : try await app.leave(.patch, "/v1/disk/file?path=/a.txt", as: token, json: rename)
            // A write that depends on it waits with it, and has no effect either.
            let upload = "/v1/disk/file/content?path=/a.txt"
            _ = try await app.ask(.put, upload, as: token, [.prefer: "respond-async"], bytes: [1])
            #expect(try await Self.shown(app, token) != before)
            disk.intercept { request in
                request.method == .get ? nil : FakeYandexDisk.refusal(403, "ForbiddenError")
            }
            try await app.outbox(try left.string("data.href"), is: "failed", as: token)
            #expect(try await Self.shown(app, token) == before)
            try await Self.expectNeedsDecision(app, token)
            let held = try await app.ask(.delete, "/v1/disk/file?path=/a.txt", as: token)
            held.expectProblem("locked", 423)
            disk.intercept(nil)
            for item in try await app.get("/v1/disk/outbox", as: token).all("href", in: "data.items").reversed() {
                #expect(try await app.ask(.delete, try #require(item.string), as: token).status == 200)
            }
            let after = try await app.get("/v1/disk/files", as: token)
            #expect(
                after["meta.needs_decision"] == nil && after["meta.pending"] == nil && after["meta.banner"] == .null
            )
            #expect(try await Self.shown(app, token) == before)
        }
    }

    @Test(
        "DISK-44 the outbox waits for the end of maintenance and of a lock, and not for that of the limit for uploads",
        arguments: [
            ("DiskUploadTrafficLimitExceeded", "failed", "The limit for uploads to Yandex Disk is reached"),
            ("LockedError", "waiting", "Yandex Disk is read-only for maintenance. Trying again later"),
            ("DiskResourceLockedError", "waiting", "Yandex Disk is using this. Trying again later"),
        ]
    )
    func lockedUpload(code: String, state: String, reason: String) async throws {
        let disk = WriteScenario.disk()
        try await DiskHarness.run(disk) { app in
            let token = try await WriteScenario.away(app)
            let target = "/v1/disk/file/content?path=/new.bin"
            let left = try await app.ask(.put, target, as: token, [.prefer: "respond-async"], bytes: [1])
            let href = try left.string("data.href")
            disk.intercept { $0.url.contains("/resources/upload") ? FakeYandexDisk.refusal(423, code) : nil }
            let upload = try await app.outbox(href, is: state, as: token)
            #expect(upload.text.contains(reason), "\(upload.text)")
            disk.intercept(nil)
            if state == "failed" {
                app.clock.advance(by: .seconds(86_400))
                #expect(try await app.get(href, as: token)["data.state"] == "failed")
                #expect(try await app.ask(.post, "\(href)/retry", as: token).status == 200)
            }
            let asked = app.clock.now
            await app.drained()
            #expect(disk.change { $0.nodes["disk:/new.bin"]?.bytes } == [1])
            if code == "LockedError" { #expect(app.clock.now.timeIntervalSince(asked) > 500) }
        }
    }

    @Test("DISK-30 a deletion that the API goes on with is asked for until its end, and not sent again")
    func long() async throws {
        let disk = WriteScenario.disk()
        disk.change { $0.pollsOfWrites = 1000 }
        var settings = DiskHarness.Settings()
        settings.values[DiskApp.uploadResponse] = .seconds(10)
        try await DiskHarness.run(disk, settings) { app in
            let token = try await WriteScenario.away(app)
            let left = try await app.leave(.delete, "/v1/disk/file?path=/folder", as: token)
            disk.intercept(nil)
            try await app.outbox(try left.string("data.href"), is: "processing", as: token)
            await BoundedWait.poll(for: "questions after the time of uploads") {
                app.clock.advance(by: .seconds(10))
                return disk.asked.count { $0.contains("/operations/") } >= 6
            }
            disk.change { $0.endOperations() }
            await app.drained()
            #expect(disk.asked.count { $0.hasPrefix("DELETE") } == 1)
        }
    }

    @Test("DISK-41 a refused write that is tried again shows its effect again")
    func retried() async throws {
        let disk = WriteScenario.disk()
        try await DiskHarness.run(disk) { app in
            let token = try await WriteScenario.away(app)
            let left = try await app.leave(.delete, "/v1/disk/file?path=/a.txt", as: token)
            disk.intercept { $0.method == .get ? nil : FakeYandexDisk.refusal(403, "ForbiddenError") }
            let href = try left.string("data.href")
            try await app.outbox(href, is: "failed", as: token)
            disk.goAway()
            _ = try await app.get("/v1/disk/files?refresh=1", as: token)
            #expect(DiskHarness.names(try await app.get("/v1/disk/files", as: token)).contains("a.txt"))
            let retried = try await app.ask(.post, "\(href)/retry", as: token)
            #expect(retried["data.state"] == "queued" && retried["meta.needs_decision"] == nil, "\(retried.text)")
            #expect(!DiskHarness.names(try await app.get("/v1/disk/files", as: token)).contains("a.txt"))
            disk.intercept(nil)
            await app.drained()
            #expect(disk.change { $0.nodes["disk:/a.txt"] == nil })
        }
    }

    /// Queues twenty folders, and one in the first of them. The API responds to the first one with a status.
    private static func failing(_ status: Int, _ test: @Sendable (DiskHarness, String) async throws -> Void)
        async throws
    {
        let disk = WriteScenario.disk()
        try await DiskHarness.run(disk) { app in
            let token = try await WriteScenario.away(app)
            for number in 0..<20 {
                _ = try await app.leave(.post, "/v1/disk/folders", as: token, json: #"{"path":"/f\#(number)"}"#)
            }
            _ = try await app.leave(.post, "/v1/disk/folders", as: token, json: #"{"path":"/f0/below"}"#)
            disk.intercept { request in
                guard request.method == .put, request.url.hasSuffix("path=disk%3A%2Ff0") else { return nil }
                return FakeYandexDisk.refusal(status, status == 423 ? "DiskResourceLockedError" : "InternalServerError")
            }
            try await test(app, token)
        }
    }

    @Test(
        "SCALE-27 a write that the API always fails lets the others pass, and its user is told",
        arguments: [500, 502, 423, 507]
    )
    func aside(status: Int) async throws {
        try await Self.failing(status) { app, token in
            // How long three tries take, OutboxProgressTests say: this clock runs while requests are under way.
            await BoundedWait.poll(for: "the others") {
                app.clock.advance(by: .milliseconds(500))
                return app.store.outbox.queue(of: "1130")?.entries.count == 2
            }
            // It may be under way again; the clock is not advanced, so it is not tried once more.
            await BoundedWait.poll(for: "the end of its attempt") {
                app.store.outbox.queue(of: "1130")?.entries.first?.progress.state == .aside
            }
            #expect(app.disk.change { state in (1..<20).allSatisfy { state.nodes["disk:/f\($0)"] != nil } })
            let outbox = try await app.get("/v1/disk/outbox", as: token)
            #expect(outbox.all("path", in: "data.items") == ["disk:/f0", "disk:/f0/below"])
            #expect(
                outbox["data.items.0.state"] == "aside" && outbox["data.items.1.state"] == "queued",
                "\(outbox.text)"
            )
            #expect(outbox["data.items.0.next_attempt_at"] != .null && outbox["meta.needs_decision"] == 1)
            #expect(outbox.all("id", in: "data.items.0.actions") == ["take_back", "retry"])
            // An attempt that has become due may be under way.
            try await BoundedWait.poll(for: "the banner") {
                let files = try await app.get("/v1/disk/files", as: token)
                return files["meta.banner.code"] == "needs-decision" && DiskHarness.names(files).contains("f0")
            }
            // It is sent without a decision once it succeeds, and then the write that depends on it.
            app.disk.intercept(nil)
            await app.drained()
            #expect(app.disk.change { $0.nodes["disk:/f0/below"] != nil })
            #expect(try await app.get("/v1/disk/files", as: token)["meta.banner"] == .null)
        }
    }

    @Test("SCALE-27 if the API fails altogether, or limits the account, nothing is sent past a write that waits")
    func ill() async throws {
        for status in [500, 429] {
            try await Self.failing(status) { app, token in
                if status == 500 { app.disk.respond(500) }
                await BoundedWait.poll(for: "five attempts") {
                    app.clock.advance(by: .seconds(1))
                    return app.store.outbox.queue(of: "1130")?.entries.first?.progress.attempts ?? 0 >= 5
                }
                #expect(app.store.outbox.queue(of: "1130")?.undecided == 0)
                #expect(app.disk.change { $0.nodes["disk:/f1"] == nil })
                app.disk.intercept(nil)
                await app.drained()
            }
        }
    }
}
