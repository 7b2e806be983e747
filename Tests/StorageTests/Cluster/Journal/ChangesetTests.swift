import Foundation
import GRDB
import Storage
import TestKit
import Testing

@testable import Cluster

@Suite struct ChangesetTests {
    private struct Failed: Error {}

    private static func harbour() throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = true
        let queue = try DatabaseQueue(configuration: configuration)
        try queue.write { db in for migration in Harbour.migrations { try migration.migrate(db) } }
        return queue
    }

    /// Runs updates on both alike: changes that are captured on one are applied to both.
    private static func replicate(
        _ from: DatabaseQueue,
        _ others: [DatabaseQueue],
        tables: JournalTables = Harbour.tables,
        _ updates: @escaping @Sendable (Database) throws -> Void
    ) throws -> Changeset {
        let changeset = try from.write { try Changeset.capture(tables, in: $0, updates).changeset }
        for queue in [from] + others { try queue.write { try changeset.apply(tables, in: $0) } }
        return changeset
    }

    private static func person(_ id: Int) -> @Sendable (Database) throws -> Void {
        { try $0.execute(sql: "INSERT INTO person VALUES (?, ?)", arguments: [id, "p\(id)"]) }
    }

    private static func note(_ id: Int, _ person: Int, _ body: String = "word1 word2", x: Double = 12.5)
        -> @Sendable (
            Database
        ) throws -> Void
    {
        { db in
            let values: StatementArguments = [id, person, body, x, Data([0, 255])]
            try db.execute(sql: "INSERT INTO note VALUES (?, ?, ?, ?, ?)", arguments: values)
        }
    }

    @Test("What is captured is rolled back; applied, it makes equal rows, counters and search indexes")
    func captured() throws {
        let (one, other) = (try Self.harbour(), try Self.harbour())
        let before = try one.read(Harbour.contents)
        let changeset = try one.write { db in
            try Changeset.capture(Harbour.tables, in: db) { db in
                try Self.person(1)(db)
                try Self.note(1, 1)(db)
            }.changeset
        }
        #expect(try one.read(Harbour.contents) == before)
        for queue in [one, other] { try queue.write { try changeset.apply(Harbour.tables, in: $0) } }
        _ = try Self.replicate(other, [one]) { db in
            try Self.note(2, 1, "word3", x: 99)(db)
            try db.execute(sql: "UPDATE note SET body = 'word4', data = NULL WHERE id = 1")
        }
        #expect(try one.read(Harbour.contents) == other.read(Harbour.contents))
        #expect(try one.read(Harbour.contents).contains("word4: [1]"))
        #expect(try one.read(Harbour.countsAreRight))
    }

    @Test("The inspector lists table, operation and key, and tells triggers' changes")
    func inspected() throws {
        let queue = try Self.harbour()
        _ = try Self.replicate(queue, [], Self.person(7))
        let changeset = try Self.replicate(queue, []) { db in
            try Self.note(3, 7)(db)
            try db.execute(sql: "UPDATE person SET name = 'new'")
        }
        let lines = changeset.changes.map { "\($0.table) \($0.operation) \($0.key) \($0.isIndirect)" }
        #expect(lines == ["note insert [3] false", "note_cell insert [7, 1] true", "person update [7] false"])
        let update = try #require(changeset.changes.last)
        #expect(update.old == [7.databaseValue, "p7".databaseValue] && update.new == [nil, "new".databaseValue])
        #expect(try Changeset(encoded: changeset.encoded) == changeset)
    }

    @Test("Cascades are applied once; deleting all rows by a statement that was prepared before is captured")
    func deletions() throws {
        let (one, other) = (try Self.harbour(), try Self.harbour())
        _ = try Self.replicate(one, [other]) { db in
            for id in 1...3 {
                try Self.person(id)(db)
                try Self.note(id, id)(db)
            }
            try db.execute(sql: "INSERT INTO hidden_ship VALUES ('a', 'b', 1), ('a', 'c', 2)")
        }
        let cascade = try Self.replicate(one, [other]) { try $0.execute(sql: "DELETE FROM person WHERE id = 2") }
        #expect(cascade.changes.map(\.operation).allSatisfy { $0 == .delete } && cascade.changes.count == 3)
        try one.inDatabase { db in _ = try db.cachedStatement(sql: "DELETE FROM hidden_ship") }
        let all = try Self.replicate(one, [other]) { try $0.cachedStatement(sql: "DELETE FROM hidden_ship").execute() }
        #expect(all.changes.count == 2)
        #expect(try one.read(Harbour.contents) == other.read(Harbour.contents) && one.read(Harbour.countsAreRight))
    }

    @Test("What a journal cannot keep is an error, and nothing of it is kept")
    func refused() throws {
        let queue = try Self.harbour()
        _ = try Self.replicate(queue, [], Self.person(1))
        try queue.write {
            try $0.execute(
                sql: "CREATE TABLE later (p INTEGER PRIMARY KEY REFERENCES person (id) DEFERRABLE INITIALLY DEFERRED)"
            )
        }
        let tables = JournalTables(replicated: Harbour.replicated + ["later"], virtual: ["note_text"])
        func capture(_ updates: (Database) throws -> Void) throws {
            try queue.write { _ = try Changeset.capture(tables, in: $0, updates) }
        }
        #expect(throws: JournalError.undeclaredTables(["visit"])) {
            try capture { db in
                try Self.person(2)(db)
                try db.execute(sql: "INSERT INTO visit VALUES ('x')")
            }
        }
        #expect(throws: JournalError.unresolvedForeignKeys) {
            try capture { try $0.execute(sql: "INSERT INTO later VALUES (9)") }
        }
        #expect(throws: JournalError.changesetTooLarge(bytes: 5_000_027)) {
            try capture { db in
                let name = String(repeating: "n", count: 5_000_000)
                try db.execute(sql: "INSERT INTO person VALUES (2, ?)", arguments: [name])
            }
        }
        #expect(throws: Failed.self) {
            try capture { db in
                try Self.person(2)(db)
                throw Failed()
            }
        }
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM person") } == 1)
        let none = JournalTables(replicated: ["visit"])
        #expect(throws: JournalError.unusableTable("visit")) { try queue.read(none.check) }
    }

    /// Applies a change to a file that was damaged, takes both back, and returns why it did not fit.
    private static func conflict(
        of sql: String,
        at one: DatabaseQueue,
        with damage: String,
        at other: DatabaseQueue
    ) throws -> JournalStop.Reason? {
        let changeset = try one.write { db in
            try Changeset.capture(Harbour.tables, in: db) { try $0.execute(sql: sql) }.changeset
        }
        let before = try other.read(Harbour.contents)
        var reason: JournalStop.Reason?
        try other.inTransaction { db in
            try db.execute(sql: damage)
            do { try changeset.apply(Harbour.tables, in: db) } catch { reason = error as? JournalStop.Reason }
            return .rollback
        }
        other.inDatabase { $0.clearSchemaCache() }
        #expect(try other.read(Harbour.contents) == before)
        return reason
    }

    @Test("A change that does not fit names table and kind, and leaves nothing")
    func conflicts() throws {
        let (one, other) = (try Self.harbour(), try Self.harbour())
        _ = try Self.replicate(one, [other]) { db in
            try Self.person(1)(db)
            try db.execute(sql: "INSERT INTO hidden_ship VALUES ('a', 'b', 1)")
        }
        func conflict(_ damage: String, _ sql: String) throws -> JournalStop.Reason? {
            try Self.conflict(of: sql, at: one, with: damage, at: other)
        }
        let update = "UPDATE hidden_ship SET revision = 2; INSERT INTO ship_revision VALUES (1, 1)"
        #expect(
            try conflict("UPDATE hidden_ship SET revision = 7", update)
                == .conflict(.init(table: "hidden_ship", kind: .otherValues, operation: .update))
        )
        #expect(
            try conflict("DELETE FROM hidden_ship", update)
                == .conflict(.init(table: "hidden_ship", kind: .rowMissing, operation: .update))
        )
        #expect(
            try conflict("INSERT INTO ship_revision VALUES (1, 9)", update)
                == .conflict(.init(table: "ship_revision", kind: .rowExists, operation: .insert))
        )
        #expect(
            try conflict("INSERT INTO person VALUES (5, 'p2')", "INSERT INTO person VALUES (2, 'p2')")
                == .conflict(.init(table: "person", kind: .constraint, operation: .insert))
        )
        let note = "INSERT INTO note VALUES (1, 1, 'word1', 1, NULL)"
        #expect(try conflict("DELETE FROM person", note) == .danglingReference(table: "note"))
        #expect(try conflict("ALTER TABLE hidden_ship RENAME COLUMN ship TO boat", update) == nil)
        #expect(try conflict("ALTER TABLE ship_revision RENAME TO away", update) == .unfit(table: "ship_revision"))
        #expect(try conflict("ALTER TABLE hidden_ship DROP COLUMN revision", update) == .unfit(table: "hidden_ship"))
        let removal = "DELETE FROM person WHERE id = 1"
        #expect(try conflict(note, removal) == .danglingReference(table: "note"))
    }

    @Test("A table with more columns than the changeset takes it, with their defaults")
    func moreColumns() throws {
        let (old, new) = (try Self.harbour(), try Self.harbour())
        try new.write { try $0.execute(sql: "ALTER TABLE person ADD COLUMN colour TEXT NOT NULL DEFAULT 'blue'") }
        _ = try Self.replicate(old, [new], Self.person(1))
        _ = try Self.replicate(old, [new]) { try $0.execute(sql: "UPDATE person SET name = 'x'") }
        #expect(try new.read { try String.fetchOne($0, sql: "SELECT name || colour FROM person") } == "xblue")
        #expect(throws: JournalStop.Reason.unfit(table: "person")) {
            _ = try Self.replicate(new, [old]) { try $0.execute(sql: "UPDATE person SET colour = 'red'") }
        }
    }

    @Test(
        "Flipped, cut and extended bytes are an error, or changes that fit or do not: never a crash",
        arguments: 1...8
    )
    func damaged(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let queue = try Self.harbour()
        let whole = try Self.replicate(queue, []) { db in
            try Self.person(1)(db)
            try Self.note(1, 1)(db)
            try db.execute(sql: "INSERT INTO hidden_ship VALUES ('a', 'b', 1)")
        }
        let update = try queue.write { db in
            try Changeset.capture(Harbour.tables, in: db) { db in
                try db.execute(sql: "UPDATE note SET body = 'word9', x = -1; UPDATE hidden_ship SET revision = 4")
                try Self.person(2)(db)
            }.changeset
        }
        var parsed = 0
        for round in 0..<1500 {
            let source = round % 2 == 0 ? whole : update
            let bytes = Self.damage(source.bytes, &random)
            if bytes != source.bytes {
                #expect(throws: Changeset.Damage.self) {
                    try Changeset(encoded: source.encoded.prefix(8) + bytes)
                }
            }
            guard let changeset = try? Changeset(bytes: bytes) else { continue }
            parsed += 1
            try queue.inTransaction { db in
                try? changeset.apply(Harbour.tables, in: db)
                return .rollback
            }
        }
        #expect(parsed > 30)
        #expect(try queue.read(Harbour.countsAreRight))
        for length in 0..<8 {
            #expect(throws: Changeset.Damage.checksum) { try Changeset(encoded: whole.encoded.prefix(length)) }
        }
    }

    private static func damage(_ bytes: Data, _ random: inout SeededRandom) -> Data {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let index = Int.random(in: 0..<max(1, bytes.count), using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0 where !bytes.isEmpty: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 1 where !bytes.isEmpty: bytes[index] = .random(in: 0...255, using: &random)
            case 2: bytes = bytes.prefix(index)
            default: bytes.append(contentsOf: (0..<3).map { _ in UInt8.random(in: 0...255, using: &random) })
            }
        }
        return bytes
    }
}
