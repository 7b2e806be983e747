import AppInterface
import Crypto
import Database
import Foundation
import Freshness
import ResponseStore
import Screens
import SharedStore
import TestKit
import Testing
import Upstream

@testable import Disk

private let noon = Date(timeIntervalSince1970: 1_767_700_000)

/// A server with an outbox in its own database, or in a store that it shares.
private struct Server: Sendable {
    let cache: DiskStore
    /// Nil for a server of its own.
    let outbox: SharedOutbox?
    let access: SharedStoreAccess?

    init(_ kind: StoreKind) async throws {
        switch kind {
        case .sqlite: try self.init(nil)
        case .postgresql: try self.init(try await .temporary(SharedLogins.migrations + SharedOutbox.migrations))
        }
        try await logIn()
    }

    /// Another server of the same store, or the same one after a restart.
    func other() async throws -> Server {
        let access = try #require(access)
        let other = try Server(access.otherServer())
        try await other.logins?.catchUp("1130")
        try await other.outbox?.catchUp()
        return other
    }

    private init(_ access: SharedStoreAccess?) throws {
        let database = try LarderDatabase.temporary(migrations: SessionStore.migrations + DiskStore.migrations)
        let secrets = try SealedSecrets(database)
        let hasher = try secrets.credentialHasher()
        let cache = DiskStore(database, secrets: secrets) { hasher.hash($0) }
        (self.cache, self.access) = (cache, access)
        outbox = access.map { access in
            let seal = SharedSeal(key: SymmetricKey(data: Data(repeating: 7, count: 32)))
            let disk = SharedDisk(database: access.database, changes: access.changes, seal: seal, clock: .system)
            return SharedOutbox(shared: disk, cache: cache)
        }
    }

    private var logins: SharedLogins? { outbox.map { SharedLogins(shared: $0.shared, cache: cache) } }

    private var sessions: SessionStore {
        access.map { SessionStore($0.database, $0.changes, cookies: SessionCookies(instance: "local")) }
            ?? SessionStore(cache.database)
    }

    func logIn() async throws {
        let session = Session(app: "disk", kind: .user, account: "1130", name: "anna", createdAt: noon)
        let book: any LoginBook = logins ?? cache
        let token = DiskToken(accessToken: "t")
        let space = DiskSpace(total: 100, used: 10, trash: 1)
        _ = try await book.link(session, space, token, for: .bearer, sessions: sessions)
    }

    func logOut() async throws {
        let book: any LoginBook = logins ?? cache
        _ = try await book.logOut("1130", sessions: sessions)
    }

    /// Puts an operation as memory has it, or a new one, with what `body` changes.
    func put(
        _ id: String,
        isSender: Bool = false,
        _ body: @escaping @Sendable (inout OutboxProgress) -> Void = { _ in }
    )
        async throws
    {
        let decide = { @Sendable [cache] () -> [OutboxChange<QueuedWrite>] in
            let write = QueuedWrite(kind: .folder, path: .at("/\(id)"))
            var entry =
                cache.outbox.entry(id, of: "1130")
                ?? OutboxEntry(id: id, account: "1130", work: write, queuedAt: noon)
            body(&entry.progress)
            return [.put(entry)]
        }
        if let outbox {
            _ = try #require(try await outbox.change(of: "1130", isSender: isSender) { _ in (decide(), ()) })
        } else {
            _ = try await cache.database.write { [cache] db in try cache.change(decide(), account: "1130", db) }
        }
    }

    func remove(_ id: String) async throws {
        let decide = { @Sendable [cache] () -> [OutboxChange<QueuedWrite>] in
            cache.outbox.entry(id, of: "1130").map { [.remove($0)] } ?? []
        }
        if let outbox {
            _ = try await outbox.change(of: "1130") { _ in (decide(), ()) }
        } else {
            _ = try await cache.database.write { [cache] db in try cache.change(decide(), account: "1130", db) }
        }
    }

    func finished(_ id: String) async throws -> OutboxEntry<QueuedWrite>? {
        if let outbox { return try await outbox.finished(id, account: "1130") }
        return try cache.database.read { try cache.outbox.finished(id, account: "1130", $0) }
    }

    /// What waits, as memory has it.
    var waiting: [String] { cache.outbox.queue(of: "1130")?.entries.map(\.id) ?? [] }

    /// Ends the time of all leases.
    func expireLeases() async throws {
        try await access?.database.write(turns: ["test"]) { try $0.execute("UPDATE disk_lease SET until = 0") }
    }
}

