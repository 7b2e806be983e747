import Foundation
import HTTP
import HTTPTypes
import Screens
import Storage
import TestKit
import Testing
import Upstream

@testable import Disk

/// Many writes that wait. `script/check-outbox --operations 10000` measures the same in seconds.
@Suite("The outbox under load", .timeLimit(.minutes(5)))
struct OutboxLoadTests {
    private static let count = 20
    /// How long a request takes. Nothing else advances the clock.
    private static let latency = Duration.milliseconds(100)

    /// Sends a write of a kind to an item of a folder.
    private static func send(
        _ kind: String,
        _ folder: String,
        _ number: Int,
        _ app: DiskHarness,
        _ token: String,
        _ fields: HTTPFields = [:]
    ) async throws -> Exchanged {
        let path = "/\(folder)/\(number).txt"
        let file = "/v1/disk/file?path=\(path)"
        func ask(_ method: HTTPRequest.Method, _ target: String, _ json: String? = nil) async throws -> Exchanged {
            try await app.ask(method, target, as: token, fields, json: json)
        }
        switch kind {
        case "folder": return try await ask(.post, "/v1/disk/folders", #"{"path":"/\#(folder)/new \#(number)"}"#)
        case "upload":
            let target = "/v1/disk/file/content?path=/\(folder)/new\(number)"
            return try await app.ask(.put, target, as: token, fields, bytes: [1])
        case "rename": return try await ask(.patch, file, #"{"name":"renamed \#(number)"}"#)
        case "move":
            let to = "/to/\(folder) \(number)"
            return try await ask(.post, "/v1/disk/files/move", #"{"from":"\#(path)","to":"\#(to)"}"#)
        case "publish": return try await ask(.post, "/v1/disk/links", #"{"path":"\#(path)"}"#)
        case "unpublish": return try await ask(.delete, "/v1/disk/published?path=\(path)")
        default: return try await ask(.delete, file)
        }
    }

    private static func disk(isPublished: Bool) -> FakeYandexDisk {
        let disk = FakeYandexDisk()
        for folder in ["called", "left", "to"] { disk.makeFolder("disk:/\(folder)") }
        for path in (0..<count).flatMap({ ["disk:/called/\($0).txt", "disk:/left/\($0).txt"] }) {
            disk.put(path)
            if isPublished { disk.change { $0.nodes[path]?.publicURL = "https://yadi.sk/d/\(path.utf8.count)" } }
        }
        return disk
    }

    @Test(
        "OUT-11 By a clock that only requests advance, the queue drains at 0.8 times the rate of the same calls",
        arguments: ["folder", "upload", "rename", "move", "publish", "unpublish", "delete"]
    )
    func rate(kind: String) async throws {
        let disk = Self.disk(isPublished: kind == "unpublish")
        try await DiskHarness.run(disk) { app in
            let token = try await app.logIn()
            for folder in ["", "called", "left", "to"] {
                #expect(try await app.get("/v1/disk/files?path=/\(folder)&limit=100", as: token).status == 200)
            }
            // When the first request of a write was sent.
            let (clock, begin) = (app.clock, Watched<Date?>(nil))
            disk.onTheWay { request in
                let isOfWrite = request.method != .get || request.url.contains("/upload")
                if isOfWrite { begin.update { $0 = $0 ?? clock.now } }
                clock.advance(by: Self.latency)
            }
            let start = clock.now
            for number in 0..<Self.count {
                let made = try await Self.send(kind, "called", number, app, token)
                #expect(made.status < 300 && made.status != 202, "\(made.text)")
            }
            let called = clock.now.timeIntervalSince(start)
            disk.goAway()
            _ = try await app.get("/v1/disk/files?refresh=1", as: token)
            for number in 0..<Self.count {
                let left = try await Self.send(kind, "left", number, app, token, [.prefer: "respond-async"])
                #expect(left.status == 202, "\(left.text)")
            }
            begin.update { $0 = nil }
            disk.intercept(nil)
            await BoundedWait.poll(for: "the first write to be sent") {
                if begin.value == nil { clock.advance(by: Self.latency) }
                return begin.value != nil
            }
            await BoundedWait.poll(for: "the outbox to drain, without a pause") { app.store.outbox.accounts.isEmpty }
            let sent = clock.now.timeIntervalSince(try #require(begin.value))
            #expect(called / sent >= 0.8, "\(called) s one after another, \(sent) s by the outbox")
        }
    }

    private static let screens = [
        "files?path=/&limit=20", "files?path=/called&limit=20&offset=5", "files?path=/called&limit=20&sort=-size",
        "recent?limit=20", "published?limit=20", "search?q=queued&limit=20", "search?q=nothing&limit=20",
        "file?path=/called/3.txt", "profile", "outbox?limit=20",
    ]

    /// Queues writes as the store does, in one transaction.
    private static func leave(_ count: Int, _ app: DiskHarness) async throws {
        let store = app.store
        let changes = (0..<count).map { number in
            let folder = ["/called", "/left", ""][number % 3]
            let work = QueuedWrite(kind: .folder, path: .at("\(folder)/queued \(number)"))
            return OutboxChange.put(
                OutboxEntry(id: "\(number)", account: "1130", work: work, queuedAt: Date(timeIntervalSince1970: 0))
            )
        }
        try await app.database.write { db in _ = try store.change(changes, account: "1130", db) }
    }

    @Test("OUT-11 With 10,000 writes that wait, screens run 1.5 times the statements at most, and wait for nothing")
    func screens() async throws {
        let disk = Self.disk(isPublished: true)
        try await DiskHarness.run(disk) { app in
            let token = try await app.logIn()
            for screen in Self.screens { #expect(try await app.get("/v1/disk/\(screen)", as: token).status == 200) }
            disk.goAway()
            _ = try await app.get("/v1/disk/files?refresh=1", as: token)
            func costs() async throws -> [Int] {
                var costs: [Int] = []
                for screen in Self.screens {
                    // The first one sorts the list, once.
                    for _ in 0..<2 { #expect(try await app.get("/v1/disk/\(screen)", as: token).status == 200) }
                    let ran = try await app.statements.statements {
                        _ = try await app.get("/v1/disk/\(screen)", as: token)
                    }
                    costs.append(ran.count)
                }
                return costs
            }
            let before = try await costs()
            try await Self.leave(10_000, app)
            let (start, requests) = (app.clock.now, disk.requests.count)
            let after = try await costs()
            #expect(app.store.outbox.load.waiting == 10_000)
            for (screen, (one, other)) in zip(Self.screens, zip(before, after)) {
                #expect(Double(other) <= max(Double(one) * 1.5, 4), "\(screen): \(one), then \(other)")
            }
            #expect(app.clock.now == start && disk.requests.count == requests)
        }
    }
}
