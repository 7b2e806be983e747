import Cluster
import Foundation
import GRDB
import Screens
import Storage
import TestKit
import Testing
import Upstream

@testable import Disk

private let now = DiskNode.noon

@Suite("Writes that wait, of one server and of several", .timeLimit(.minutes(10)))
struct OutboxOfServersTests {
    @Test(
        "Operations are in order, change, end and go; a hundred of those that are done are kept",
        arguments: StoreKind.allCases
    )
    func journal(kind: StoreKind) async throws {
        let server = try await DiskNode.loggedIn(kind)
        for number in 0..<104 { try await server.put("\(number)") }
        #expect(server.waiting == (0..<104).map(String.init))
        try await server.apply(.began, .lost("cut"), to: "7")
        let seven = try #require(server.cache.outbox.entry("7", of: "1130"))
        #expect(seven.progress.isOutcomeUnknown && seven.progress.reason == "cut" && seven.progress.attempts == 1)
        #expect(try await server.finished("7")?.progress == seven.progress, "as it is stored")
        try await server.remove("3")
        #expect(try await server.finished("3") == nil)
        for number in 0..<104 where number != 3 {
            try await server.apply(.began, .succeeded, to: "\(number)")
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
        let one = try await DiskNode.loggedIn(.postgresql)
        let other = try await one.other()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask { try await one.put("one \(number)") }
                group.addTask { try await other.put("other \(number)") }
            }
            try await group.waitForAll()
        }
        try await one.cache.catchUp("1130")
        try await other.cache.catchUp("1130")
        #expect(one.waiting.count == 40 && one.waiting == other.waiting)
        let restarted = try await one.other()
        #expect(restarted.waiting == one.waiting)
        try await one.logOut()
        try await one.logIn()
        try await one.put("new")
        try await other.cache.catchUp("1130")
        #expect(one.waiting == ["new"] && other.waiting == ["new"])
    }

    @Test("SCALE-04 Change by change a server has the operations as one that reads all at once", arguments: 0..<4)
    func following(seed: Int) async throws {
        var random = SeededRandom(seed: UInt64(seed))
        let one = try await DiskNode.loggedIn(.postgresql)
        let servers = [one, try await one.other()]
        var count = 0
        for step in 0..<80 {
            let server = servers[Int.random(in: 0...1, using: &random)]
            let kind = Int.random(in: 0..<8, using: &random)
            var work: [OutboxEntry<QueuedWrite>] = []
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let write = QueuedWrite(kind: .folder, path: .at("/\(count)"))
                work.append(OutboxEntry(id: "\(count)", account: "1130", work: write, queuedAt: now))
                count += 1
            }
            let (new, some) = (work, random.next())
            _ = try await server.cache.change(of: "1130", by: .user) { [cache = server.cache] _ in
                let entries = cache.outbox.queue(of: "1130").map { Array($0.entries) } ?? []
                guard kind > 2, !entries.isEmpty else {
                    return OutboxDecision(changes: new.map(OutboxChange.put), shown: new[0])
                }
                let first = Int(some % UInt64(entries.count))
                let changes = entries[first...].prefix(6).map { entry -> OutboxChange<QueuedWrite> in
                    var entry = entry
                    if kind == 3 { return .remove(entry) }
                    _ = entry.progress.apply(.began, at: now)
                    _ = entry.progress.apply(kind == 4 ? .lost("cut") : .succeeded, at: now)
                    return .put(entry)
                }
                return OutboxDecision(changes: changes, shown: changes[0].entry)
            }
            guard step % 4 == 3 else { continue }
            for server in servers { try await server.cache.catchUp("1130") }
            #expect(servers[0].operations == servers[1].operations)
        }
        #expect(try await one.other().operations == one.operations)
        #expect(servers[1].cache.pendingView(of: "1130")?.1.bytes == one.cache.pendingView(of: "1130")?.1.bytes)
    }

    @Test("OUT-02 One server sends; what it was sending when it went away is doubtful for the one that takes over")
    func lease() async throws {
        let one = try await DiskNode.loggedIn(.postgresql)
        let other = try await one.other()
        try await one.put("a")
        try await one.put("b")
        #expect(try await one.begin())
        try await one.apply(.began, to: "a", by: .sender)
        #expect(try await other.begin() == false, "the first has it")
        #expect(one.cache.outbox.entry("a", of: "1130")?.progress.state == .running)
        try one.cache.checkIsSender(of: "1130")
        #expect(throws: LeaseLost.self) { try other.cache.checkIsSender(of: "1130") }
        try await one.endLeases()
        #expect(try await other.begin())
        let taken = try #require(other.cache.outbox.entry("a", of: "1130"))
        #expect(taken.progress.isOutcomeUnknown && taken.progress.state == .waiting)
        await #expect(throws: LeaseLost.self) { _ = try await one.finish("a") }
        await #expect(throws: LeaseLost.self) { try await one.apply(.refused("late"), to: "a", by: .sender) }
        try await other.apply(.began, to: "a", by: .sender)
        #expect(try await other.finish("a") != nil)
        #expect(other.waiting == ["b"] && other.cache.outbox.entry("b", of: "1130")?.progress.state == .running)
        await other.cache.endSending(of: "1130")
        #expect(try await one.begin())
        #expect(one.waiting == ["b"] && one.cache.outbox.entry("b", of: "1130")?.progress.isOutcomeUnknown == true)
    }

    @Test("OUT-02 Who loses the lease while it sends ends", .timeLimit(.minutes(1)))
    func lostLease() async throws {
        let one = try await DiskNode.loggedIn(.postgresql)
        let other = try await one.other()
        try await one.put("a")
        let pause = try await one.cache.sending("1130", at: now) {
            let refused = try await other.cache.sending("1130", at: now) { Issue.record("two at once") }
            #expect(refused != nil)
            try await one.endLeases()
            #expect(try await other.begin())
            try await one.apply(.began, to: "a", by: .sender)
        }
        #expect(pause != nil)
        #expect(other.cache.outbox.entry("a", of: "1130")?.progress.state == .queued)
    }

    @Test("OUT-03 Bytes of an upload are read on each server, as long as it waits", arguments: [0, 1, 100_000])
    func uploads(count: Int) async throws {
        let one = try await DiskNode.loggedIn(.postgresql)
        let other = try await one.other()
        let bytes = Data(String(repeating: "fifteen bytes, ", count: count).utf8)
        let upload = try one.cache.database.blobs.write(bytes)
        try await one.put("a", by: .client(upload: upload)) { $0.blob = upload }
        #expect(try await one.cache.users.reader(upload).readAll() == bytes)
        try await other.cache.catchUp("1130")
        let blob = try #require(other.cache.outbox.entry("a", of: "1130")?.blob)
        #expect(try await other.cache.users.reader(blob).readAll() == bytes)
        #expect(try await one.contents() == 1)
        let unused = try one.cache.database.blobs.write(bytes)
        try await one.put("b", by: .client(upload: unused))
        #expect(try await one.contents() == 1, "no operation has it")
        try await one.apply(.began, .succeeded, to: "a")
        #expect(try await one.contents() == 0)
        let taken = try one.cache.database.blobs.write(bytes)
        try await one.put("c", by: .client(upload: taken)) { $0.blob = taken }
        try await other.cache.catchUp("1130")
        #expect(try await other.cache.users.reader(taken).readAll() == bytes)
        try await one.remove("c")
        try await other.cache.catchUp("1130")
        // Of an empty file nothing is asked for.
        guard count > 0 else { return }
        await #expect(throws: StorageError.self) { _ = try await other.cache.users.reader(taken) }
    }

    @Test("SCALE-06 A logout removes what waits, with its bytes, on all servers")
    func logout() async throws {
        let one = try await DiskNode.loggedIn(.postgresql)
        let other = try await one.other()
        let upload = try one.cache.database.blobs.write(Data(count: 100))
        try await one.put("a", by: .client(upload: upload)) { $0.blob = upload }
        try await other.cache.catchUp("1130")
        #expect(other.waiting == ["a"])
        try await one.logOut()
        #expect(try await one.contents() == 0)
        try await other.cache.catchUp("1130")
        #expect(one.waiting.isEmpty && other.waiting.isEmpty)
        let late = try await one.cache.change(of: "1130", by: .user) { _ in
            Issue.record("it is logged out")
            return nil
        }
        #expect(late == nil)
    }

    @Test("A login lets operations be tried again that wait for an accepted token", arguments: StoreKind.allCases)
    func login(kind: StoreKind) async throws {
        let server = try await DiskNode.loggedIn(kind)
        for id in ["a", "b"] { try await server.put(id) }
        try await server.apply(.began, .delayed("upstream-session-expired", for: 3600), to: "a")
        try await server.apply(.began, .delayed("rate-limited", for: 3600), to: "b")
        try await server.logIn()
        try await server.cache.catchUp("1130")
        #expect(server.cache.outbox.entry("a", of: "1130")?.progress.state == .queued)
        #expect(server.cache.outbox.entry("b", of: "1130")?.progress.state == .waiting)
    }

    @Test("OUT-02 SCALE-07 Servers that end at any moment: each operation is done once, in order", arguments: 0..<6)
    func kills(seed: Int) async throws {
        var random = SeededRandom(seed: UInt64(seed))
        var server = try await DiskNode.loggedIn(.postgresql)
        let names = (0..<12).map { "\($0)" }
        var (queued, done, kills) = (0, [String](), 0)
        while queued < names.count || !server.waiting.isEmpty {
            if queued < names.count, Bool.random(using: &random) || server.waiting.isEmpty {
                try await server.put(names[queued])
                queued += 1
                continue
            }
            // The moment at which the sending server ends, one of four; it continues if the number is 4 or more.
            let end = Int.random(in: 0..<8, using: &random)
            #expect(try await server.begin())
            if end != 0 {
                let next = try #require(server.cache.outbox.queue(of: "1130")?.entries.first)
                try await server.apply(.began, to: next.id, by: .sender)
                // A write whose outcome is unknown is looked for at the API before it is sent.
                let isDone = next.progress.isOutcomeUnknown && done.contains(next.id)
                if end != 1, !isDone { done.append(next.id) }
                if end > 2 { #expect(try await server.finish(next.id) != nil) }
            }
            try await server.endLeases()
            guard end < 4 else { continue }
            kills += 1
            server = try await server.other()
        }
        #expect(done == names && kills > 0)
    }

    @Test("OUT-02 A server that starts knows what waits, and leaves alone what another one sends")
    func start() async throws {
        let one = try await DiskNode.loggedIn(.postgresql)
        for id in ["a", "b"] { try await one.put(id) }
        #expect(try await one.begin())
        try await one.apply(.began, to: "a", by: .sender)
        let directory = try DataDirectory.temporary()
        for _ in 0..<2 {
            // The second time it has the rows from its beginning.
            let other = try DiskNode(#require(one.access).otherServer(), in: directory)
            try await other.cache.catchUp("1130")
            #expect(other.operations == one.operations)
            #expect(other.cache.begun(of: "1130")?.progress.isOutcomeUnknown == false)
            #expect(try await !other.begin())
        }
        try await one.apply(.refused("no"), to: "a", by: .sender)
        #expect(one.cache.outbox.entry("a", of: "1130")?.progress.state == .failed)
    }

    @Test("OUT-02 What ends on one server has ended on the other, with the change of files that it was")
    func ends() async throws {
        let one = try await DiskNode.loggedIn(.postgresql)
        let other = try await one.other()
        try await one.put("a")
        try await other.cache.catchUp("1130")
        #expect(try await one.begin())
        try await one.apply(.began, to: "a", by: .sender)
        let applied = try #require(try await one.finish("a"))
        #expect(one.waiting.isEmpty)
        // Of the journal it has both or neither.
        _ = try await other.cache.users.catchUp()
        try other.cache.followOutbox(of: "1130")
        #expect(other.waiting.isEmpty)
        #expect(try await other.finished("a")?.progress.state == .done)
        try await other.cache.catchUp("1130")
        #expect(try other.cache.account("1130")?.epoch == applied.epoch)
    }

    @Test("SCALE-04 Operations are numbered by account, in the order in which they were accepted by any server")
    func numbers() async throws {
        let one = try await DiskNode.loggedIn(.postgresql)
        let other = try await one.other()
        for number in 0..<6 { try await (number % 2 == 0 ? one : other).put("\(number)") }
        try await one.cache.catchUp("1130")
        let entries = try #require(one.cache.outbox.queue(of: "1130")?.entries)
        #expect(entries.map(\.id) == (0..<6).map(String.init) && entries.map(\.number) == Array(1...6))
        try await other.logIn("7")
        let write = QueuedWrite(kind: .folder, path: .at("/new"))
        let entry = OutboxEntry(id: "first", account: "7", work: write, queuedAt: now)
        let put = try await other.cache.change(of: "7", by: .user) { _ in
            OutboxDecision(changes: [.put(entry)], shown: entry)
        }
        #expect(put?.entry.number == 1)
    }

    @Test("SCALE-06 A logout drops more writes than one change of several servers can have")
    func longOutbox() async throws {
        let one = try await DiskNode.loggedIn(.postgresql)
        let name = Array(repeating: String(repeating: "n", count: 200), count: 12).joined(separator: "/")
        for part in 0..<4 {
            let entries = (0..<500).map { number in
                let write = QueuedWrite(kind: .folder, path: .at("/\(part) \(number) \(name)"))
                return OutboxEntry(id: "\(part) \(number)", account: "1130", work: write, queuedAt: now)
            }
            _ = try await one.cache.change(of: "1130", by: .user) { _ in
                OutboxDecision(changes: entries.map(OutboxChange.put), shown: entries[0])
            }
        }
        #expect(one.waiting.count == 2000)
        try await one.logOut()
        #expect(one.waiting.isEmpty)
        try await one.logIn()
        #expect(try await one.other().waiting.isEmpty)
    }

    @Test("SCALE-23 While PostgreSQL is away, waiting writes stay known, and nothing is left or sent; then all goes on")
    func storeAway() async throws {
        let postgres = try await RunningPostgres.start()
        let one = try DiskNode(try await DiskNode.store(on: postgres))
        try await one.logIn()
        let other = try await one.other()
        try await one.put("a")
        try await other.cache.catchUp("1130")
        try postgres.stop("immediate")
        #expect(try await other.cache.catchUp("1130") != nil)
        #expect(other.waiting == ["a"])
        await #expect(throws: ClusterError.self) { try await other.put("b") }
        await #expect(throws: ClusterError.self) {
            _ = try await other.cache.sending("1130", at: now) { Issue.record("it is not the sender") }
        }
        #expect(throws: LeaseLost.self) { try other.cache.checkIsSender(of: "1130") }
        try postgres.restart()
        try await BoundedWait.poll(for: "the store") { try await other.cache.catchUp("1130") == nil }
        try await other.put("c")
        try await one.cache.catchUp("1130")
        #expect(one.waiting == ["a", "c"])
        #expect(try await other.cache.sending("1130", at: now) { try other.cache.checkIsSender(of: "1130") } == nil)
    }
}
