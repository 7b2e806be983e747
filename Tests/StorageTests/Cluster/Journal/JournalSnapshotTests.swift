import Foundation
import GRDB
import Storage
import TestKit
import Testing

@testable import Cluster

/// The snapshot of a journal takes the place of its older rows (decision 186).
@Suite(.timeLimit(.minutes(5))) struct JournalSnapshotTests {
    /// Cuts whatever is there.
    private static var limits: JournalLimits {
        var limits = JournalLimits()
        (limits.kept, limits.rows) = (0, 0)
        return limits
    }

    private static func server(
        _ name: String,
        in cluster: JournalCluster,
        folder: TemporaryFolder = .unmade(),
        schema: Int = 1
    ) async throws -> JournalServer {
        let server = try await JournalServer(opening: name, in: cluster, folder: folder, schema: schema, limits: limits)
        try await server.journal.prepare()
        return server
    }

    private static func hasRead(_ server: JournalServer) -> Bool {
        server.log.lines.contains { $0.contains("reading the snapshot") }
    }

    /// Makes rows of all tables, and removes some of them.
    private static func fill(_ server: JournalServer, _ name: String) async throws -> Int64 {
        let person = try #require(try await Harbour.register(name, on: server))
        for number in 0..<12 {
            try await Harbour.add("word\(number % 10) of \(name) ё\0", Double(number) * 7.5, for: person, on: server)
        }
        try await Harbour.edit("word9 \(name)", for: person, on: server)
        try await Harbour.drop(for: person, on: server)
        _ = try await Harbour.hide(Int(person), for: 1, on: server)
        return person
    }

    @Test("A new server, one that was away, and one that writes at once begin with the snapshot; the others do not")
    func cut() async throws {
        let cluster = try await JournalCluster()
        let one = try await Self.server("one", in: cluster)
        let away = try await Self.server("away", in: cluster)
        let writer = try await Self.server("writer", in: cluster)
        let first = try await Self.fill(one, "ann")
        try await away.journal.catchUp()
        try await writer.journal.catchUp()
        try await Harbour.remove(first, on: one)
        let person = try await Self.fill(one, "bob")
        let current = try await Self.server("current", in: cluster)
        let before = try one.contents()

        try await one.journal.catchUp()
        try await one.journal.snapshots.cutIfLong()
        #expect(try await cluster.numbers() == [])
        let new = try await Self.server("new", in: cluster)
        try await away.journal.catchUp()
        #expect(try await Harbour.count("counter", on: writer) == 1)
        try await current.journal.catchUp()
        try await one.journal.catchUp()
        try await new.journal.catchUp()
        let after = try one.contents()
        #expect(after.filter { !before.contains($0) } == ["hidden_ship: 'counter','counter',1"])
        for server in [new, writer, current] { #expect(try server.contents() == after) }
        #expect(try away.contents() == before)
        for server in [new, away, writer] { #expect(Self.hasRead(server)) }
        for server in [one, current] { #expect(!Self.hasRead(server)) }
        #expect(try new.database.read(Harbour.countsAreRight))

        try await Harbour.add("word1 again", 3, for: person, on: new)
        try await away.journal.catchUp()
        #expect(try away.contents() == new.contents())
    }

    @Test("Rows that are not read yet, because their server has written them itself, are in the snapshot once")
    func ownRows() async throws {
        let cluster = try await JournalCluster()
        let (one, other) = (try await Self.server("one", in: cluster), try await Self.server("other", in: cluster))
        for number in 1...3 { #expect(try await Harbour.count("counter", on: one) == number) }
        #expect(try await Harbour.count("counter", on: other) == 4)
        try await other.journal.snapshots.cutIfLong()
        let new = try await Self.server("new", in: cluster)
        try await one.journal.catchUp()
        #expect(try await Harbour.count("counter", on: new) == 5)
        try await one.journal.catchUp()
        #expect(try Harbour.counter("counter", on: one) == 5)
    }

    @Test("Servers write, and cut the journal again and again: nothing is lost, and all have the same")
    func concurrent() async throws {
        let cluster = try await JournalCluster()
        var servers: [JournalServer] = []
        for number in 0..<3 { servers.append(try await Self.server("s\(number)", in: cluster)) }
        try await servers.enumerated().concurrentMap { (number, server) in
            let person = try #require(try await Harbour.register("p\(number)", on: server))
            for step in 0..<25 {
                try await Harbour.add("word\(step % 10)", Double(step), for: person, on: server)
                try await Harbour.count("counter", on: server)
                if step % 5 == number { try await server.journal.snapshots.cutIfLong() }
            }
        }
        servers.append(try await Self.server("new", in: cluster))
        for server in servers {
            try await server.journal.catchUp()
            #expect(try Harbour.counter("counter", on: server) == 75)
            #expect(try server.contents() == servers[0].contents())
            #expect(try server.database.read(Harbour.countsAreRight))
        }
        #expect(try servers[3].contents().count { $0.hasPrefix("note:") } == 75)
    }

    @Test("Rows that are kept, and few rows, are not cut")
    func kept() async throws {
        let cluster = try await JournalCluster()
        let one = try await cluster.server("one")
        _ = try await Self.fill(one, "ann")
        let numbers = try await cluster.numbers()
        try await one.journal.snapshots.cutIfLong()
        #expect(try await cluster.numbers() == numbers)
    }

    @Test("A snapshot that is damaged stops a server that needs it, and changes no row")
    func unusable() async throws {
        let cluster = try await JournalCluster()
        let (one, away) = (try await Self.server("one", in: cluster), try await Self.server("away", in: cluster))
        _ = try await Self.fill(away, "ann")
        let before = try away.contents()
        try await one.journal.catchUp()
        _ = try await Self.fill(one, "bob")
        try await one.journal.snapshots.cutIfLong()
        try await cluster.execute("UPDATE journal_snapshot SET changeset = substr(changeset, 1, 40) WHERE part = 2")
        await #expect { try await away.journal.catchUp() } throws: { "\($0)".contains("damaged") }
        #expect(try away.contents() == before)
        #expect(away.journal.stop?.scope == "snapshot")
    }
}
