import Concurrency
import Foundation
import GRDB
import Storage
import TestKit
import Testing

@testable import Cluster

@Suite("Rows of users, of one server and of several", .timeLimit(.minutes(10)))
struct UserDatabaseTests {
    private static let hide = "INSERT INTO hidden_ship VALUES ('a1', ?, 1)"
    private static let select = "SELECT ship FROM hidden_ship ORDER BY ship"

    private static func ships(_ users: UserDatabase) throws -> [String] {
        try users.read { try String.fetchAll($0, sql: select) }
    }

    private static func hide(_ ship: String, _ users: UserDatabase) async throws {
        try await users.write(scope: "ships") { try $0.execute(sql: hide, arguments: [ship]) }
    }

    @Test("A server by itself writes in an ordinary transaction, and never lags behind")
    func alone() async throws {
        let database = try LarderDatabase.temporary(migrations: Journal.fileMigrations + Harbour.migrations)
        let users = UserDatabase(database)
        try await Self.hide("s1", users)
        #expect(try Self.ships(users) == ["s1"])
        #expect(try await users.catchUp()?.age == nil && !users.isShared && users.changeToken(of: "ships").holds)
        #expect(try !database.read(Journal.isFollowed))
    }

    @Test("Changes of both servers are told by key after their commit, those of this one before its write returns")
    func told() async throws {
        let cluster = try await JournalCluster()
        let (one, two) = (try await cluster.server("one"), try await cluster.server("two"))
        let keys = Watched<[String]>([])
        let users = UserDatabase(one.database, one.journal, kept: .zero)
        users.onChange(of: "hidden_ship") { changed in
            keys.update { $0 += changed.map { $0.map { String.fromDatabaseValue($0) ?? "?" }.joined(separator: " ") } }
        }
        try await Self.hide("s1", users)
        #expect(keys.value == ["a1 s1"])
        try await Self.hide("s2", UserDatabase(two.database, two.journal, kept: .zero))
        #expect(keys.value == ["a1 s1"])
        #expect(try await users.catchUp()?.age == nil)
        #expect(keys.value == ["a1 s1", "a1 s2"])
        await #expect(throws: (any Error).self) { try await Self.hide("s1", users) }
        #expect(keys.value.count == 2)
    }

