import Cluster
import Concurrency
import GRDB
import HTTP
import Screens
import Upstream

/// Brings the stored ships up to date. Every screen that shows ships calls it first.
struct ShipRefresher: Sendable {
    let api: SpaceXAPI
    let store: ShipStore
    let snapshot: ShipSnapshot
    let deletions: Deletions
    let events: ShipListEvents

    /// Ships that were read, and how they came to be.
    struct Reading<Rows> {
        let result: ReadResult
        let rows: Rows
        /// Nil if the rows are those of all servers.
        var lag: UserDatabase.Lag?

        /// The notification for a screen that shows them.
        var banner: Banner? {
            lag.map { .storeUnavailable(age: $0.age) } ?? (result.provenance.offline ? .shipsOffline : nil)
        }
    }

    /// Brings the stored ships up to date and reads some of them; if the API need not be asked, in one transaction with
    /// their age.
    ///
    /// - Throws: `UpstreamFailure` if there is nothing to show; `StorageError`, `SharedStoreError`,
    ///   `CancellationError`; errors of the reading.
    func refresh<Rows>(_ cachePolicy: CachePolicy, reading rows: (Database) throws -> Rows) async throws
        -> Reading<Rows>
    {
        if let lag = try await store.users.catchUp() { return try reading(behind: lag, rows) }
        let readToken = api.readToken()
        let stored = try store.users.read { db -> Reading<Rows>? in
            guard let result = try api.storedResult(cachePolicy, since: readToken, in: db),
                !deletions.mustRestore(after: result),
                // The ships of a response may be in another journal than that which this server follows now.
                try !store.users.isShared || ShipStore.contentRevision(db) > 0
            else { return nil }
            return Reading(result: result, rows: try rows(db))
        }
        if let stored { return stored }
        do {
            let result = try await refresh(cachePolicy)
            return Reading(result: result, rows: try store.users.read(rows))
        } catch {
            guard let lag = store.users.lag(after: error) else { throw error }
            return try reading(behind: lag, rows)
        }
    }

    /// Reads ships while changes of other servers cannot be known and nothing can be changed: the API is not asked.
    private func reading<Rows>(behind lag: UserDatabase.Lag, _ rows: (Database) throws -> Rows) throws -> Reading<Rows>
    {
        let readToken = api.readToken()
        return try store.users.read { db in
            let stored = try api.storedResult(.onlyIfCached, since: readToken, in: db)
            guard var result = try stored ?? ShipStore.listedAt(db).map(api.result) else { throw lag.reason }
            result.provenance.stale = true
            result.changeToken = nil
            return Reading(result: result, rows: try rows(db), lag: lag)
        }
    }

    /// Reads the list of ships from the API and takes it over; if that fails, the stored ships do not change, and on a
    /// first start the bundled snapshot is imported.
    ///
    /// - Returns: The provenance of the ships, for the screens that show them.
    /// - Throws: `UpstreamFailure` if there is nothing to show; `StorageError`, `CancellationError`.
    func refresh(_ cachePolicy: CachePolicy) async throws -> ReadResult {
        let result = try await store.refresh(from: api, cachePolicy, else: snapshot) {
            events.publishChange(revision: $0)
        }
        try await deletions.listWasRefreshed(result)
        return result
    }
}

/// Finds the ship that a request names.
struct ShipLookup: Sendable {
    let store: ShipStore

    /// Returns the id in the path of a request.
    ///
    /// - Throws: ``Problem`` 404 `not-found` if it cannot be the id of a ship, before the store or the upstream is
    ///   asked.
    func id(in request: ScreenRequest) throws -> String {
        let segment = try request.parameter("id")
        guard let id = Ship.paths.id(in: segment) else { throw Self.unknown }
        return id
    }

    /// Returns a ship that the session's account sees.
    ///
    /// - Throws: ``Problem`` 404 `not-found` if there is no such ship, 404 `ship-deleted` if the account deleted it;
    ///   `StorageError`.
    func ship(_ id: String, visibleTo session: Session) throws -> ShipOfAccount {
        try visible(try store.users.read { try ShipStore.ship(id, account: session.account, $0) })
    }

    /// Returns a ship that was read, if the account sees it.
    ///
    /// - Throws: ``Problem`` 404 `not-found` if there is no such ship, 404 `ship-deleted` if the account deleted it.
    func visible(_ ship: ShipOfAccount?) throws(Problem) -> ShipOfAccount {
        guard let ship else { throw Self.unknown }
        guard !ship.isHidden else { throw Self.deleted }
        return ship
    }

    private static let unknown = Problem.notFound(.noShip)

    /// 404: the account deleted the ship.
    static let deleted = Problem(.shipDeleted, "You deleted this ship; POST /v1/ships/restore brings it back.")
}

/// Publishes that the list of ships has changed.
struct ShipListEvents: Sendable {
    let stream: EventStream

    /// Publishes a new revision of the list to every account.
    func publishChange(revision: Int) {
        stream.publish(
            .screenChanged(
                app: ShipsApp.name,
                screen: "ships.list",
                revision: revision,
                audience: .app(ShipsApp.name)
            )
        )
    }

    /// Publishes a new revision of the list to one account.
    func publishChange(revision: Int, to account: String) {
        stream.publish(
            .screenChanged(
                app: ShipsApp.name,
                screen: "ships.list",
                revision: revision,
                audience: .account(app: ShipsApp.name, account: account)
            )
        )
    }
}
