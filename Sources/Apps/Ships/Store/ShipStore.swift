import Database
import Foundation
import Freshness
import GRDB
import ResponseStore
import Upstream

/// The ships of the app, and what each account has deleted and restored.
///
/// Every change takes the next number of one counter, its revision. A ship has the revisions at which it was added,
/// last changed and removed; an account's last deletions and restorations of a ship have theirs. So "what changed since
/// revision n" is a query of a few rows, not of a log that grows.
struct ShipStore: Sendable {
    /// The name of the app, as in the audiences of its events.
    static let app = "ships"

    let database: LarderDatabase
    /// Bumped when a ship changes for every account.
    let contentChanges = VersionCounter()
    /// Bumped when an account deletes or restores ships, by account.
    let accountChanges = VersionCounters()

    init(_ database: LarderDatabase) {
        self.database = database
    }

    /// Returns a token that is valid until something changes that the account sees. Take it before reading.
    func changeToken(account: String) -> ChangeToken {
        ChangeToken(of: contentChanges, accountChanges[account])
    }

    /// Returns a ship as an account has it; nil if there is no such ship.
    static func ship(_ id: String, account: String, _ db: Database) throws -> ShipOfAccount? {
        try Row.fetchOne(try db.cachedStatement(sql: selectShip), arguments: ["account": account, "id": id])
            .map { row in
                try ShipOfAccount(
                    ship: Ship(row: row),
                    isHidden: row.value("hidden"),
                    revision: row.size("changed_revision")
                )
            }
    }

    static let selectShip =
        "SELECT ship.*, \(isHidden()) AS hidden FROM ship WHERE ship.id = :id AND ship.removed_revision IS NULL"

    /// Returns the last revision that concerned every account.
    static func contentRevision(_ db: Database) throws -> Int {
        try Int.fetchOne(try db.cachedStatement(sql: "SELECT content FROM ship_revision")) ?? 0
    }

    /// Takes the next revision.
    ///
    /// - Parameter content: Whether the change concerns every account.
    static func nextRevision(content: Bool = false, _ db: Database) throws -> Int {
        let sql = "UPDATE ship_revision SET last = last + 1\(content ? ", content = last + 1" : "") RETURNING last"
        guard let revision = try Int.fetchAll(db, sql: sql).first else {
            throw StorageError.damagedDatabase(path: "ship_revision", detail: "the counter is missing")
        }
        return revision
    }
}

/// A ship as an account has it.
struct ShipOfAccount: Sendable, Equatable {
    var ship: Ship
    /// Whether the account has hidden it.
    var isHidden: Bool
    /// The revision at which the ship last changed.
    var revision: Int
}

extension Ship {
    /// Decodes a row of table `ship`.
    init(row: Row) throws {
        try self.init(
            id: row.value("id"),
            name: row.value("name"),
            type: row.value("type"),
            roles: row.json("roles"),
            isActive: row.value("active"),
            yearBuilt: row.value("year_built"),
            homePort: row.value("home_port"),
            massKilograms: row.value("mass_kg"),
            imageURL: row.value("image_url"),
            isListed: row.value("listed")
        )
    }
}
