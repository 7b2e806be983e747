import Cluster
import Concurrency
import GRDB
import Screens
import Storage
import Upstream

/// Ships that accounts delete and restore. A deleted ship is hidden from its account; the row of the ship stays.
extension ShipStore {
    /// Hides a ship from an account.
    ///
    /// - Parameter preconditions: Compared with the revision of the ship.
    /// - Returns: nil if there is no such ship, or if it is already hidden.
    /// - Throws: ``Problem`` 412; `StorageError`, `CancellationError`.
    func hide(_ id: String, account: String, if preconditions: WritePreconditions = .none) async throws
        -> ShipPage.Counts?
    {
        try await users.write(scope: Self.scope) { [accountChanges] db in
            guard let ship = try Self.ship(id, account: account, db), !ship.isHidden else { return nil }
            try preconditions.check(version: ship.revision)
            try Self.insertMarks(for: [id], hidden: true, account: account, db)
            accountChanges[account].bump(afterCommitOf: db)
            return try ShipPage.Counts(db, account: account)
        }
    }

    /// Restores hidden ships of an account.
    ///
    /// - Parameters:
    ///   - wanted: The ships to restore, nil for all; those that are not hidden are ignored.
    ///   - preconditions: Compared with the revision of the list.
    /// - Returns: The ships that were restored.
    /// - Throws: ``Problem`` 412; `StorageError`, `CancellationError`.
    func restore(_ wanted: [String]?, account: String, if preconditions: WritePreconditions = .none) async throws
        -> (restored: [String], counts: ShipPage.Counts)
    {
        try await users.write(scope: Self.scope) { [accountChanges] db in
            if preconditions != .none {
                try preconditions.check(version: try ShipPage.Counts(db, account: account).revision)
            }
            let hidden = try String.fetchAll(db, sql: Self.selectHidden, arguments: ["account": account])
            let restored = wanted.map { wanted in hidden.filter(Set(wanted).contains) } ?? hidden
            if !restored.isEmpty {
                try Self.insertMarks(for: restored, hidden: false, account: account, db)
                accountChanges[account].bump(afterCommitOf: db)
            }
            return (restored, try ShipPage.Counts(db, account: account))
        }
    }

    /// Removes all that is stored of an account, in the transaction that ends its last session.
    func removeMarks(of account: String, _ db: Database) throws {
        try db.execute(sql: "DELETE FROM ship_of_account WHERE account = ?", arguments: [account])
        accountChanges[account].bump(afterCommitOf: db)
    }

    /// Removes all that is stored of an account.
    func removeMarks(of account: String) async throws {
        try await users.write(scope: Self.scope) { try removeMarks(of: account, $0) }
    }

    /// The accounts that have hidden ships.
    func accountsWithHiddenShips() throws -> [String] {
        try users.read { try String.fetchAll($0, sql: Self.selectAccountsWithHiddenShips) }
    }

    /// Marks ships as hidden or restored at the next revision.
    private static func insertMarks(for ids: [String], hidden: Bool, account: String, _ db: Database) throws {
        let revision = try nextRevision(db)
        let insert = try db.cachedStatement(sql: insertMark)
        let deleteOld = try db.cachedStatement(sql: deleteOldMarks)
        for id in ids {
            try insert.execute(arguments: [account, id, revision, hidden])
            try deleteOld.execute(arguments: ["account": account, "id": id])
        }
    }

    /// Deletions and restorations of one ship that are kept for each account: the last one counts, the others tell
    /// which ships a front end with an older revision shows.
    static let keptMarks = 16

    static let insertMark = "INSERT INTO ship_of_account (account, ship_id, revision, hidden) VALUES (?, ?, ?, ?)"

    static let deleteOldMarks = """
        DELETE FROM ship_of_account WHERE account = :account AND ship_id = :id AND revision < (
            SELECT revision FROM ship_of_account WHERE account = :account AND ship_id = :id
            ORDER BY revision DESC LIMIT 1 OFFSET \(keptMarks - 1)
        )
        """

    // SQLite takes the other columns from the row that has the maximum (lang_select.html, "bare columns in an aggregate
    // query").
    static let selectHidden = """
        SELECT ship_id FROM (
            SELECT ship_id, hidden, max(revision) FROM ship_of_account WHERE account = :account GROUP BY ship_id
        ) WHERE hidden = 1 ORDER BY ship_id
        """

    static let selectAccountsWithHiddenShips = """
        SELECT DISTINCT account FROM (
            SELECT account, hidden, max(revision) FROM ship_of_account GROUP BY account, ship_id
        ) WHERE hidden = 1 ORDER BY account
        """

    /// Whether `:account` has hidden the ship of the current row.
    ///
    /// - Parameter revision: SQL of the revision at which to look; nil for now.
    static func isHidden(at revision: String? = nil) -> String {
        """
        coalesce((SELECT mine.hidden FROM ship_of_account AS mine
            WHERE mine.account = :account AND mine.ship_id = ship.id
            \(revision.map { "AND mine.revision <= \($0)" } ?? "")
            ORDER BY mine.revision DESC LIMIT 1), 0)
        """
    }
}
