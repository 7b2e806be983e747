import Foundation
import GRDB
public import Storage

/// The ships of the app, and what each account has done to them.
///
/// Every change takes the next number of one counter. A ship remembers the numbers at which it appeared, changed and went; what an account hid or restored remembers its own.
/// So "what changed since revision n" is a question to rows, not to a log that grows.
public struct ShipStore: Sendable {
    /// The tables.
    public static let migrations: [SchemaMigration] = [
        SchemaMigration(
            "ships/001 ships",
            sql: """
                CREATE TABLE ship (
                    id TEXT NOT NULL PRIMARY KEY,
                    name TEXT NOT NULL,
                    sort_key TEXT NOT NULL,
                    type TEXT,
                    roles TEXT NOT NULL, -- JSON array of texts
                    active INTEGER NOT NULL,
                    year_built INTEGER,
                    home_port TEXT,
                    mass_kg REAL,
                    image_url TEXT,
                    listed INTEGER NOT NULL, -- the API's last answer had it
                    from_snapshot INTEGER NOT NULL, -- known from the bundled snapshot only
                    added_revision INTEGER NOT NULL,
                    changed_revision INTEGER NOT NULL,
                    removed_revision INTEGER
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX ship_by_name ON ship (sort_key, id) WHERE removed_revision IS NULL;

                CREATE TABLE ship_of_account (
                    account TEXT NOT NULL,
                    ship_id TEXT NOT NULL,
                    hidden INTEGER NOT NULL, -- 1: deleted by this account; 0: restored
                    revision INTEGER NOT NULL,
                    PRIMARY KEY (account, ship_id)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX ship_of_account_by_revision ON ship_of_account (account, revision);

                CREATE TABLE ship_revision (
                    one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
                    last INTEGER NOT NULL, -- last number given out
                    content INTEGER NOT NULL -- last number that concerned every account
                ) STRICT;
                INSERT INTO ship_revision (one, last, content) VALUES (1, 0, 0);
                """
        )
    ]

    let database: LarderDatabase

    /// The ships of one database.
    public init(_ database: LarderDatabase) {
        self.database = database
    }

    /// One ship, and whether this account has deleted it; nil where there is none.
    func ship(_ id: String, account: String) throws -> (ship: Ship, isHidden: Bool)? {
        try database.read { db in
            try Row.fetchOne(
                db,
                sql: """
                    SELECT ship.*, coalesce(mine.hidden, 0) AS hidden
                    FROM ship LEFT JOIN ship_of_account AS mine ON mine.account = ? AND mine.ship_id = ship.id
                    WHERE ship.id = ? AND ship.removed_revision IS NULL
                    """,
                arguments: [account, id]
            ).map { (Ship(row: $0), $0["hidden"]) }
        }
    }

    /// Hides ships from an account. Those already hidden and unknown ones are left out of the answer.
    func hide(_ id: String, account: String) async throws -> ShipListing.Counts? {
        try await database.write { db in
            let sql = """
                SELECT coalesce(mine.hidden, 0) FROM ship LEFT JOIN ship_of_account AS mine ON mine.account = ? AND mine.ship_id = ship.id
                WHERE ship.id = ? AND ship.removed_revision IS NULL
                """
            guard try Bool.fetchOne(db, sql: sql, arguments: [account, id]) == false else { return nil }
            try Self.mark([id], hidden: true, account: account, revision: try Self.nextRevision(db), db)
            return try ShipListing.Counts(db, account: account)
        }
    }

    /// Brings hidden ships back for an account; nil brings back all. Ships that are not hidden are left as they are.
    func restore(_ wanted: [String]?, account: String) async throws -> (restored: [String], counts: ShipListing.Counts) {
        try await database.write { db in
            let hidden = try String.fetchAll(
                db,
                sql: "SELECT ship_id FROM ship_of_account WHERE account = ? AND hidden = 1 ORDER BY ship_id",
                arguments: [account]
            )
            let restored = wanted.map { wanted in hidden.filter(Set(wanted).contains) } ?? hidden
            if !restored.isEmpty { try Self.mark(restored, hidden: false, account: account, revision: try Self.nextRevision(db), db) }
            return (restored, try ShipListing.Counts(db, account: account))
        }
    }

    /// Which of these ids belong to no ship.
    func unknown(among ids: [String]) throws -> Set<String> {
        try database.read { db in
            let marks = databaseQuestionMarks(count: ids.count)
            let known = try String.fetchSet(
                db,
                sql: "SELECT id FROM ship WHERE removed_revision IS NULL AND id IN (\(marks))",
                arguments: StatementArguments(ids)
            )
            return Set(ids).subtracting(known)
        }
    }

    /// The whole body of a stored picture; nil if its file is gone.
    func bytes(of answer: StoredAnswer) async throws -> Data? {
        switch try await ResponseStore(database).openBody(of: answer) {
        case .bytes(let data): data
        case .blob(let reader): try reader.readAll()
        case nil: nil
        }
    }

    private static func mark(_ ids: [String], hidden: Bool, account: String, revision: Int, _ db: Database) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO ship_of_account (account, ship_id, hidden, revision) VALUES (?, ?, ?, ?)
                ON CONFLICT (account, ship_id) DO UPDATE SET hidden = excluded.hidden, revision = excluded.revision
                """
        )
        for id in ids { try statement.execute(arguments: [account, id, hidden, revision]) }
    }

    /// The next number of the counter; `content` if it concerns every account.
    static func nextRevision(content: Bool = false, _ db: Database) throws -> Int {
        let sql = "UPDATE ship_revision SET last = last + 1\(content ? ", content = last + 1" : "") RETURNING last"
        guard let revision = try Int.fetchAll(db, sql: sql).first else {
            throw StorageError.damagedDatabase(path: "ship_revision", detail: "the counter is missing")
        }
        return revision
    }
}
