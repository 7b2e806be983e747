import Foundation
import GRDB
import Screens
import Storage
import TestKit
import Testing

@testable import Cluster
@testable import Larder

/// Databases that this build has not written.
@Suite(.timeLimit(.minutes(10))) struct UpgradeTests {
    /// A database as a build with the first migrations left it, with a session and a secret.
    private func made(by migrations: [SchemaMigration], in data: TemporaryFolder) throws {
        let database = try LarderDatabase(in: DataDirectory(at: data.url), migrations: migrations, logger: .quiet)
        let secrets = try SealedSecrets(database)
        try database.write { try secrets.store(Data("token".utf8), name: "a secret", in: $0) }
        try database.close()
    }

    private func schema(_ database: LarderDatabase) throws -> [String] {
        try database.read { db in
            try String.fetchAll(
                db,
                sql: "SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_schema ORDER BY 1"
            )
        }
    }

    @Test("TRUST-15 a database of every older build is brought up to date by a start, and keeps what it has")
    func upgrade() throws {
        let migrations = AppList.standard.migrations
        let new = try TemporaryFolder()
        try made(by: migrations, in: new)
        let model = try LarderDatabase(in: DataDirectory(at: new.url), migrations: migrations, logger: .quiet)
        let expected = try schema(model)
        for count in stride(from: 0, to: migrations.count, by: 3) {
            let data = try TemporaryFolder()
            try made(by: Array(migrations.prefix(count)), in: data)
            let database = try LarderDatabase(in: DataDirectory(at: data.url), migrations: migrations, logger: .quiet)
            #expect(try schema(database) == expected, "\(count) of \(migrations.count) migrations")
            let secrets = try SealedSecrets(database)
            let secret = try database.read { try secrets.secret(name: "a secret", in: $0) }
            #expect(secret == Data("token".utf8), "\(count) of \(migrations.count) migrations")
            try database.close()
        }
    }

    @Test("TRUST-15 a database of a newer build is refused by name and not changed")
    func downgrade() throws {
        let migrations = AppList.standard.migrations
        let data = try TemporaryFolder()
        let future = SchemaMigration("ships/999 from the future", sql: "CREATE TABLE future (a)")
        try made(by: migrations + [future], in: data)
        let file = data.url.appending(path: "larder.sqlite")
        let before = try Data(contentsOf: file)
        let error = #expect(throws: StorageError.self) {
            try LarderDatabase(in: DataDirectory(at: data.url), migrations: migrations, logger: .quiet)
        }
        guard case .newerSchema(_, let unknown) = error else { return #expect(Bool(false), "\(error as Any)") }
        #expect(unknown == ["ships/999 from the future"])
        #expect(try Data(contentsOf: file) == before)
    }

    /// The last step of each owner of replicated tables in the first build that left out columns of newer ones.
    private static let firstOfTwoBuilds = [
        "sessions/004 cookies", "disk/012 outbox of servers", "pdf/007 files", "ships/005 listed at",
        "shop/006 changes of products", "notes/012 attempts",
    ]

    /// The steps up to those.
    private static func beginning(_ migrations: [SchemaMigration]) -> [SchemaMigration] {
        func owner(_ name: String) -> Substring { name.prefix { $0 != "/" } }
        let last = Dictionary(uniqueKeysWithValues: firstOfTwoBuilds.map { (owner($0), $0) })
        return migrations.filter { step in last[owner(step.name)].map { step.name <= $0 } ?? true }
    }

    /// Returns the changes of later steps that servers of the earlier build cannot work beside.
    private static func breaks(_ base: [SchemaMigration], _ all: [SchemaMigration], _ tables: [String]) throws
        -> [String]
    {
        let (before, after) = (try ReplicatedSchema(base, tables), try ReplicatedSchema(all, tables))
        return tables.flatMap { table -> [String] in
            guard let old = before.tables[table] else {
                let parents = after.tables[table]?.parents.filter { before.tables[$0] != nil } ?? []
                return parents.map { "\(table) refers to \($0), whose rows older servers delete" }
            }
            guard let new = after.tables[table] else { return ["\(table) is gone"] }
            var found: [String] = []
            if !new.columns.starts(with: old.columns) { found.append("\(table) has other columns") }
            if new.definition.commonPrefix(with: old.definition).count
                + String(new.definition.reversed()).commonPrefix(with: String(old.definition.reversed())).count
                < old.definition.count
            {
                found.append("\(table) is not only extended")
            }
            if new.parents != old.parents { found.append("\(table) has other references") }
            if new.uniques != old.uniques { found.append("\(table) has other unique indexes") }
            return found
        }
    }

    @Test("SCALE-21 Steps of replicated tables only add, since servers of the build before run beside them")
    func additions() throws {
        let (all, tables) = (AppList.standard.migrations, AppList.standard.replicated.tables.names)
        #expect(Set(Self.firstOfTwoBuilds).isSubset(of: all.map(\.name)))
        #expect(try Self.breaks(Self.beginning(all), all, tables) == [])
        // Servers of the build before neither keep nor remove files of a column that they do not know.
        let base = try ReplicatedSchema(Self.beginning(all), tables).tables
        let columns = AppList.standard.replicated.tables.contents.filter { base[$0.key] != nil }
        #expect(columns == ["disk_outbox": "blob_id", "pdf_document": "blob_id"])

        func found(_ sql: String, _ more: [String] = []) throws -> [String] {
            try Self.breaks(all, all + [SchemaMigration("notes/999 later", sql: sql)], tables + more)
        }
        #expect(
            try found("ALTER TABLE note ADD COLUMN colour TEXT NOT NULL DEFAULT 'x'; CREATE INDEX i ON note (colour)")
                == []
        )
        #expect(try found("ALTER TABLE session ADD COLUMN a TEXT; ALTER TABLE session ADD COLUMN b TEXT") == [])
        #expect(try found("CREATE TABLE label (note INTEGER PRIMARY KEY)", ["label"]) == [])
        let child = "CREATE TABLE label (note INTEGER PRIMARY KEY REFERENCES note (id))"
        #expect(try found(child, ["label"]) == ["label refers to note, whose rows older servers delete"])
        #expect(try found("CREATE UNIQUE INDEX i ON note (body)") == ["note has other unique indexes"])
        #expect(try found("ALTER TABLE note RENAME COLUMN body TO text").contains("note has other columns"))
        #expect(try found("ALTER TABLE ship RENAME TO boat").contains("ship is gone"))
        let reference = "ALTER TABLE note ADD COLUMN other INTEGER REFERENCES note (id)"
        #expect(try found(reference) == ["note has other references"])
    }

    /// The parts of tables that servers of two builds must have in common.
    private struct ReplicatedSchema {
        struct Table {
            var (definition, columns, parents, uniques): (String, [String], [String], Set<[String]>)
        }

        var tables: [String: Table] = [:]

        init(_ migrations: [SchemaMigration], _ names: [String]) throws {
            let folder = try TemporaryFolder()
            let data = try DataDirectory(at: folder.url)
            let database = try LarderDatabase(in: data, migrations: migrations, logger: .quiet)
            try database.read { db in
                for name in names where try db.tableExists(name) { tables[name] = try Self.table(name, db) }
            }
            try database.close()
        }

        private static func table(_ name: String, _ db: Database) throws -> Table {
            let columns =
                "SELECT concat FROM (SELECT name || ' ' || type || ' ' || \"notnull\" || ' ' || pk || ' '"
                + " || coalesce(dflt_value, '') AS concat FROM pragma_table_xinfo(?))"
            return Table(
                definition: try String.fetchOne(
                    db,
                    sql: "SELECT sql FROM sqlite_schema WHERE name = ?",
                    arguments: [name]
                )
                    ?? "",
                columns: try String.fetchAll(db, sql: columns, arguments: [name]),
                parents: try db.foreignKeys(on: name).map(\.destinationTable),
                uniques: Set(try db.indexes(on: name).filter(\.isUnique).map(\.columns))
            )
        }
    }

    @Test("TRUST-24 doctor names the table of a value that SQLite accepts and no build has stored")
    func value() async throws {
        let data = try TemporaryFolder()
        let apps = AppList.standard
        try LarderDatabase(in: DataDirectory(at: data.url), migrations: apps.migrations, logger: .quiet).close()
        let queue = try DatabaseQueue(path: data.path + "/larder.sqlite")
        try await queue.write { db in
            try db.execute(
                sql: """
                    INSERT INTO ship (
                        id, name, sort_key, roles, active, listed, from_snapshot, added_revision, changed_revision
                    ) VALUES ('1', 'A', 'a', '[]', 1, 1, 0, 1, 1), ('2', 'B', 'b', '[', 1, 1, 0, 1, 1)
                    """
            )
        }
        try queue.close()
        let findings = DataCheck.findings(at: data.url, apps: apps, readsFiles: false, progress: { _ in })
        let detail = try #require(findings.first { $0.subject == "database" && $0.verdict == .broken }?.detail)
        #expect(detail.contains("ship: column roles has a value that was never stored in it"), "\(detail)")
    }
}