    @Test("SCALE-23 While PostgreSQL is away rows are read with their age, at once; a server that never read has none")
    func away() async throws {
        let postgres = try await RunningPostgres.start()
        let cluster = try await JournalCluster(on: postgres)
        let server = try await cluster.server("one")
        let users = UserDatabase(server.database, server.journal, kept: .zero)
        try await Self.hide("s1", users)
        try postgres.stop("immediate")
        let lag = try await users.catchUp()
        #expect(lag.map { $0.age < .seconds(60) } == true)
        #expect(try Self.ships(users) == ["s1"])
        await #expect(throws: ClusterError.self) { try await Self.hide("s2", users) }
        let fresh = try await JournalServer(opening: "new", in: cluster, folder: .unmade())
        await #expect(throws: ClusterError.self) {
            try await UserDatabase(fresh.database, fresh.journal, kept: .zero).catchUp()
        }
        try postgres.restart()
        try await BoundedWait.poll(for: "the store") { try await users.catchUp()?.age == nil }
        try await Self.hide("s2", users)
        #expect(try Self.ships(users) == ["s1", "s2"])
    }

    @Test("C5 SCALE-23 A server that starts while PostgreSQL is away has the rows of its last run; checks come first")
    func begun() async throws {
        let cluster = try await JournalCluster()
        let (one, two) = (try await cluster.server("one"), try await cluster.server("two"))
        try await Self.hide("s1", UserDatabase(one.database, one.journal, kept: .zero))
        try await one.journal.catchUp()
        try await Self.hide("s2", UserDatabase(two.database, two.journal, kept: .zero))

        let journal = Journal(
            of: one.database,
            in: PostgresDatabase(cluster.options, logger: .quiet),
            tables: Harbour.tables,
            server: "one",
            schema: 1,
            logger: .quiet
        )
        let users = UserDatabase(one.database, journal, kept: .zero)
        try journal.begin(without: .unavailable(.connectionLost))
        // PostgreSQL responds by now, but it may be another one.
        for _ in 0..<2 {
            let lag = try #require(try await users.catchUp())
            #expect(lag.isOfEarlierRun && lag.age >= .zero && lag.age < .seconds(300))
            #expect(try Self.ships(users) == ["s1"])
            await #expect(throws: ClusterError.unavailable(.connectionLost)) { try await Self.hide("s3", users) }
            await #expect(throws: ClusterError.unavailable(.connectionLost)) {
                try await users.leases.take("work", lasting: .seconds(9))
            }
        }
        try await journal.prepare()
        #expect(try await users.catchUp()?.age == nil && !journal.isOfEarlierRun)
        try await Self.hide("s3", users)
        #expect(try Self.ships(users) == ["s1", "s2", "s3"])
    }

    @Test("A row that cannot be applied makes the rows unavailable, by reads and writes, until it is repaired")
    func stopped() async throws {
        let cluster = try await JournalCluster()
        let (one, two) = (try await cluster.server("one"), try await cluster.server("two"))
        try await Self.hide("s1", UserDatabase(one.database, one.journal, kept: .zero))
        try await cluster.execute("UPDATE journal SET changeset = changeset || '\\x01'")
        let users = UserDatabase(two.database, two.journal, kept: .zero)
        for _ in 0..<2 {
            do {
                _ = try await users.catchUp()
                Issue.record("it was applied")
            } catch ClusterError.unavailable(.notApplied(let reason)) {
                #expect(reason.contains("scope ships") && reason.contains("damaged"))
            }
        }
        await #expect(throws: ClusterError.self) { try await Self.hide("s2", users) }
        // Nor are they shown by a start without PostgreSQL.
        #expect(try two.journal.file.age() == nil)
        try await cluster.execute("UPDATE journal SET changeset = substr(changeset, 1, octet_length(changeset) - 1)")
        #expect(try await users.catchUp()?.age == nil)
        #expect(try Self.ships(users) == ["s1"])
        #expect(try two.journal.file.age() != nil)
    }

    @Test("A file with rows of its own is refused, and so is a journal that was restored in another PostgreSQL")
    func refused() async throws {
        let cluster = try await JournalCluster()
        let own = try await JournalServer(opening: "own", in: cluster, folder: .unmade())
        try await Self.hide("s1", UserDatabase(own.database))
        await #expect(throws: JournalError.otherRows(table: "hidden_ship")) { try await own.journal.prepare() }
        #expect(try Self.ships(UserDatabase(own.database)) == ["s1"])

        let one = try await cluster.server("one")
        try await Self.hide("s1", UserDatabase(one.database, one.journal, kept: .zero))
        try await cluster.execute("UPDATE journal SET number = number + 1000000000")
        await #expect(throws: JournalError.restoredElsewhere) { try await cluster.server("two") }
    }

    @Test("SCALE-18 A file's rows become the snapshot of a journal, and the journal the rows of a file again")
    func copied() async throws {
        let cluster = try await JournalCluster()
        let made = try await JournalCluster().server("made")
        let person = try #require(try await Harbour.register("ann", on: made))
        for number in 0..<40 { try await Harbour.add("word\(number % 10)", Double(number), for: person, on: made) }
        _ = try await Harbour.hide(3, for: 1, on: made)
        let before = try made.contents()

        // It has followed the empty journal before.
        let server = try await cluster.server("one")
        let copy = JournalCopy(Harbour.tables, schema: 1, of: made.database, in: cluster.database)
        try await cluster.database.write { transaction in
            #expect(try JournalCopy.isEmpty(transaction))
            try made.database.read { try copy.copy($0, to: transaction) }
            #expect(try !JournalCopy.isEmpty(transaction))
        }
        #expect(try made.contents() == before)
        try await server.journal.catchUp()
        #expect(try server.contents() == before)
        try await Harbour.add("word3", 7, for: person, on: server)

        let back = try await JournalServer(opening: "back", in: cluster, folder: .unmade())
        let copyBack = JournalCopy(Harbour.tables, schema: 1, of: back.database, in: cluster.database)
        try await cluster.database.write { transaction in
            try back.database.write { try copyBack.copy(transaction, to: $0) }
        }
        #expect(try back.contents() == server.contents())
        #expect(try !back.database.read(Journal.isFollowed))
    }
}
