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

    /// Returns the path, as the API names it, of the item that a write makes or changes.
    private static func subject(_ kind: String, _ folder: String, _ number: Int) -> String {
        let name = ["folder": "new \(number)", "upload": "new\(number)"][kind] ?? "\(number).txt"
        return "disk:/\(folder)/\(name)"
    }

    /// Sends a write of a kind to an item of a folder.
    private static func send(
        _ kind: String,
        _ folder: String,
        _ number: Int,
        _ app: DiskHarness,
        _ token: String,
        _ fields: HTTPFields = [:]
    ) async throws -> Exchanged {
        let path = String(subject(kind, folder, number).dropFirst("disk:".count))
        let file = "/v1/disk/file?path=\(path)"
        func ask(_ method: HTTPRequest.Method, _ target: String, _ json: String? = nil) async throws -> Exchanged {
            try await app.ask(method, target, as: token, fields, json: json)
        }
        switch kind {
        case "folder": return try await ask(.post, "/v1/disk/folders", #"{"path":"\#(path)"}"#)
        case "upload":
            return try await app.ask(.put, "/v1/disk/file/content?path=\(path)", as: token, fields, bytes: [1])
        case "rename": return try await ask(.patch, file, #"{"name":"renamed \#(number).txt"}"#)
        case "move":
            let to = "/to/\(folder) \(number).txt"
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

    /// Returns the item that a request looks at; nil for another request.
    private static func look(_ request: OutgoingRequest) -> String? {
        guard request.method == .get, request.url.hasPrefix("https://disk.test/v1/disk/resources?"),
            let query = URLComponents(string: request.url)?.queryItems, query.contains(where: { $0.value == "0" })
        else { return nil }
        return query.first { $0.name == "path" }?.value
    }

    /// Whether a request is one of a write, and none of a list that is refreshed on recovery, or a probe.
    private static func isOfWrite(_ request: OutgoingRequest) -> Bool {
        request.method != .get || look(request) != nil
            || ["/resources/upload?", "public-settings"].contains(where: request.url.contains)
    }

    /// Lets the outbox drain: no time passes, and a write looks at its items while the one before it is on its way.
    ///
    /// - Returns: the statements that ran.
    private static func drain(_ kind: String, _ app: DiskHarness, _ disk: FakeYandexDisk) async -> [String] {
        let (looks, writes) = (Watched<Set<String>>([]), Watched(0))
        disk.onTheWay { request in
            if let path = look(request) { looks.update { $0.insert(path) } }
            guard request.method != .get else { return }
            writes.update { $0 += 1 }
            let next = subject(kind, "left", writes.value)
            guard kind != "delete", writes.value < count else { return }
            await looks.until("a look at \(next)") { $0.contains(next) }
        }
        let ran = await app.statements.statements {
            disk.intercept(nil)
            await BoundedWait.poll(for: "the first write to be sent") {
                if writes.value == 0 { app.clock.advance(by: .seconds(1)) }
                return writes.value > 0
            }
            let start = app.clock.now
            await BoundedWait.poll(for: "the outbox to drain") { app.store.outbox.accounts.isEmpty }
            #expect(app.clock.now == start)
        }
        #expect(writes.value == count)
        return ran
    }

    @Test(
        "OUT-11 the queue drains at 0.8 times the rate of the same calls, in one transaction each, and waits for nothing",
        arguments: ["folder", "upload", "rename", "move", "publish", "unpublish", "delete"]
    )
    func rate(kind: String) async throws {
        try await DiskHarness.run(Self.disk(isPublished: kind == "unpublish")) { app, disk, token in
            for folder in ["", "called", "left", "to"] {
                #expect(try await app.get("/v1/disk/files?path=/\(folder)&limit=100", as: token).status == 200)
            }
            let before = disk.requests.count
            for number in 0..<Self.count {
                let made = try await Self.send(kind, "called", number, app, token)
                #expect(made.status < 300 && made.status != 202, "\(made.text)")
            }
            let called = disk.requests.count - before
            disk.goAway()
            _ = try await app.get("/v1/disk/files?refresh=1", as: token)
            for number in 0..<Self.count {
                let left = try await Self.send(kind, "left", number, app, token, [.prefer: "respond-async"])
                #expect(left.status == 202, "\(left.text)")
            }
            let away = disk.requests.count
            let ran = await Self.drain(kind, app, disk)
            let sent = disk.requests.dropFirst(away).filter(Self.isOfWrite)
            let successive = sent.count { Self.look($0) == nil }
            #expect(Double(called) / Double(successive) >= 0.8, "\(called), then \(successive)")
            let commits = ran.split { $0.hasPrefix("COMMIT") }.count { part in
                part.contains { $0.hasPrefix("INSERT INTO disk_outbox") }
            }
            #expect(commits <= Self.count * (kind == "upload" ? 2 : 1) + 1)
        }
    }

    private static let screens = [
        "files?path=/&limit=20", "files?path=/called&limit=20", "files?path=/called&limit=20&offset=20",
        "files?path=/called&limit=20&sort=-size", "recent?limit=20", "published?limit=20",
        "search?q=queued&limit=20", "search?q=nothing&limit=20", "file?path=/called/3.txt", "profile",
        "outbox?limit=20",
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

    /// Returns how many statements a screen runs, once its list is sorted.
    private static func cost(_ screen: String, _ app: DiskHarness, _ token: String) async throws -> Int {
        for _ in 0..<2 { #expect(try await app.get("/v1/disk/\(screen)", as: token).status == 200) }
        return try await app.statements.statements { _ = try await app.get("/v1/disk/\(screen)", as: token) }.count
    }

    @Test("OUT-11 with 10,000 writes that wait, screens run 1.5 times the statements at most, and wait for nothing")
    func screens() async throws {
        try await DiskHarness.run(Self.disk(isPublished: true)) { app, disk, token in
            for screen in Self.screens { #expect(try await app.get("/v1/disk/\(screen)", as: token).status == 200) }
            disk.goAway()
            _ = try await app.get("/v1/disk/files?refresh=1", as: token)
            var before: [Int] = []
            for screen in Self.screens { before.append(try await Self.cost(screen, app, token)) }
            try await Self.leave(10_000, app)
            let (start, requests) = (app.clock.now, disk.requests.count)
            for (screen, one) in zip(Self.screens, before) {
                let other = try await Self.cost(screen, app, token)
                #expect(Double(other) <= max(Double(one) * 1.5, 4), "\(screen): \(one), then \(other)")
            }
            #expect(app.store.outbox.load.waiting == 10_000)
            #expect(app.clock.now == start && disk.requests.count == requests)
        }
    }

    /// Lets three writes wait in a folder that was read in pages, and measures the costs of its lists.
    ///
    /// - Parameters:
    ///   - limits: Other limits by which its beginning was read.
    ///   - body: Looks at the cost of the second page.
    private static func inPart(
        _ limits: Range<Int>,
        _ body: @escaping @Sendable (_ second: Int) -> Void
    ) async throws {
        try await DiskHarness.run(Self.disk(isPublished: false)) { app, disk, token in
            let list = "files?path=/called&sort=name&limit="
            var names: [String] = []
            for page in limits.map({ "\($0)" }) + ["8", "8&offset=8", "8&offset=16"] {
                let response = try await app.get("/v1/disk/\(list)\(page)", as: token)
                if page.hasPrefix("8") { names += DiskHarness.names(response) }
            }
            disk.goAway()
            _ = try await app.get("/v1/disk/files?refresh=1", as: token)
            for number in 0..<3 {
                _ = try await send("folder", "called", number, app, token, [.prefer: "respond-async"])
            }
            let requests = disk.requests.count
            let first = try await app.get("/v1/disk/\(list)8", as: token)
            #expect(Set(DiskHarness.names(first).prefix(3)) == ["new 0", "new 1", "new 2"])
            #expect(DiskHarness.names(first).dropFirst(3).elementsEqual(names.prefix(5)))
            #expect(first["meta.page.has_more"] == true && first["meta.page.total"] == 23)
            let second = try await app.get("/v1/disk/\(list)8&offset=8", as: token)
            #expect(DiskHarness.names(second).elementsEqual(names[5..<13]))
            body(try await cost("\(list)8&offset=8", app, token))
            #expect(disk.requests.count == requests)
        }
    }

    @Test("OUT-11 a page of rows of two stored ones costs the same however the list was read before")
    func inPart() async throws {
        let seconds = Watched<[Int]>([])
        for limits in [3..<3, 9..<20] {
            try await Self.inPart(limits) { second in seconds.update { $0.append(second) } }
        }
        #expect(seconds.value.last == seconds.value.first, "\(seconds.value)")
    }

    @Test(
        "OUT-11 rows that were moved are read together",
        arguments: ["files?path=/to&limit=20", "search?q=left&limit=20"]
    )
    func moved(screen: String) async throws {
        try await DiskHarness.run(Self.disk(isPublished: false)) { app, disk, token in
            for list in ["files?path=/left&limit=20", screen] {
                #expect(try await app.get("/v1/disk/\(list)", as: token).status == 200)
            }
            disk.goAway()
            _ = try await app.get("/v1/disk/files?refresh=1", as: token)
            var costs: [Int] = []
            for numbers in [0..<3, 3..<Self.count] {
                for number in numbers {
                    _ = try await Self.send("move", "left", number, app, token, [.prefer: "respond-async"])
                }
                costs.append(try await Self.cost(screen, app, token))
            }
            let list = try await app.get("/v1/disk/\(screen)", as: token)
            #expect(DiskHarness.names(list).count == Self.count && costs[1] <= costs[0], "\(costs)")
        }
    }
}
