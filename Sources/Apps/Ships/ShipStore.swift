import Foundation
import GRDB
public import Storage
import Upstream

/// The ships of the app, and what each account has done to them.
///
/// Every change takes the next number of one counter. A ship remembers the numbers at which it appeared, last changed
/// and went; an account's last deletions and restorations of a ship keep theirs. So "what changed since revision n" is
/// a question to a few rows, not to a log that grows.
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
                    changed_revision INTEGER NOT NULL, -- of any change, removal included
                    removed_revision INTEGER
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX ship_by_name ON ship (sort_key, id) WHERE removed_revision IS NULL;
                CREATE INDEX ship_by_change ON ship (changed_revision);

                CREATE TABLE ship_of_account (
                    account TEXT NOT NULL,
                    ship_id TEXT NOT NULL,
                    revision INTEGER NOT NULL,
                    hidden INTEGER NOT NULL, -- 1: deleted by this account; 0: restored
                    PRIMARY KEY (account, ship_id, revision)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX ship_of_account_by_revision ON ship_of_account (account, revision);

                CREATE TABLE ship_revision (
                    one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
                    last INTEGER NOT NULL, -- last number given out
                    content INTEGER NOT NULL -- last number that concerned every account
                ) STRICT;
                INSERT INTO ship_revision (one, last, content) VALUES (1, 0, 0);
                """
        ),
        // Those stored from now on are pinned as they are stored (`Resource.isSourceOfRows`).
        SchemaMigration(
            "ships/002 list pinned",
            sql:
                "UPDATE stored_response SET pinned = 1 WHERE upstream = 'spacex' AND method = 'GET' AND url LIKE '%/v4/ships'"
        ),
        // Every page tells how many ships there are. A ship that comes back replaces its row, which no trigger hears
        // of: as a removed one it did not count.
        SchemaMigration(
            "ships/003 counted",
            sql: """
                ALTER TABLE ship_revision ADD COLUMN present INTEGER NOT NULL DEFAULT 0;
                UPDATE ship_revision SET present = (SELECT count(*) FROM ship WHERE removed_revision IS NULL);
                CREATE TRIGGER ship_came AFTER INSERT ON ship WHEN new.removed_revision IS NULL BEGIN
                    UPDATE ship_revision SET present = present + 1;
                END;
                CREATE TRIGGER ship_removed AFTER UPDATE OF removed_revision ON ship BEGIN
                    UPDATE ship_revision SET present = present + (new.removed_revision IS NULL) - (old.removed_revision IS NULL);
                END;
                CREATE TRIGGER ship_deleted AFTER DELETE ON ship WHEN old.removed_revision IS NULL BEGIN
                    UPDATE ship_revision SET present = present - 1;
                END;
                """
        ),
    ]

    let database: LarderDatabase
    /// Bumped when a ship changes for everybody.
    let contentChanges = VersionCounter()
    /// Bumped when an account deletes or restores, by account.
    let accountChanges = VersionCounters()

    /// The ships of one database.
    public init(_ database: LarderDatabase) {
        self.database = database
    }

    /// Whether `:account` has deleted the ship of the row at hand, now or at an earlier revision.
    static func isHidden(at revision: String? = nil) -> String {
        """
        coalesce((SELECT mine.hidden FROM ship_of_account AS mine WHERE mine.account = :account AND mine.ship_id = ship.id
            \(revision.map { "AND mine.revision <= \($0)" } ?? "") ORDER BY mine.revision DESC LIMIT 1), 0)
        """
    }

    /// For how long what an account sees stays as it is. To be taken before it is read.
    func changeToken(account: String) -> ChangeToken {
        ChangeToken(of: contentChanges, accountChanges[account])
    }

    /// One ship, and whether this account has deleted it; nil where there is none.
    func ship(_ id: String, account: String) throws -> (ship: Ship, isHidden: Bool)? {
        try database.read { try Self.ship(id, account: account, $0) }
    }

    private static func ship(_ id: String, account: String, _ db: Database) throws -> (ship: Ship, isHidden: Bool)? {
        try Row.fetchOne(try db.cachedStatement(sql: selectShip), arguments: ["account": account, "id": id])
            .map { (try Ship(row: $0), $0["hidden"]) }
    }

    static let selectShip =
        "SELECT ship.*, \(isHidden()) AS hidden FROM ship WHERE ship.id = :id AND ship.removed_revision IS NULL"

    /// Hides a ship from an account; nil where there is none, or the account does not see it anyway.
    func hide(_ id: String, account: String) async throws -> ShipListing.Counts? {
        defer { accountChanges[account].bump() }
        return try await database.write { db in
            guard try Self.ship(id, account: account, db)?.isHidden == false else { return nil }
            try Self.mark([id], hidden: true, account: account, revision: try Self.nextRevision(db), db)
            return try ShipListing.Counts(db, account: account)
        }
    }

    /// Brings hidden ships back for an account; nil brings back all. Ships that are not hidden are left as they are.
    func restore(_ wanted: [String]?, account: String) async throws -> (restored: [String], counts: ShipListing.Counts)
    {
        defer { accountChanges[account].bump() }
        return try await database.write { db in
            let hidden = try String.fetchAll(db, sql: Self.selectHidden, arguments: ["account": account])
            let restored = wanted.map { wanted in hidden.filter(Set(wanted).contains) } ?? hidden
            if !restored.isEmpty {
                try Self.mark(restored, hidden: false, account: account, revision: try Self.nextRevision(db), db)
            }
            return (restored, try ShipListing.Counts(db, account: account))
        }
    }

    // SQLite takes the plain columns from the row that has the maximum (lang_select.html, "bare columns in an aggregate
    // query").
    static let selectHidden = """
        SELECT ship_id FROM (SELECT ship_id, hidden, max(revision) FROM ship_of_account WHERE account = :account GROUP BY ship_id) WHERE hidden = 1 ORDER BY ship_id
        """

    /// The accounts that have deleted anything.
    func accountsWithHiddenShips() throws -> [String] {
        try database.read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT DISTINCT account FROM (SELECT account, hidden, max(revision) FROM ship_of_account GROUP BY account, ship_id)
                    WHERE hidden = 1 ORDER BY account
                    """
            )
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
    func bytes(of response: CachedResponse) async throws -> Data? {
        switch try await ResponseStore(database).openBody(of: response) {
        case .bytes(let data): data
        case .blob(let reader): try reader.readAll()
        case nil: nil
        }
    }

    private static func mark(_ ids: [String], hidden: Bool, account: String, revision: Int, _ db: Database) throws {
        let insert = try db.cachedStatement(
            sql: "INSERT INTO ship_of_account (account, ship_id, revision, hidden) VALUES (?, ?, ?, ?)"
        )
        let forget = try db.cachedStatement(
            sql: """
                DELETE FROM ship_of_account WHERE account = :account AND ship_id = :id AND revision < (
                    SELECT revision FROM ship_of_account WHERE account = :account AND ship_id = :id ORDER BY revision DESC LIMIT 1 OFFSET \(keptMarks - 1)
                )
                """
        )
        for id in ids {
            try insert.execute(arguments: [account, id, revision, hidden])
            try forget.execute(arguments: ["account": account, "id": id])
        }
    }

    /// Deletions and restorations of one ship that are remembered for each account; the last one counts, the others
    /// tell what a front end of an older revision shows.
    static let keptMarks = 16

    /// The next number of the counter; `content` if it concerns every account.
    static func nextRevision(content: Bool = false, _ db: Database) throws -> Int {
        let sql = "UPDATE ship_revision SET last = last + 1\(content ? ", content = last + 1" : "") RETURNING last"
        guard let revision = try Int.fetchAll(db, sql: sql).first else {
            throw StorageError.damagedDatabase(path: "ship_revision", detail: "the counter is missing")
        }
        return revision
    }
}
