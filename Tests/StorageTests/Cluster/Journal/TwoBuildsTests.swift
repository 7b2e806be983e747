import GRDB
import Storage
import TestKit
import Testing

@testable import Cluster

/// Servers of two builds follow one journal: the newer one has further columns and tables (decision 186).
@Suite(.timeLimit(.minutes(5))) struct TwoBuildsTests {
    /// The next build of the app.
    private enum Later {
        static let migrations =
            Harbour.migrations + [
                SchemaMigration(
                    "harbour/002",
                    sql: """
                        ALTER TABLE note ADD COLUMN colour TEXT NOT NULL DEFAULT 'blue';
                        UPDATE note SET colour = colour;
                        ALTER TABLE hidden_ship ADD COLUMN reason TEXT;
                        CREATE TABLE label (note INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
                        """
                )
            ]
        static let tables = JournalTables([Harbour.tables, JournalTables(replicated: ["label"])])
    }

    /// Cuts whatever is there.
    private static var limits: JournalLimits {
        var limits = JournalLimits()
        (limits.kept, limits.rows) = (0, 0)
        return limits
    }

    private static func older(_ name: String, _ cluster: JournalCluster, _ folder: TemporaryFolder = .unmade())
        async throws -> JournalServer
    {
        let server = try await JournalServer(opening: name, in: cluster, folder: folder, limits: limits)
        try await server.journal.prepare()
        return server
    }

    private static func newer(_ name: String, _ cluster: JournalCluster, _ folder: TemporaryFolder = .unmade())
        async throws -> JournalServer
    {
        let server = try await JournalServer(
            opening: name,
            in: cluster,
            folder: folder,
            schema: 2,
            limits: limits,
            migrations: Later.migrations,
            tables: Later.tables
        )
        try await server.journal.prepare()
        return server
    }

    /// Runs a write at random that both builds know, or one of the newer build.
    private static func operate(_ server: JournalServer, isNewer: Bool, _ random: inout SeededRandom) async throws {
        let number = Int.random(in: 0..<30, using: &random)
        let people = try server.database.read { try Int64.fetchAll($0, sql: "SELECT id FROM person") }
        guard let person = people.randomElement(using: &random), number > 2 else {
            try await Harbour.register("name \(number) \(people.count)", on: server)
            return
        }
        switch Int.random(in: 0..<(isNewer ? 16 : 10), using: &random) {
        case 0...3: try await Harbour.add("word\(number % 10)", Double(number), for: person, on: server)
        case 4, 5: try await Harbour.edit("word\(number % 10) anew", for: person, on: server)
        case 6, 7: try await Harbour.drop(for: person, on: server)
        case 8: _ = try await Harbour.hide(number, for: 1, on: server)
        case 9: try await Harbour.remove(person, on: server)
        case 10...12: try await colour(person, "c\(number)", on: server)
        default: try await label(person, number.isMultiple(of: 3) ? nil : "ё \(number)", on: server)
        }
    }

    /// Changes columns that the older build lacks, with one that it has or alone.
    private static func colour(_ person: Int64, _ text: String, on server: JournalServer) async throws {
        try await server.journal.write(scope: "notes/\(person)", locks: ["ships"]) { db in
            try db.execute(sql: "UPDATE note SET colour = ? WHERE person = ?", arguments: [text, person])
            let sql =
                "UPDATE note SET data = x'00', colour = 'both' WHERE id = (SELECT max(id) FROM note WHERE person = ?)"
            try db.execute(sql: sql, arguments: [person])
            try db.execute(sql: "UPDATE hidden_ship SET reason = ?", arguments: [text])
        }
    }

    private static func label(_ person: Int64, _ text: String?, on server: JournalServer) async throws {
        try await server.journal.write(scope: "labels") { db in
            let sql =
                text == nil
                ? "DELETE FROM label WHERE note = (SELECT max(id) FROM note WHERE person = ?)"
                : """
                INSERT INTO label SELECT id, ?2 FROM note WHERE person = ?1
                ON CONFLICT DO UPDATE SET text = excluded.text
                """
            try db.execute(
                sql: sql,
                arguments: StatementArguments([person]) + StatementArguments(text.map { [$0] } ?? [])
            )
        }
    }

    private static func run(_ count: Int, seed: UInt64, _ servers: [(JournalServer, isNewer: Bool)]) async throws {
        try await servers.enumerated().concurrentMap { (number, member) in
            let (server, isNewer) = member
            var random = SeededRandom(seed: seed + UInt64(number))
            for step in 0..<count {
                try await operate(server, isNewer: isNewer, &random)
                if step % 20 == 7 { try await server.journal.snapshots.cutIfLong() }
            }
        }
        for (server, _) in servers { try await server.journal.catchUp() }
    }

    private static func isLacking(_ server: JournalServer) throws -> Bool {
        try server.database.read(JournalFile.leavingOut) != nil
    }

    /// All rows of the newer build's tables.
    private static func all(_ server: JournalServer) throws -> [String] {
        try server.database.read { db in
            let labels = "SELECT note || ' ' || text AS line FROM label ORDER BY note"
            return try Harbour.contents(db) + String.fetchAll(db, sql: labels)
        }
    }

    @Test(
        "SCALE-21 Two builds at once have the same of all that both know; the older one upgraded, or new, has the rest",
        arguments: [1, 2] as [UInt64]
    )
    func together(seed: UInt64) async throws {
        let cluster = try await JournalCluster()
        let (first, second) = (TemporaryFolder.unmade(), TemporaryFolder.unmade())
        var one = try await Self.older("one", cluster, first)
        do {
            let two = try await Self.older("two", cluster, second)
            try await Self.run(40, seed: seed, [(one, false), (two, false)])
            try two.database.close()
        }

        // One of two is upgraded.
        let two = try await Self.newer("two", cluster, second)
        try await Self.run(60, seed: seed + 10, [(one, false), (two, true)])
        #expect(try Self.isLacking(one) && !Self.isLacking(two))
        #expect(one.journal.stop == nil && two.journal.stop == nil)
        let columns = try one.database.read(Harbour.columns)
        #expect(try one.contents() == two.database.read { try Harbour.contents($0, columns) })
        #expect(one.log.lines.contains { $0.contains("leaves out") })

        // Back again: an older build begins with a new file, from a snapshot of the newer one or without any.
        let back = try await Self.older("back", cluster)
        #expect(try Self.isLacking(back))
        #expect(try back.contents() == one.contents())
        try await Self.run(20, seed: seed + 20, [(one, false), (back, false), (two, true)])
        #expect(try back.contents() == one.contents())

        let new = try await Self.newer("new", cluster)
        // The older one is upgraded as well: without its value, its directory is free.
        try one.database.close()
        one = new
        one = try await Self.newer("one", cluster, first)
        try await Self.run(20, seed: seed + 30, [(one, true), (two, true), (new, true), (back, false)])
        let last = try #require(try await Harbour.register("last", on: back))
        try await Harbour.add("word1", 3, for: last, on: back)
        try await Self.colour(last, "red", on: one)
        for server in [one, two, new, back] { try await server.journal.catchUp() }
        for server in [one, two, new] {
            #expect(try !Self.isLacking(server))
            #expect(try Self.all(server) == Self.all(two))
            #expect(try server.database.read(Harbour.countsAreRight))
            try server.database.checkIntegrity()
        }
        #expect(try Self.all(two).contains { $0.hasPrefix("note:") && $0.contains("both") })
        #expect(try back.contents() == two.database.read { try Harbour.contents($0, columns) })
    }

    @Test("SCALE-21 A server that lacks columns writes no snapshot; without any, an upgrade reads the whole journal")
    func snapshot() async throws {
        let cluster = try await JournalCluster()
        let folder = TemporaryFolder.unmade()
        let newer = try await Self.newer("newer", cluster)
        do {
            let older = try await Self.older("older", cluster, folder)
            let person = try #require(try await Harbour.register("ann", on: older))
            try await Harbour.add("word1", 5, for: person, on: older)
            try await Self.colour(person, "red", on: newer)
            try await older.journal.catchUp()
            let numbers = try await cluster.numbers()
            try await older.journal.snapshots.cutIfLong()
            #expect(try await cluster.numbers() == numbers)
            try older.database.close()
        }
        let upgraded = try await Self.newer("older", cluster, folder)
        #expect(try Self.all(upgraded) == Self.all(newer))
        #expect(upgraded.log.lines.count { $0.contains("reading the snapshot") } == 1)
        try await upgraded.journal.snapshots.cutIfLong()
        #expect(try await cluster.numbers() == [])
    }

    @Test("A copy with a build that lacks columns is refused; a change that is no addition stops by its table")
    func refused() async throws {
        let cluster = try await JournalCluster()
        let newer = try await Self.newer("newer", cluster)
        let person = try #require(try await Harbour.register("ann", on: newer))
        try await Harbour.add("word1", 5, for: person, on: newer)
        let older = try await JournalServer(opening: "older", in: cluster, folder: .unmade())
        let copy = JournalCopy(Harbour.tables, schema: 1, of: older.database, in: cluster.database)
        await #expect {
            try await cluster.database.write(locks: ["copy"]) { transaction in
                try older.database.write { _ = try copy.copy(transaction, to: $0) }
            }
        } throws: { "\($0)".contains("the schema 2") }

        let other = try await JournalCluster()
        let changed = try await JournalServer(
            opening: "changed",
            in: other,
            folder: .unmade(),
            schema: 2,
            migrations: Harbour.migrations + [
                SchemaMigration(
                    "harbour/002",
                    sql:
                        "DROP TABLE ship_revision; "
                        + "CREATE TABLE ship_revision (a TEXT PRIMARY KEY, b TEXT, last INTEGER)"
                )
            ]
        )
        try await changed.journal.prepare()
        let late = try await Self.older("late", other)
        try await changed.journal.write(scope: "ships") {
            try $0.execute(sql: "INSERT INTO ship_revision VALUES ('1', '', 1)")
        }
        await #expect { try await late.journal.catchUp() } throws: { "\($0)".contains("table ship_revision") }
    }

    @Test("SCALE-21 Columns that are added to the tables in PostgreSQL under live servers disturb none")
    func postgres() async throws {
        let cluster = try await JournalCluster()
        let servers = [try await Self.older("one", cluster), try await Self.newer("two", cluster)]
        try await Self.run(5, seed: 1, [(servers[0], false), (servers[1], true)])
        let tables = try await cluster.database.rows(
            "SELECT tablename::text AS name FROM pg_tables WHERE schemaname = current_schema()"
        ) { try $0.value("name") as String }
        #expect(tables.contains("journal") && tables.count > 5)
        for table in tables {
            try await cluster.execute("ALTER TABLE \(table) ADD COLUMN future text")
            try await Self.run(3, seed: 2, [(servers[0], false), (servers[1], true)])
        }
        let new = try await Self.newer("new", cluster)
        #expect(try Self.all(new) == Self.all(servers[1]))
    }
}
