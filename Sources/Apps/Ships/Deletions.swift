import Cluster
import Concurrency
import Foundation
import GRDB
import HTTP
import Screens
import Storage
import Synchronization
import Upstream

// Deletions and restorations of ships. They are local to the account and never sent to the upstream.
extension ShipsApp {
    /// Most ids that one request may name.
    private static let maximumIDs = 500

    /// `DELETE /v1/ships/{id}`: hides a ship from the account.
    func deleteShip(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let id = try Self.shipID(in: request)
        let preconditions = request.writePreconditions()
        _ = try await store.users.catchUp()
        _ = try ship(id, visibleTo: session)
        // Another request of the same account may have deleted it since.
        let (counts, response) = try await request.answering { (counts: ShipPage.Counts?) in
            guard let counts else { throw Self.deleted }
            return try Self.response([id], counts, to: request, [.undoDeletion(of: id)])
        } to: {
            try await store.hide(id, account: session.account, if: preconditions)
        }
        lastChange.advance(to: clock.now())
        if let counts { publishChange(counts.revision, to: session.account) }
        return response
    }

    /// `POST /v1/ships/restore`: restores all ships that the account deleted, or those of `{"ids": […]}`; other ids are
    /// ignored.
    func restoreShips(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let ids = try await request.optionalJSONObject()?.strings("ids")?.map { ItemPaths.identity($0) ?? $0 }
        guard ids?.count ?? 0 <= Self.maximumIDs else {
            throw Problem.validation([.field("/ids", "too-long", .tooManyIDs(Self.maximumIDs))])
        }
        return try await request.answering { (outcome: (restored: [String], counts: ShipPage.Counts)) in
            try Self.response(outcome.restored, outcome.counts, to: request)
        } to: {
            try await restore(ids, for: session.account, if: request.writePreconditions())
        }.response
    }

    /// Whether ``listWasRefreshed(_:)`` may have something to restore after a read that was served from the store.
    func mustRestore(after result: ReadResult) -> Bool {
        guard settings[Self.deletion] == .literal, let validatedAt = result.provenance.validatedAt else { return false }
        return lastChange.isBefore(validatedAt)
    }

    /// Restores the deleted ships of every account in literal mode, if a refresh fetched the list since they were
    /// deleted; nothing in the other mode. If they cannot be written at present, the next refresh does it.
    ///
    /// - Throws: `StorageError` other than a full disk.
    func listWasRefreshed(_ result: ReadResult) async throws {
        guard settings[Self.deletion] == .literal else { return }
        // A response that was fetched after its request gave up waiting counts when it is first read.
        let isNew = result.response.map { lastChange.advance(to: $0.head.responseTime) } ?? false
        guard isNew || result.provenance.isValidatedNow else { return }
        do {
            for account in try store.accountsWithHiddenShips() { _ = try await restore(nil, for: account) }
        } catch  where UserDatabase.isTemporary(error) {
            return
        }
    }

    private func restore(_ ids: [String]?, for account: String, if preconditions: WritePreconditions = .none)
        async throws
        -> (restored: [String], counts: ShipPage.Counts)
    {
        let (restored, counts) = try await store.restore(ids, account: account, if: preconditions)
        if !restored.isEmpty { publishChange(counts.revision, to: account) }
        return (restored, counts)
    }

    /// Publishes a new revision of the list.
    ///
    /// - Parameter account: That which sees the change; nil for all.
    func publishChange(_ revision: Int, to account: String? = nil) {
        let audience = account.map { ServerEvent.Audience.account(app: Self.name, account: $0) } ?? .app(Self.name)
        events.publish(["ships.list"], of: Self.name, revision, to: audience)
    }

    private static func response(
        _ ids: [String],
        _ counts: ShipPage.Counts,
        to request: ScreenRequest,
        _ actions: [Action] = []
    ) throws -> ScreenResponse {
        try .local(
            ShipChangeScreen(ids: ids, revision: counts.revision, hiddenCount: counts.hidden, actions: actions),
            "ships.list",
            request,
            revision: counts.revision,
            selfLink: "/v1/ships"
        )
    }
}

/// A date that only moves forward.
final class LatestDate: Sendable {
    private let date: Mutex<Date>

    init(_ date: Date) { self.date = Mutex(date) }

    func isBefore(_ other: Date) -> Bool { date.withLock { $0 < other } }

    /// Moves the date forward.
    ///
    /// - Returns: False if it is not before `other`.
    @discardableResult
    func advance(to other: Date) -> Bool {
        date.withLock { date in
            guard other > date else { return false }
            date = other
            return true
        }
    }
}

/// Ships that accounts delete and restore. A deleted ship is hidden from its account; the row of the ship stays.
extension ShipStore {
    /// Hides a ship from an account.
    ///
    /// - Parameter preconditions: Compared with the revision of the ship.
    /// - Returns: nil if there is no such ship, or if it is already hidden.
    /// - Throws: ``Problem`` 412.
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
    /// - Throws: ``Problem`` 412.
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

    private static let deleteOldMarks = """
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

    private static let selectAccountsWithHiddenShips = """
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
