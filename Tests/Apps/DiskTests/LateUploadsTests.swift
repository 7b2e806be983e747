import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Screens
import Storage
import Synchronization
import TestKit
import Testing

@testable import Disk
@testable import Upstream

@Suite("Uploads whose response is late", .timeLimit(.minutes(2)))
struct LateUploadsTests {
    private static let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0) }
    private static let target = "/v1/disk/file/content?path=/new.bin"

    /// Runs a test against an uploader that has the file some time after its last byte.
    ///
    /// - Parameter losesResponse: Whether the connection breaks at once, and the service continues.
    private static func run(
        _ seconds: Int,
        losesResponse: Bool = false,
        _ test: @Sendable (DiskHarness, String) async throws -> Void
    ) async throws {
        let (disk, clock) = (WriteScenario.disk(), ManualClock())
        disk.change { state in
            state.namesUploads = true
            state.processing = { [unowned disk] (request) async throws(UpstreamError) in
                guard losesResponse else {
                    try? await clock.wallClock.sleep(.seconds(seconds))
                    return
                }
                Task {
                    try? await clock.wallClock.sleep(.seconds(seconds))
                    disk.carryOut(request)
                }
                throw .unreachable(.reset)
            }
        }
        var settings = DiskHarness.Settings()
        settings.values[DiskApp.operationWait] = .seconds(10)
        try await DiskHarness.run(disk, clock: clock, settings) { app, token in
            try await WriteScenario.seen(app, token)
            try await test(app, token)
        }
    }

    /// The file is there, and each byte of it was sent once.
    private static func expectSentOnce(_ app: DiskHarness, sourceLocation: SourceLocation = #_sourceLocation) {
        let (stored, received) = app.disk.change { ($0.nodes["disk:/new.bin"]?.bytes, $0.received) }
        #expect(stored == bytes, sourceLocation: sourceLocation)
        #expect(received == bytes.count, "bytes sent ÷ bytes of the file is 1.0", sourceLocation: sourceLocation)
    }

    /// Follows an operation or a write of the outbox to its end.
    private static func followed(_ href: String, _ app: DiskHarness, _ token: String) async throws {
        try await BoundedWait.poll(for: "the end of \(href)") {
            app.clock.advance(by: .seconds(2))
            let screen = try await app.get(href, as: token)
            return screen["data.status"] == "done" || screen["data.state"] == "done"
        }
    }

    @Test(
        "DISK-40 a direct upload is acknowledged, or followed by its operation, and sent once; so is an equal one",
        arguments: [(9, false), (30, false), (600, false), (30, true), (600, true)]
    )
    func direct(seconds: Int, losesResponse: Bool) async throws {
        try await Self.run(seconds, losesResponse: losesResponse) { app, token in
            let answer = try await app.whileTimePasses {
                try await app.ask(.put, Self.target, as: token, bytes: Self.bytes)
            }
            #expect(answer.status == (seconds == 9 ? 201 : 202), "\(answer.text)")
            if answer.status == 202 {
                let href = try #require(answer.headerFields[.location])
                #expect(href.hasPrefix("/v1/disk/operations/") && answer["data.action"] == "upload")
                // After 30 seconds it may have ended meanwhile.
                if !losesResponse, seconds == 600 {
                    let second = try await app.ask(.put, Self.target, as: token, bytes: Self.bytes)
                    second.expectProblem("locked", 423)
                }
                try await Self.followed(href, app, token)
            }
            let files = try await app.get("/v1/disk/files?refresh=1", as: token)
            #expect(DiskHarness.names(files).contains("new.bin"))
            let again = try await app.ask(.put, Self.target, as: token, bytes: Self.bytes)
            #expect(again.status == 201 && again["data.size"] == .number(Double(Self.bytes.count)), "\(again.text)")
            Self.expectSentOnce(app)
        }
    }

    @Test("DISK-40 the end of an upload that nobody asks for is in the lists, and told")
    func attended() async throws {
        try await Self.run(600) { app, token in
            _ = try await app.whileTimePasses { try await app.ask(.put, Self.target, as: token, bytes: Self.bytes) }
            let before = app.events.published.count
            await BoundedWait.poll(for: "the row") {
                app.clock.advance(by: .seconds(10))
                return (try? app.store.row(DiskPath.root.child("new.bin"), account: "1130"))?.item.md5 != nil
            }
            await BoundedWait.poll(for: "the event") {
                app.events.published.dropFirst(before).contains { $0.kind == "screen-changed" }
            }
            Self.expectSentOnce(app)
        }
    }

    @Test(
        "DISK-40 an upload of the outbox is followed by its operation, sent once, and holds up no other write",
        arguments: [(9, false), (30, false), (600, false), (30, true), (600, true)]
    )
    func queued(seconds: Int, losesResponse: Bool) async throws {
        try await Self.run(seconds, losesResponse: losesResponse) { app, token in
            app.disk.goAway()
            _ = try await app.get("/v1/disk/files?refresh=1", as: token)
            let prefer: HTTPFields = [.prefer: "respond-async"]
            let left = try await app.ask(.put, Self.target, as: token, prefer, bytes: Self.bytes)
            #expect(left.status == 202)
            let href = try left.string("data.href")
            _ = try await app.leave(.post, "/v1/disk/folders", as: token, json: #"{"path":"/other"}"#)
            app.disk.intercept(nil)
            // In small steps: on a busy machine the clock must not pass the limits of a request that is under way.
            await BoundedWait.poll(for: "the other write") {
                app.clock.advance(by: .milliseconds(100))
                return app.disk.change { $0.nodes["disk:/other"] != nil }
            }
            if seconds == 600 {
                // It is asked for again and again, and is running meanwhile.
                let upload = try await app.outbox(href, is: "processing", as: token)
                #expect(losesResponse || upload["data.attempts"] == 1, "\(upload.text)")
                #expect(upload["data.progress"] == .number(0.999) && upload.all("id", in: "data.actions").isEmpty)
                #expect(upload["meta.needs_decision"] == nil && upload["meta.banner"] == .null)
            }
            try await Self.followed(href, app, token)
            Self.expectSentOnce(app)
        }
    }

    @Test("DISK-40 with Prefer, an upload that Yandex Disk is not ready with is left in the outbox and followed there")
    func preferred() async throws {
        try await Self.run(600) { app, token in
            let prefer: HTTPFields = [.prefer: "respond-async"]
            let left = try await app.whileTimePasses {
                try await app.ask(.put, Self.target, as: token, prefer, bytes: Self.bytes)
            }
            #expect(left.status == 202 && left.headerFields[.preferenceApplied] == "respond-async", "\(left.text)")
            let href = try #require(left.headerFields[.location])
            #expect(href.hasPrefix("/v1/disk/outbox/") && left["data.status"] == "processing")
            try await Self.followed(href, app, token)
            Self.expectSentOnce(app)
        }
    }

    @Test("DISK-40 before the last byte leaves, the operation is stored, so that a kill leads to no second upload")
    func stored() async throws {
        try await Self.run(600) { app, token in
            app.disk.goAway()
            _ = try await app.get("/v1/disk/files?refresh=1", as: token)
            let prefer: HTTPFields = [.prefer: "respond-async"]
            let left = try await app.ask(.put, Self.target, as: token, prefer, bytes: Self.bytes)
            let id = try left.string("data.id")
            let found = Mutex<String?>(nil)
            app.disk.change { state in
                let processing = state.processing
                state.processing = { (request) async throws(UpstreamError) in
                    found.withLock { $0 = app.store.outbox.entry(id, of: "1130")?.work.following?.operation }
                    try await processing?(request)
                }
            }
            app.disk.intercept(nil)
            await BoundedWait.poll(for: "the last byte") {
                app.clock.advance(by: .milliseconds(100))
                return found.withLock { $0 } != nil
            }
            let operation = try #require(app.disk.change { $0.operations }.first)
            #expect(found.withLock { $0 } == operation)
            // As another process reads it.
            let outbox = Outbox<QueuedWrite>(DiskStore.outboxJournal)
            try app.database.read { try outbox.load(at: app.clock.now, $0) }
            let entry = try #require(outbox.entry(id, of: "1130"))
            #expect(entry.progress.isOutcomeUnknown && entry.work.following?.operation == operation)
            try await Self.followed(try left.string("data.href"), app, token)
            Self.expectSentOnce(app)
        }
    }

    @Test("DISK-40 an operation that failed, or is forgotten without a trace, is not done: the upload is sent again")
    func failed() async throws {
        for end in ["failed", nil] {
            try await Self.run(600, losesResponse: true) { app, token in
                app.disk.change { state in
                    let isFirst = Mutex(true)
                    state.processing = { (_) async throws(UpstreamError) in
                        guard
                            isFirst.withLock({ isFirst in
                                defer { isFirst = false }
                                return isFirst
                            })
                        else { return }
                        throw .unreachable(.reset)
                    }
                }
                app.disk.goAway()
                _ = try await app.get("/v1/disk/files?refresh=1", as: token)
                let prefer: HTTPFields = [.prefer: "respond-async"]
                let left = try await app.ask(.put, Self.target, as: token, prefer, bytes: Self.bytes)
                let href = try left.string("data.href")
                app.disk.intercept(nil)
                try await app.outbox(href, is: "processing", as: token)
                app.disk.change { state in
                    if let end { state.settleOperations(end) } else { state.forgetOperations() }
                }
                try await Self.followed(href, app, token)
                #expect(app.disk.change { $0.nodes["disk:/new.bin"]?.bytes } == Self.bytes)
                #expect(app.disk.change { $0.received } == 2 * Self.bytes.count)
            }
        }
    }

    @Test(
        "DISK-40 an uploader that refuses late is heard: the write is tried later, or has failed",
        arguments: [507, 413, 500]
    )
    func refused(status: Int) async throws {
        try await Self.run(30) { app, token in
            app.disk.intercept { request in
                request.url.hasPrefix("https://uploader.test") ? IncomingResponse(status: .init(code: status)) : nil
            }
            let answer = try await app.whileTimePasses { try await app.ask(.put, Self.target, as: token, bytes: [1]) }
            #expect(answer.status == 202)
            let href = try #require(answer.headerFields[.location])
            try await BoundedWait.poll(for: "the operation to fail") {
                app.clock.advance(by: .seconds(2))
                return try await app.get(href, as: token)["data.status"] == "failed"
            }
            let prefer: HTTPFields = [.prefer: "respond-async"]
            let left = try await app.whileTimePasses {
                try await app.ask(.put, "/v1/disk/file/content?path=/b.bin", as: token, prefer, bytes: [1])
            }
            try await app.outbox(try left.string("data.href"), is: status == 413 ? "failed" : "waiting", as: token)
        }
    }

    @Test("DISK-40 an identical retry after an unknown outcome is done; other content, or If-None-Match, is refused")
    func identical() async throws {
        try await DiskHarness.run(WriteScenario.disk()) { app, disk, token in
            disk.intercept { [unowned disk] (request) throws(UpstreamError) in
                if request.url.hasPrefix("https://uploader.test") {
                    disk.carryOut(request)
                    throw .unreachable(.reset)
                }
                // It cannot be looked at.
                let isLook = request.url.contains("/resources?path=disk%3A%2Fnew.bin")
                return isLook ? .json("{}", status: .badGateway) : nil
            }
            let first = try await app.ask(.put, Self.target, as: token, bytes: Self.bytes)
            first.expectProblem("outcome-unknown", 502)
            disk.intercept(nil)
            for overwrite in ["", "&overwrite=0"] {
                let retry = try await app.ask(.put, Self.target + overwrite, as: token, bytes: Self.bytes)
                #expect(retry.status == 201 && retry["data.path"] == "disk:/new.bin", "\(retry.text)")
                #expect(retry.headerFields[.location] == "/v1/disk/file?path=disk%3A%2Fnew.bin")
                #expect(retry.headerFields[.eTag] == "\"\(FakeYandexDisk.md5(Self.bytes))\"")
            }
            Self.expectSentOnce(app)
            var others = [[], Array(Self.bytes.dropLast()), Self.bytes + [1], Self.bytes]
            others[3][100_000] ^= 1
            for other in others {
                try await app.ask(.put, Self.target, as: token, bytes: other).expectProblem("target-exists", 409)
            }
            try await app.ask(.put, Self.target, as: token, [.ifNoneMatch: "*"], bytes: Self.bytes)
                .expectProblem("precondition-failed", 412)
            try await app.ask(.put, "/v1/disk/file/content?path=/folder", as: token, bytes: [])
                .expectProblem("target-exists", 409)
            Self.expectSentOnce(app)
        }
    }

    @Test("DISK-40 a form is no content of a file: 415 says how to send it, and nothing is stored")
    func forms() async throws {
        try await DiskHarness.run(WriteScenario.disk()) { app, disk, token in
            let sent = disk.requests.count
            for type in ["multipart/form-data; boundary=b", "application/x-www-form-urlencoded", "Multipart/Form-Data"]
            {
                let answer = try await app.ask(
                    .put,
                    Self.target,
                    as: token,
                    [.contentType: type],
                    body: Data("--b\r\n\r\nx\r\n--b--".utf8)
                )
                answer.expectProblem("unsupported-media-type", 415)
                #expect(try answer.string("detail").contains("application/octet-stream"))
            }
            #expect(disk.requests.count == sent)
            for type in ["text/html", "multipart/related", "image/png"] {
                let name = type.replacing("/", with: ".")
                let answer = try await app.ask(
                    .put,
                    "/v1/disk/file/content?path=/\(name)",
                    as: token,
                    [.contentType: type],
                    body: Data([1])
                )
                #expect(answer.status == 201, "\(type)")
            }
        }
    }
}

extension AppHarness<DiskApp, FakeYandexDisk> {
    /// Lets the clock run until a request has its response.
    func whileTimePasses(_ request: @escaping @Sendable () async throws -> Exchanged) async throws -> Exchanged {
        let answer = Task { try await request() }
        let isOver = Mutex(false)
        Task {
            _ = await answer.result
            isOver.withLock { $0 = true }
        }
        await BoundedWait.poll(for: "the response") {
            clock.advance(by: .milliseconds(100))
            return isOver.withLock { $0 }
        }
        return try await answer.value
    }
}
