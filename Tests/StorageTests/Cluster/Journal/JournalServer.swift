import Foundation
import GRDB
import Storage
import TestKit

@testable import Cluster

/// A journal in a schema of the test's own.
struct JournalCluster {
    let options: PostgresOptions
    let database: PostgresDatabase

    init(on server: RunningPostgres? = nil, timeout: Duration = .seconds(60)) async throws {
        let shared = try await RunningPostgres.shared.value
        let server = server ?? shared
        let schema = try server.schema()
        var options = PostgresOptions(url: "\(server.address())&options=-csearch_path%3D\(schema)")
        // By default longer than the slowest machine takes for anything that is not meant to be late.
        options.timeout = timeout
        (options.name, options.channel, options.connections) = (schema, schema, 6)
        self.options = options
        database = PostgresDatabase(options, logger: .quiet)
        try await database.migrate(Journal.storeMigrations)
    }

    /// Starts a server with an empty file, which reads the journal.
    func server(_ name: String) async throws -> JournalServer { try await JournalServer(name, in: self) }

    /// Runs a statement as an operator would.
    func execute(_ sql: String, _ parameters: [any SQLParameter] = []) async throws {
        try await database.write { _ = try $0.execute(sql, parameters) }
    }

    /// The numbers of the journal's rows.
    func numbers() async throws -> [Int64] {
        try await database.rows("SELECT number FROM journal ORDER BY number") { try $0.value("number") }
    }
}

/// One of several servers: a SQLite file that follows the journal.
struct JournalServer {
    let folder: TemporaryFolder
    let database: LarderDatabase
    let journal: Journal
    let log: LogRecorder

    init(_ name: String, in cluster: JournalCluster, folder: TemporaryFolder = .unmade()) async throws {
        try await self.init(opening: name, in: cluster, folder: folder)
        try await journal.prepare()
    }

    /// Opens a file without reading the journal.
    init(
        opening name: String,
        in cluster: JournalCluster,
        folder: TemporaryFolder,
        schema: Int = 1,
        limits: JournalLimits = JournalLimits(),
        migrations: [SchemaMigration] = Harbour.migrations,
        tables: JournalTables = Harbour.tables
    ) async throws {
        self.folder = folder
        log = LogRecorder()
        var options = DatabaseOptions()
        options.isDurable = false
        database = try LarderDatabase(
            in: DataDirectory(at: folder.url),
            migrations: Journal.fileMigrations + migrations,
            options: options,
            logger: .quiet
        )
        journal = Journal(
            of: database,
            in: PostgresDatabase(cluster.options, logger: .quiet),
            tables: tables,
            server: name,
            schema: schema,
            limits: limits,
            logger: log.logger
        )
    }

    /// The state that screens depend on: all rows of the replicated tables, and the results of searches.
    func contents() throws -> [String] { try database.read(Harbour.contents) }
}

/// An app of the tests: tables of each kind, with triggers that count, a search index, and foreign keys.
enum Harbour {
    static let migrations = [
        SchemaMigration(
            "harbour/001",
            sql: """
                CREATE TABLE ship_revision (
                    one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1), last INTEGER NOT NULL
                ) STRICT;
                CREATE TABLE hidden_ship (
                    account TEXT NOT NULL, ship TEXT NOT NULL, revision INTEGER NOT NULL,
                    PRIMARY KEY (account, ship)
                ) STRICT, WITHOUT ROWID;
                CREATE TABLE person (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE) STRICT;
                CREATE TABLE note (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    person INTEGER NOT NULL REFERENCES person (id) ON DELETE CASCADE,
                    body TEXT NOT NULL, x REAL, data BLOB
                ) STRICT;
                CREATE INDEX note_person ON note (person);
                CREATE TABLE note_cell (
                    person INTEGER NOT NULL, x INTEGER NOT NULL, notes INTEGER NOT NULL, PRIMARY KEY (person, x)
                ) STRICT, WITHOUT ROWID;
                CREATE TABLE visit (page TEXT NOT NULL) STRICT;
                CREATE VIRTUAL TABLE note_text USING fts5 (body, content='note', content_rowid='id');
                CREATE TRIGGER note_came AFTER INSERT ON note BEGIN
                    INSERT INTO note_cell VALUES (new.person, CAST(new.x / 10 AS INTEGER), 1)
                    ON CONFLICT DO UPDATE SET notes = notes + 1;
                END;
                CREATE TRIGGER note_went AFTER DELETE ON note BEGIN
                    UPDATE note_cell SET notes = notes - 1
                    WHERE person = old.person AND x = CAST(old.x / 10 AS INTEGER);
                    DELETE FROM note_cell WHERE notes = 0;
                END;
                """
        )
    ]

    static let replicated = ["ship_revision", "hidden_ship", "person", "note", "note_cell"]
    static let tables = JournalTables(replicated: replicated, virtual: ["note_text"], derivations: ["note": index])

    /// Keeps the search index. Writes need not, since each is applied by its changeset.
    @Sendable private static func index(_ db: Database, _ update: JournalTables.RowUpdate) throws {
        if let row = update.before {
            let id: Int64 = try row.value("id")
            let body: String = try row.value("body")
            let sql = "INSERT INTO note_text (note_text, rowid, body) VALUES ('delete', ?, ?)"
            try db.execute(sql: sql, arguments: [id, body])
        }
        if let row = update.after {
            let id: Int64 = try row.value("id")
            let body: String = try row.value("body")
            try db.execute(sql: "INSERT INTO note_text (rowid, body) VALUES (?, ?)", arguments: [id, body])
        }
    }

