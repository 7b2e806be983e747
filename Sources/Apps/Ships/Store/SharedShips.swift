import AppInterface
import Foundation
import Freshness
import Screens
import SharedStore
import Synchronization

/// The ships as accounts see them, in a store that several servers share.
///
/// Each change takes the next number of one counter, whose row is locked until its commit: a reader of a number sees
/// all changes up to it.
struct SharedShips: ShipLists {
    let database: SharedDatabase
    let changes: SharedChanges
    /// The last response that this server has taken over.
    let merged = MergedResponse()

    init(_ access: SharedStoreAccess) {
        (database, changes) = (access.database, access.changes)
    }

    static let contentTopic = ServerEvent.Audience.app(ShipStore.app).topic

    private static func topic(_ account: String) -> String {
        ServerEvent.Audience.account(app: ShipStore.app, account: account).topic
    }

    func changeToken(account: String) -> ChangeToken {
        changes.token(of: Self.contentTopic).and(changes.token(of: Self.topic(account)))
    }

    /// Changes what an account has deleted, one change after the other.
    private func write<Value: Sendable>(
        of account: String,
        _ updates: @escaping @Sendable (SQLTransaction) throws -> Value
    ) async throws -> Value {
        // Others learn of it by the event that is published next.
        defer { changes.changed(Self.topic(account)) }
        return try await database.write(turns: ["ships/\(account)"], updates)
    }

    func hide(_ id: String, account: String, if preconditions: WritePreconditions) async throws -> ShipPage.Counts? {
        try await write(of: account) { transaction in
            let ship = try transaction.rows(Self.selectShip, [account, id]).first.map { try ShipOfAccount($0) }
            guard let ship, !ship.isHidden else { return nil }
            try preconditions.check(version: ship.revision)
            try Self.insertMarks(for: [id], hidden: true, account: account, transaction)
            return try ShipPage.Counts(transaction, account: account)
        }
    }

    func restore(_ wanted: [String]?, account: String, if preconditions: WritePreconditions) async throws
        -> (restored: [String], counts: ShipPage.Counts)
    {
        try await write(of: account) { transaction in
            let before = try ShipPage.Counts(transaction, account: account)
            try preconditions.check(version: before.revision)
            let hidden = try transaction.rows(Self.selectHidden, [account]).map { try $0.value("ship_id") as String }
            let restored = wanted.map { wanted in hidden.filter(Set(wanted).contains) } ?? hidden
            guard !restored.isEmpty else { return ([], before) }
            try Self.insertMarks(for: restored, hidden: false, account: account, transaction)
            return (restored, try ShipPage.Counts(transaction, account: account))
        }
    }

    /// Removes all that is stored of an account, in the transaction that ends its last session.
    static func removeMarks(of account: String, _ transaction: SQLTransaction) throws {
        try transaction.execute("DELETE FROM ship_of_account WHERE account = $1", [account])
    }

    func accountsWithHiddenShips() async throws -> [String] {
        try await database.rows(Self.selectAccountsWithHiddenShips) { try $0.value("account") as String }
    }

    /// Marks ships as hidden or restored at the next revision.
    private static func insertMarks(
        for ids: [String],
        hidden: Bool,
        account: String,
        _ transaction: SQLTransaction
    ) throws {
        let revision = try nextRevision(transaction)
        try transaction.execute(insertMarks, [account, ids, revision, hidden])
        try transaction.execute(deleteOldMarks, [account, ids])
    }

    /// Takes the next revision. Others that take one wait for the commit.
    ///
    /// - Parameter content: Whether the change concerns every account.
    static func nextRevision(content: Bool = false, _ transaction: SQLTransaction) throws -> Int {
        let sql = "UPDATE ship_revision SET last = last + 1\(content ? ", content = last + 1" : "") RETURNING last"
        guard let row = try transaction.rows(sql).first else { throw SharedStoreError.noSuchColumn("last") }
        return try row.value("last")
    }

    private static let insertMarks = """
        INSERT INTO ship_of_account (account, ship_id, revision, hidden) SELECT $1, id, $3, $4 FROM unnest($2) AS id
        """
    private static let deleteOldMarks = """
        DELETE FROM ship_of_account AS mark USING (
            SELECT ship_id, revision, row_number() OVER (PARTITION BY ship_id ORDER BY revision DESC) AS number
            FROM ship_of_account WHERE account = $1 AND ship_id = ANY($2)
        ) AS mine
        WHERE mine.number > \(ShipStore.keptMarks) AND mark.account = $1 AND mark.ship_id = mine.ship_id
            AND mark.revision = mine.revision
        """
    static let selectHidden = """
        SELECT ship_id FROM (
            SELECT DISTINCT ON (ship_id) ship_id, hidden FROM ship_of_account WHERE account = $1
            ORDER BY ship_id, revision DESC
        ) AS mark WHERE hidden ORDER BY ship_id
        """
    private static let selectAccountsWithHiddenShips = """
        SELECT DISTINCT account FROM (
            SELECT DISTINCT ON (account, ship_id) account, hidden FROM ship_of_account
            ORDER BY account, ship_id, revision DESC
        ) AS mark WHERE hidden ORDER BY account
        """
}

/// The last response of the API that a server has taken over, and the revision of the ships after it.
final class MergedResponse: Sendable {
    private let state = Mutex<(body: Data, content: Int)?>(nil)

    /// Whether the ships are still those of a response.
    func holds(_ body: Data, content: Int) -> Bool {
        state.withLock { $0.map { $0.content == content && $0.body == body } ?? false }
    }

    func note(_ body: Data, content: Int) { state.withLock { $0 = (body, content) } }
}
