import Cluster
import Concurrency
import Foundation
import GRDB
import Screens
import Storage

/// The ships of the app, and the ships that each account has deleted and restored.
///
/// Every change takes the next number of one counter, its revision. A ship has the revisions at which it was added,
/// last changed and removed; an account's last deletions and restorations of a ship have theirs. So the changes since a
/// revision are a query of a few rows, not a log that grows.
struct ShipStore: Sendable {
    /// The name of the app, as in the audiences of its events.
    static let app = "ships"
    /// All of the rows, which have one counter of revisions.
    static let scope = "ships"
    /// The tables that several servers replicate.
    static let replicated = JournalTables(
        replicated: ["ship", "ship_of_account", "ship_revision"],
        beginning: ["ship_revision"]
    )

    let users: UserDatabase
    /// Bumped when a ship changes for every account.
    let contentChanges = VersionCounter()
    /// Bumped when an account deletes or restores ships, by account.
    let accountChanges = VersionCounters()
    /// The last response that this server has compared with ships that other servers change, too.
    let merged = MergedResponse()
    /// The texts that searches look through.
    let index = ShipIndex()

    init(_ users: UserDatabase) {
        self.users = users
        users.onChange(of: "ship") { [contentChanges] _ in contentChanges.bump() }
        users.onChange(of: "ship_of_account") { [accountChanges] keys in
            let accounts = Set(keys.compactMap { key in key.first.flatMap { String.fromDatabaseValue($0) } })
            for account in accounts { accountChanges[account].bump() }
        }
    }

    /// Returns a token that is valid until something changes that the account sees. Take it before
    /// `UserDatabase.catchUp()`.
    func changeToken(account: String) -> ChangeToken {
        let topics = [
            ServerEvent.Audience.app(Self.app).topic,
            ServerEvent.Audience.account(app: Self.app, account: account).topic,
        ]
        return topics.reduce(ChangeToken(of: contentChanges, accountChanges[account])) {
            $0.and(users.changeToken(of: $1))
        }
    }

    /// Returns a ship, and whether the account has hidden it; nil if there is no such ship.
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

    /// When the API last listed the ships, as far as servers have said so; nil if none has.
    static func listedAt(_ db: Database) throws -> Date? {
        let listedAt = try listing(db)
        return listedAt > 0 ? Date(millisecondsSince1970: listedAt) : nil
    }

    /// Which list of the API servers have taken over: its time by the clock of one of them, 0 for none.
    static func listing(_ db: Database) throws -> Int64 {
        try Int64.fetchOne(db.cachedStatement(sql: "SELECT listed_at FROM ship_revision")) ?? 0
    }

    /// The list that several servers have taken over, as far as this one knows; nil for a server by itself.
    ///
    /// - Throws: `StorageError`.
    func listing() throws -> Int64? { users.isShared ? try users.read(Self.listing) : nil }

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

/// A ship, and whether an account has hidden it.
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