    /// The columns of the replicated tables.
    static func columns(_ db: Database) throws -> [String: [String]] {
        try Dictionary(uniqueKeysWithValues: replicated.map { ($0, try db.columns(in: $0).map(\.name)) })
    }

    static func contents(_ db: Database) throws -> [String] { try contents(db, columns(db)) }

    /// The values of some columns only.
    static func contents(_ db: Database, _ known: [String: [String]]) throws -> [String] {
        var lines: [String] = []
        for table in replicated {
            let columns = known[table, default: []].map { "quote(\"\($0)\")" }.joined(separator: " || ',' || ")
            lines += try String.fetchAll(db, sql: "SELECT \(columns) AS line FROM \(table) ORDER BY line")
                .map { "\(table): \($0)" }
        }
        for word in 0..<10 {
            let sql = "SELECT rowid FROM note_text WHERE note_text MATCH 'word\(word)' ORDER BY rowid"
            lines.append("word\(word): \(try Int.fetchAll(db, sql: sql))")
        }
        return lines
    }

    /// Whether the counters are those of the rows.
    static func countsAreRight(_ db: Database) throws -> Bool {
        let counted = "SELECT person || ' ' || x || ' ' || notes AS line FROM note_cell ORDER BY line"
        let real = """
            SELECT person || ' ' || CAST(x / 10 AS INTEGER) || ' ' || count(*) AS line FROM note
            GROUP BY person, CAST(x / 10 AS INTEGER) ORDER BY line
            """
        return try String.fetchAll(db, sql: counted) == String.fetchAll(db, sql: real)
    }
}

/// The writes of the app.
extension Harbour {
    /// Hides a ship, and returns the revision.
    static func hide(_ ship: Int, for account: Int, on server: JournalServer) async throws -> Int {
        try await server.journal.write(scope: "ships") { db in
            try db.execute(sql: "INSERT INTO ship_revision VALUES (1, 1) ON CONFLICT DO UPDATE SET last = last + 1")
            let revision = try Int.fetchOne(db, sql: "SELECT last FROM ship_revision") ?? 0
            try db.execute(
                sql:
                    """
                    INSERT INTO hidden_ship (account, ship, revision) VALUES (?, ?, ?)
                    ON CONFLICT DO UPDATE SET revision = excluded.revision
                    """,
                arguments: ["a\(account)", "s\(ship)", revision]
            )
            return revision
        }
    }

    /// Registers a person, unless the name is taken.
    @discardableResult
    static func register(_ name: String, on server: JournalServer) async throws -> Int64? {
        try await server.journal.write(scope: "people", locks: ["name/\(name)"]) { db in
            let find = "SELECT 1 FROM person WHERE name = ?"
            guard try Int.fetchOne(db, sql: find, arguments: [name]) == nil else { return nil }
            let id = try server.journal.nextRowID(of: "person")
            try db.execute(sql: "INSERT INTO person VALUES (?, ?)", arguments: [id, name])
            return id
        }
    }

    static func remove(_ person: Int64, on server: JournalServer) async throws {
        try await server.journal.write(scope: "people", locks: ["notes/\(person)"]) { db in
            try db.execute(sql: "DELETE FROM person WHERE id = ?", arguments: [person])
        }
    }

    /// Writes a note, if its person exists.
    @discardableResult
    static func add(_ body: String, _ x: Double, for person: Int64, on server: JournalServer) async throws -> Int64? {
        try await server.journal.write(scope: "notes/\(person)") { db in
            let find = "SELECT 1 FROM person WHERE id = ?"
            guard try Int.fetchOne(db, sql: find, arguments: [person]) != nil else { return nil }
            let id = try server.journal.nextRowID(of: "note")
            try db.execute(
                sql: "INSERT INTO note (id, person, body, x, data) VALUES (?, ?, ?, ?, ?)",
                arguments: [id, person, body, x, x > 50 ? Data(body.utf8) : nil]
            )
            // It is rolled back with the row, and made again.
            try db.execute(sql: "INSERT INTO note_text (rowid, body) VALUES (?, ?)", arguments: [id, body])
            return id
        }
    }

    static func edit(_ body: String, for person: Int64, on server: JournalServer) async throws {
        try await server.journal.write(scope: "notes/\(person)") { db in
            let sql = "UPDATE note SET body = ? WHERE id = (SELECT min(id) FROM note WHERE person = ?)"
            try db.execute(sql: sql, arguments: [body, person])
        }
    }

    static func drop(for person: Int64, on server: JournalServer) async throws {
        try await server.journal.write(scope: "notes/\(person)") { db in
            let sql = "DELETE FROM note WHERE id = (SELECT max(id) FROM note WHERE person = ?)"
            try db.execute(sql: sql, arguments: [person])
        }
    }

    /// Adds one to a revision, by a read and a write: updates would be lost if two servers did it at the same time.
    @discardableResult
    static func count(_ scope: String, on server: JournalServer) async throws -> Int {
        try await server.journal.write(scope: scope) { db in
            let find = "SELECT revision FROM hidden_ship WHERE account = ? AND ship = 'counter'"
            let value = (try Int.fetchOne(db, sql: find, arguments: [scope]) ?? 0) + 1
            let sql =
                """
                INSERT INTO hidden_ship (account, ship, revision) VALUES (?, 'counter', ?)
                ON CONFLICT DO UPDATE SET revision = ?
                """
            try db.execute(sql: sql, arguments: [scope, value, value])
            return value
        }
    }

    static func counter(_ scope: String, on server: JournalServer) throws -> Int? {
        let find = "SELECT revision FROM hidden_ship WHERE account = ? AND ship = 'counter'"
        return try server.database.read { try Int.fetchOne($0, sql: find, arguments: [scope]) }
    }
}