@Suite("Writes that wait, in SQLite and in PostgreSQL", .timeLimit(.minutes(3)))
struct SharedOutboxTests {
    @Test(
        "Operations are in order, change, end and go; a hundred of those that are done are kept",
        arguments: StoreKind.allCases
    )
    func journal(kind: StoreKind) async throws {
        let server = try await Server(kind)
        for number in 0..<104 { try await server.put("\(number)") }
        #expect(server.waiting == (0..<104).map(String.init))
        try await server.put("7") {
            _ = $0.apply(.began, at: noon)
            _ = $0.apply(.lost("cut"), at: noon)
        }
        let seven = try #require(server.cache.outbox.entry("7", of: "1130"))
        #expect(seven.progress.isDoubtful && seven.progress.reason == "cut" && seven.progress.attempts == 1)
        #expect(try await server.finished("7")?.progress == seven.progress, "as it is stored")
        try await server.remove("3")
        #expect(try await server.finished("3") == nil)
        for number in 0..<104 where number != 3 {
            try await server.put("\(number)") {
                _ = $0.apply(.began, at: noon)
                _ = $0.apply(.succeeded, at: noon)
            }
        }
        #expect(server.waiting.isEmpty)
        #expect(try await server.finished("2") == nil)
        #expect(try await server.finished("4")?.progress.state == .done)
        try await server.put("last")
        try await server.logOut()
        #expect(server.waiting.isEmpty)
        #expect(try await server.finished("last") == nil)
        #expect(try await server.finished("103") == nil)
    }

    @Test("SCALE-04 Changes by two servers at once are all made, in one order on both; a logout empties both")
    func twoServers() async throws {
        let one = try await Server(.postgresql)
        let other = try await one.other()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask { try await one.put("one \(number)") }
                group.addTask { try await other.put("other \(number)") }
            }
            try await group.waitForAll()
        }
        try await one.outbox?.catchUp("1130")
        try await other.outbox?.catchUp("1130")
        #expect(one.waiting.count == 40 && one.waiting == other.waiting)
        let restarted = try await one.other()
        #expect(restarted.waiting == one.waiting)
        try await one.logOut()
        try await one.logIn()
        try await one.put("new")
        try await other.outbox?.catchUp("1130")
        #expect(one.waiting == ["new"] && other.waiting == ["new"])
    }

    @Test("OUT-02 One server sends; what it was sending when it went away is doubtful for the one that takes over")
    func lease() async throws {
        let one = try await Server(.postgresql)
        let other = try await one.other()
        let (first, second) = (try #require(one.outbox), try #require(other.outbox))
        try await one.put("a")
        try await one.put("b")
        #expect(try await first.beginSending("1130", at: noon))
        try await one.put("a", isSender: true) { _ = $0.apply(.began, at: noon) }
        #expect(try await second.beginSending("1130", at: noon) == false, "the first has it")
        #expect(try await first.beginSending("1130", at: noon), "and renews it")
        #expect(one.cache.outbox.entry("a", of: "1130")?.progress.state == .running)
        try await one.expireLeases()
        #expect(try await second.beginSending("1130", at: noon))
        let taken = try #require(other.cache.outbox.entry("a", of: "1130"))
        #expect(taken.progress.isDoubtful && taken.progress.state == .waiting)
        await #expect(throws: SharedOutbox.NotSender.self) {
            _ = try await first.finish("a", account: "1130", at: noon)
        }
        await #expect(throws: SharedOutbox.NotSender.self) {
            try await one.put("a", isSender: true) { _ = $0.apply(.refused("late"), at: noon) }
        }
        try await other.put("a", isSender: true) { _ = $0.apply(.began, at: noon) }
        #expect(try await second.finish("a", account: "1130", at: noon) != nil)
        #expect(other.waiting == ["b"] && other.cache.outbox.entry("b", of: "1130")?.progress.state == .running)
        try await second.endSending("1130")
        #expect(try await first.beginSending("1130", at: noon))
        #expect(one.waiting == ["b"] && one.cache.outbox.entry("b", of: "1130")?.progress.isDoubtful == true)
    }

    @Test("OUT-02 SCALE-07 Servers that end at any moment: each operation is done once, in order", arguments: 0..<6)
    func kills(seed: Int) async throws {
        var random = SeededRandom(seed: UInt64(seed))
        var server = try await Server(.postgresql)
        let names = (0..<12).map { "\($0)" }
        var (queued, done, kills) = (0, [String](), 0)
        while queued < names.count || !server.waiting.isEmpty {
            if queued < names.count, Bool.random(using: &random) || server.waiting.isEmpty {
                try await server.put(names[queued])
                queued += 1
                continue
            }
            // What happens to the server that sends: at which of four moments it ends, if it does.
            let end = Int.random(in: 0..<8, using: &random)
            let outbox = try #require(server.outbox)
            #expect(try await outbox.beginSending("1130", at: noon))
            if end != 0 {
                let running = server.cache.outbox.queue(of: "1130")?.unsettled.first { $0.progress.state == .running }
                let next = try #require(running ?? server.cache.outbox.queue(of: "1130")?.entries.first)
                if running == nil {
                    try await server.put(next.id, isSender: true) { _ = $0.apply(.began, at: noon) }
                }
                // What is doubtful is looked at before it is sent.
                let isDone = next.progress.isDoubtful && done.contains(next.id)
                if end != 1, !isDone { done.append(next.id) }
                if end > 2 { #expect(try await outbox.finish(next.id, account: "1130", at: noon) != nil) }
            }
            guard end < 4 else { continue }
            kills += 1
            try await server.expireLeases()
            server = try await server.other()
        }
        #expect(done == names && kills > 0)
    }
}
