import Database
import Screens
import Upstream

/// Brings the stored ships up to date. Every screen that shows ships calls it first.
struct ShipRefresher: Sendable {
    let api: SpaceXAPI
    let ships: any ShipLists
    /// Where the API's responses are.
    let database: LarderDatabase
    let snapshot: ShipSnapshot
    let deletions: Deletions
    let events: ShipListEvents

    /// Brings the stored ships up to date and reads some of them; if the API need not be asked, in one transaction with
    /// their age.
    ///
    /// - Throws: `UpstreamFailure` if there is nothing to show; `StorageError`, `CancellationError`; errors of the
    ///   reading.
    func refresh<Rows>(_ cachePolicy: CachePolicy, reading: ShipReading<Rows>) async throws -> (ReadResult, Rows) {
        let witness = api.witness()
        switch reading {
        case .local(_, let rows):
            let stored = try database.read { db -> (ReadResult, Rows)? in
                guard let result = try api.storedResult(cachePolicy, since: witness, in: db),
                    !deletions.mustRestore(after: result)
                else { return nil }
                return (result, try rows(db))
            }
            if let stored { return stored }
        case .shared(let read):
            let result = try database.read { try api.storedResult(cachePolicy, since: witness, in: $0) }
            // Ships that another server has stored are at least as new as this server's response.
            if let result, !deletions.mustRestore(after: result), case (let rows, true) = try await read() {
                return (result, rows)
            }
        }
        let result = try await refresh(cachePolicy)
        return (result, try await reading.reader()())
    }

    /// Reads the list of ships from the API and takes it over; if that fails, the stored ships are left as they are,
    /// and on a first start the bundled snapshot is imported.
    ///
    /// - Returns: The provenance of the ships, for the screens that show them.
    /// - Throws: `UpstreamFailure` if there is nothing to show; `StorageError`, `CancellationError`.
    func refresh(_ cachePolicy: CachePolicy) async throws -> ReadResult {
        let result = try await ships.refresh(from: api, cachePolicy, else: snapshot) {
            events.publishChange(revision: $0)
        }
        try await deletions.listWasRefreshed(result)
        return result
    }
}

/// Finds the ship that a request names.
struct ShipLookup: Sendable {
    let ships: any ShipLists

    /// Returns the id in the path of a request.
    ///
    /// - Throws: ``Problem`` 404 `not-found` if it cannot be the id of a ship, before the store or the upstream is
    ///   asked.
    func id(in request: ScreenRequest) throws -> String {
        let segment = try request.parameter("id")
        guard let id = Ship.id(inPath: segment) else { throw Self.unknown(segment) }
        return id
    }

    /// Returns a ship that the session's account sees.
    ///
    /// - Throws: ``Problem`` 404 `not-found` if there is no such ship, 404 `ship-deleted` if the account deleted it;
    ///   `StorageError`.
    func ship(_ id: String, visibleTo session: Session) async throws -> ShipOfAccount {
        try await reader(id, visibleTo: session)()
    }

    /// Returns a closure that reads the ship. Call it within the transaction that reads the rest of the screen.
    func reader(_ id: String, visibleTo session: Session) async throws -> () throws -> ShipOfAccount {
        let read = try await ships.ship(id, account: session.account).reader()
        return { try visible(try read(), id) }
    }

    /// Returns a ship that was read, if the account sees it.
    ///
    /// - Throws: ``Problem`` 404 `not-found` if there is no such ship, 404 `ship-deleted` if the account deleted it.
    func visible(_ ship: ShipOfAccount?, _ id: String) throws(Problem) -> ShipOfAccount {
        guard let ship else { throw Self.unknown(id) }
        guard !ship.isHidden else { throw Self.deleted }
        return ship
    }

    private static func unknown(_ id: String) -> Problem { .notFound(.noShip(id)) }

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
