import Foundation
import GRDB
import Storage
import TestKit
import Testing

@testable import Cluster

@Suite(.timeLimit(.minutes(5))) struct JournalTests {
    /// Runs a write at random on a server.
    private func operate(_ server: JournalServer, _ random: inout SeededRandom) async throws {
        let kind = Int.random(in: 0..<100, using: &random)
        let number = Int.random(in: 0..<40, using: &random)
        let people = try server.database.read { try Int64.fetchAll($0, sql: "SELECT id FROM person") }
        guard let person = people.randomElement(using: &random), kind >= 12 else {
            try await Harbour.register("name \(number)", on: server)
            return
        }
        let x = Double(number) * 2.5
        switch kind {
        case ..<35: _ = try await Harbour.hide(number, for: number % 3, on: server)
        case ..<75: try await Harbour.add("word\(number % 10) Grüße", x, for: person, on: server)
        case ..<85: try await Harbour.edit("word\(number % 10) once more", for: person, on: server)
        case ..<96: try await Harbour.drop(for: person, on: server)
        default: try await Harbour.remove(person, on: server)
        }
    }

    @Test("Random writes on three servers make equal files, and a fourth server makes the same of the journal")
    func alike() async throws {
        let cluster = try await JournalCluster()
        let servers = [
            try await cluster.server("a"), try await cluster.server("b"), try await cluster.server("c"),
        ]
        try await servers.enumerated().concurrentMap { (index, server) in
            var random = SeededRandom(seed: UInt64(index + 1))
            for _ in 0..<250 { try await self.operate(server, &random) }
        }
        for server in servers { try await server.journal.catchUp() }
        let late = try await cluster.server("late")
        let contents = try servers[0].contents()
        for server in servers + [late] {
            #expect(try server.contents() == contents)
            #expect(try server.database.read(Harbour.countsAreRight))
            #expect(server.log.lines == [])
            try server.database.checkIntegrity()
            let broken = try server.database.read { try Row.fetchAll($0, sql: "PRAGMA foreign_key_check").count }
            #expect(broken == 0)
        }
        #expect(contents.count > 100)
    }

    @Test("A server that was away applies what it has missed, in pages, and an opened file goes on where it was")
    func away() async throws {
        let cluster = try await JournalCluster()
        let here = try await cluster.server("here")
        let folder = TemporaryFolder.unmade()
        let person: Int64
        do {
            let gone = try await JournalServer("away", in: cluster, folder: folder)
            person = try #require(try await Harbour.register("ann", on: gone))
            try gone.database.close()
        }
        for number in 0..<520 { try await Harbour.add("word\(number % 10)", 5, for: person, on: here) }
        let back = try await JournalServer("away", in: cluster, folder: folder)
        #expect(try back.contents() == here.contents())
        #expect(try await back.misses(in: cluster) == [])
    }

    @Test("A change is applied by another server soon after, without a read there")
    func listening() async throws {
        let cluster = try await JournalCluster()
        let (one, other) = (try await cluster.server("one"), try await cluster.server("other"))
        let changes = ClusterMessages(cluster.database, node: "other", kept: .seconds(600), logger: .quiet)
        other.journal.listen(to: changes)
        let run = Task {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await changes.run() }
                group.addTask { await other.journal.run() }
                try await group.waitForAll()
            }
        }
        for number in 1...20 { #expect(try await Harbour.count("counter", on: one) == number) }
        try await BoundedWait.poll(for: "the change") { try Harbour.counter("counter", on: other) == 20 }
        run.cancel()
        try await run.value
    }

    @Test("Reads within the kept time ask for nothing; after it they see what others wrote")
    func fresh() async throws {
        let cluster = try await JournalCluster()
        let clock = Watched(ContinuousClock.now)
        let (one, other) = (try await cluster.server("one"), try await cluster.server("other"))
        let journal = Journal(
            of: other.database,
            in: PostgresDatabase(cluster.options, logger: .quiet),
            tables: Harbour.tables,
            server: "other",
            schema: 1,
            logger: .quiet,
            now: { clock.value }
        )
        #expect(journal.age == nil)
        try await journal.catchUp(unlessWithin: .seconds(1))
        try await Harbour.count("counter", on: one)
        clock.update { $0 += .milliseconds(900) }
        try await journal.catchUp(unlessWithin: .seconds(1))
        #expect(try Harbour.counter("counter", on: other) == nil && journal.age == .milliseconds(900))
        clock.update { $0 += .milliseconds(100) }
        try await journal.catchUp(unlessWithin: .seconds(1))
        #expect(try Harbour.counter("counter", on: other) == 1 && journal.age == .zero)
    }

    @Test("A damaged row stops a server: the error names number and scope, nothing after it is applied, a repair helps")
    func damaged() async throws {
        let cluster = try await JournalCluster()
        let (one, other) = (try await cluster.server("one"), try await cluster.server("other"))
        for scope in ["first", "second", "third"] { try await Harbour.count(scope, on: one) }
        let number = try await cluster.numbers()[1]
        let flip =
            "UPDATE journal SET changeset = set_byte(changeset, 20, get_byte(changeset, 20) # 1) WHERE number = $1"
        try await cluster.execute(flip, [number])
        let stop = JournalStop(number: number, scope: "second", reason: .damaged(.checksum))
        for _ in 0..<2 {
            await #expect(throws: JournalError.stopped(stop)) { try await other.journal.catchUp() }
        }
        await #expect(throws: JournalError.stopped(stop)) { try await Harbour.count("fourth", on: other) }
        #expect(try Harbour.counter("first", on: other) == 1)
        #expect(try Harbour.counter("second", on: other) == nil && Harbour.counter("third", on: other) == nil)
        #expect(other.journal.stop == stop)
        #expect(other.log.lines.count == 1)
        #expect(other.log.lines[0].contains("\(number)") && other.log.lines[0].contains("second"))
        // The writer has applied its own rows; the others are served.
        try await Harbour.count("first", on: one)
        try await cluster.execute(flip, [number])
        #expect(try await Harbour.count("first", on: other) == 3)
        try await one.journal.catchUp()
        #expect(try other.contents() == one.contents() && other.journal.stop == nil)
    }

    @Test("A missing row of the journal, and one of another journal, stop a server as well")
    func wrong() async throws {
        let cluster = try await JournalCluster()
        let one = try await cluster.server("one")
        let folder = TemporaryFolder.unmade()
        let numbers: [Int64]
        do {
            let other = try await JournalServer("other", in: cluster, folder: folder)
            for _ in 0..<3 { try await Harbour.count("counter", on: one) }
            numbers = try await cluster.numbers()
            try await cluster.execute("DELETE FROM journal WHERE number = $1", [numbers[1]])
            let gap = JournalStop.Reason.gap(applied: 0, previous: numbers[1])
            let stop = JournalStop(number: numbers[2], scope: "counter", reason: gap)
            try await cluster.execute("DELETE FROM journal WHERE number = $1", [numbers[0]])
            await #expect(throws: JournalError.stopped(stop)) { try await other.journal.catchUp() }
            try other.database.close()
        }

        let error = await #expect(throws: JournalError.self) {
            _ = try await JournalServer("other", in: JournalCluster(), folder: folder)
        }
        guard case .otherJournal = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("A server that ends between commit and applying finds its write in the journal")
    func killed() async throws {
        let cluster = try await JournalCluster()
        let folder = TemporaryFolder.unmade()
        do {
            let server = try await JournalServer("server", in: cluster, folder: folder)
            try await Harbour.count("counter", on: server)
            let committed = try await server.journal.commit(scope: "ships", locks: ["ships"], id: UUID()) { db in
                try db.execute(sql: "INSERT INTO ship_revision VALUES (1, 7)")
            }
            #expect(committed.row != nil)
            #expect(try server.database.integer("SELECT last FROM ship_revision") == nil)
            try server.database.close()
        }
        let again = try await JournalServer("server", in: cluster, folder: folder)
        #expect(try again.database.integer("SELECT last FROM ship_revision") == 7)
        #expect(try await again.misses(in: cluster) == [])
    }

    @Test("16 writers of one scope and of different ones, on two servers: no update is lost, none waits for ever")
    func concurrent() async throws {
        let cluster = try await JournalCluster()
        let servers = [try await cluster.server("one"), try await cluster.server("other")]
        try await (0..<16).concurrentMap { writer in
            for _ in 0..<10 {
                try await Harbour.count("all", on: servers[writer % 2])
                try await Harbour.count("writer \(writer)", on: servers[writer % 2])
                // Two scopes, which others take in the other order.
                let pair = writer % 4 < 2 ? ["left", "right"] : ["right", "left"]
                try await servers[writer % 2].journal.write(scope: pair[0], locks: [pair[1]]) { db in
                    try db.execute(
                        sql: """
                            INSERT INTO hidden_ship VALUES ('pair', 'counter', 1)
                            ON CONFLICT DO UPDATE SET revision = revision + 1
                            """
                    )
                }
            }
        }
        for server in servers {
            try await server.journal.catchUp()
            #expect(try Harbour.counter("all", on: server) == 160)
            #expect(try Harbour.counter("pair", on: server) == 160)
            for writer in 0..<16 { #expect(try Harbour.counter("writer \(writer)", on: server) == 10) }
        }
        #expect(try servers[0].contents() == servers[1].contents())
    }

    @Test("One name registered on two servers at once is one person's; rowids of the servers are different ones")
    func names() async throws {
        let cluster = try await JournalCluster()
        let servers = [try await cluster.server("one"), try await cluster.server("other")]
        var ids: [Int64] = []
        for number in 0..<20 {
            async let first = Harbour.register("name \(number)", on: servers[0])
            async let second = Harbour.register("name \(number)", on: servers[1])
            let made = try await [first, second].compactMap(\.self)
            #expect(made.count == 1)
            ids += made
        }
        #expect(Set(ids).count == 20)
        let many = try await servers[0].journal.write(scope: "many") { [servers] _ in
            try (0..<3000).map { _ in try servers[0].journal.nextRowID(of: "note") }
        }
        #expect(Set(many).count == 3000 && many == many.sorted())
    }

    @Test("A write that changes nothing, or fails, leaves no row; one id is written once")
    func once() async throws {
        struct Failed: Error {}
        let cluster = try await JournalCluster()
        let server = try await cluster.server("one")
        let id = UUID()
        try await server.journal.write(scope: "ships", id: id) { db in
            try db.execute(sql: "INSERT INTO ship_revision VALUES (1, 7)")
        }
        await #expect(throws: JournalError.alreadyWritten(id)) {
            try await server.journal.write(scope: "other", id: id) { db in
                try db.execute(sql: "UPDATE ship_revision SET last = 8")
            }
        }
        await #expect(throws: Failed.self) {
            try await server.journal.write(scope: "ships") { db in
                try db.execute(sql: "UPDATE ship_revision SET last = 9")
                throw Failed()
            }
        }
        let last = try await server.journal.write(scope: "ships") { db in
            try db.execute(sql: "UPDATE ship_revision SET last = 7")
            return try Int.fetchOne(db, sql: "SELECT last FROM ship_revision")
        }
        #expect(last == 7)
        #expect(try await cluster.numbers().count == 1)
    }
}

extension JournalServer {
    /// The rows of the journal that the file has not read.
    fileprivate func misses(in cluster: JournalCluster) async throws -> [Int64] {
        let file = JournalFile(database: database, tables: Harbour.tables, schema: 1)
        let position = try file.position()
        return try await cluster.numbers().filter(position.misses)
    }
}
