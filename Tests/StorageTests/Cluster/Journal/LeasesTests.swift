import GRDB
import Storage
import TestKit
import Testing

@testable import Cluster

@Suite("Leases", .timeLimit(.minutes(10)))
struct LeasesTests {
    private static let time = Duration.seconds(600)

    /// Lets all leases run out.
    private static func end(in cluster: JournalCluster) async throws {
        try await cluster.execute("UPDATE journal_lease SET until = 'epoch'")
    }

    @Test("OUT-02 Of all who ask at once, one gets a lease, until it is released or its time is over")
    func one() async throws {
        let cluster = try await JournalCluster()
        let (one, two) = (try await cluster.server("one"), try await cluster.server("two"))
        let granted = try await withThrowingTaskGroup(of: Lease?.self) { group in
            for number in 0..<16 {
                group.addTask { try await (number % 2 == 0 ? one : two).journal.leases.take("a", lasting: Self.time) }
            }
            return try await group.reduce(into: []) { $0 += $1.map { [$0] } ?? [] }
        }
        let lease = try #require(granted.first)
        #expect(granted.count == 1 && lease.name == "a" && lease.holds() && !lease.holds(at: .now + Self.time))
        #expect(try await one.journal.leases.take("b", lasting: Self.time) != nil)
        try await one.journal.leases.release([lease])
        #expect(try await two.journal.leases.take("a", lasting: Self.time) != nil)
        try await one.journal.leases.release([lease])
        #expect(try await one.journal.leases.take("a", lasting: Self.time) == nil, "it is another's by now")
        try await Self.end(in: cluster)
        #expect(try await one.journal.leases.take("a", lasting: Self.time) != nil)
    }

    @Test("Several are taken up to a number, and renewed unless another holder has taken them")
    func several() async throws {
        let cluster = try await JournalCluster()
        let (one, two) = (
            try await cluster.server("one").journal.leases, try await cluster.server("two").journal.leases
        )
        let first = try await one.take(["d", "c", "b"], atMost: 2, lasting: Self.time)
        #expect(Set(first.map(\.name)) == ["d", "c"])
        let second = try await two.take(["d", "c", "b", "a"], atMost: 9, lasting: Self.time)
        #expect(Set(second.map(\.name)) == ["a", "b"])
        #expect(try await one.take(["a", "b", "c"], atMost: 9, lasting: Self.time) == [])
        try await Self.end(in: cluster)
        #expect(try await one.renew(first, lasting: Self.time).count == 2, "none has taken them")
        let all = try await one.take(["a"], atMost: 1, lasting: Self.time)
        #expect(all.map(\.name) == ["a"])
        #expect(try await two.renew(second, lasting: Self.time).map(\.name) == ["b"])
        try await two.release(second)
        #expect(try await one.renew(all, lasting: Self.time).map(\.name) == ["a"])
        #expect(try await one.renew([], lasting: Self.time) == [])
        #expect(try await one.take([], atMost: 1, lasting: Self.time) == [])
    }

    @Test("OUT-02 Who has lost a lease writes nothing, also if its row is made by then")
    func lost() async throws {
        let cluster = try await JournalCluster()
        let (one, two) = (try await cluster.server("one"), try await cluster.server("two"))
        let users = UserDatabase(one.database, one.journal, kept: .zero)
        let hide = { @Sendable (db: Database) in
            try db.execute(sql: "INSERT OR IGNORE INTO hidden_ship VALUES ('a1', 's1', 1)")
        }
        let lease = try #require(try await users.leases.take("a", lasting: Self.time))
        try await Self.end(in: cluster)
        let other = try #require(try await two.journal.leases.take("a", lasting: Self.time))
        await #expect(throws: LeaseLost.self) { try await users.write(scope: "ships", holding: lease, hide) }
        try await two.journal.leases.release([other])
        await #expect(throws: LeaseLost.self) { try await users.write(scope: "ships", holding: lease, hide) }
        #expect(try await cluster.numbers() == [])
        let again = try #require(try await users.leases.take("a", lasting: Self.time))
        try await Self.end(in: cluster)
        try await users.write(scope: "ships", holding: again, hide)
        #expect(try await cluster.numbers().count == 1, "none has taken it")
    }

    @Test("On a server by itself each is granted, and never lost")
    func alone() async throws {
        let database = try LarderDatabase.temporary(migrations: Harbour.migrations)
        let users = UserDatabase(database)
        let lease = try #require(try await users.leases.take("a", lasting: .zero))
        #expect(lease.holds(at: .now + Self.time))
        #expect(try await users.leases.take(["a", "b"], atMost: 1, lasting: .zero).map(\.name) == ["a"])
        #expect(try await users.leases.renew([lease], lasting: .zero) == [lease])
        try await users.leases.release([lease])
        let count = try await users.write(scope: "ships", holding: lease) { db in
            try db.execute(sql: "INSERT INTO hidden_ship VALUES ('a1', 's1', 1)")
            return db.changesCount
        }
        #expect(count == 1)
    }
}
