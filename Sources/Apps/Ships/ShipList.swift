import Cluster
import Concurrency
import Foundation
import GRDB
import HTTP
import Screens
import Storage
import Upstream

extension ShipsApp {
    /// `GET /v1/ships`.
    func showList(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let query = try request.query.string("q").map { RelevanceQuery($0) }
        let words = query?.words ?? []
        let list = ShipPage.list(of: words)
        let page = try request.query.page(of: list, maximumLimit: 500)
        let since = try request.query.integer("since_revision", in: 0...Int.max)
        let changeToken = store.changeToken(account: session.account)
        let read = try await refresh(try request.cachePolicy()) { db in
            try store.page(of: query, db, account: session.account, page: page, since: since)
        }
        let listing = read.rows
        let isEmpty = listing.page.total == 0
        return try ScreenResponse.read(
            ShipListScreen(listing, for: session.kind, isSearch: !words.isEmpty),
            "ships.list",
            request,
            of: read.result,
            now: clock.now(),
            state: isEmpty ? .empty : .content,
            revision: listing.counts.revision,
            banner: read.banner,
            page: list.part(listing.page, of: page),
            variant: listing.variant,
            changeToken: changeToken
        ).at(version: listing.counts.revision)
    }
}

/// `GET /v1/ships`.
struct ShipListScreen: Encodable, Sendable {
    struct Row: Encodable, Sendable {
        let id: String
        let name: String
        @Nullable var type: String?
        let typeText: Text
        @Nullable var yearBuilt: Int?
        let yearBuiltText: Text
        let imageUrl: Link
        let href: Link
        /// False for a ship that the API no longer lists.
        let upstreamPresent: Bool
        let actions: [Action]

        init(_ ship: ShipPage.Entry) {
            id = ship.id
            name = ship.name
            type = ship.type
            typeText = ship.type.map(Text.init(verbatim:)) ?? .notAvailable
            yearBuilt = ship.yearBuilt
            yearBuiltText = ship.yearBuilt.map { Text(verbatim: "\($0)") } ?? .notAvailable
            href = Ship.paths.link(to: ship.id)
            imageUrl = "\(href)/image"
            upstreamPresent = ship.isListed
            actions = [.deleteShip(href)]
        }
    }

    let items: [Row]
    let revision: Int
    let changes: ListChanges
    let hiddenCount: Int
    let navButton: Action
    let actions: [Action]
    let empty: EmptyState?

    init(_ listing: ShipPage, for kind: Session.Kind, isSearch: Bool) {
        items = listing.ships.map(Row.init)
        revision = listing.counts.revision
        changes = listing.changes
        hiddenCount = listing.counts.hidden
        navButton = .leave(kind)
        actions = [.restoreShips(hasDeleted: hiddenCount > 0)]
        empty = listing.page.total == 0 ? (isSearch ? .noShipFound : .noShips) : nil
    }
}

/// `DELETE /v1/ships/{id}` and `POST /v1/ships/restore`: the changed ships and the new state of the list.
struct ShipChangeScreen: Encodable, Sendable {
    /// The ships that were deleted or restored.
    let ids: [String]
    let revision: Int
    let hiddenCount: Int
    /// After a deletion, the one that brings the ships back.
    let actions: [Action]
}

extension ScreenLink {
    static let shipList = ScreenLink("ships.list", "/v1/ships")
}

extension Action {
    /// Returns the button of the navigation bar: users log out, guests exit.
    static func leave(_ kind: Session.Kind) -> Action {
        Action(
            id: "logout",
            title: kind == .user ? .logout : .exit,
            method: "DELETE",
            href: "/v1/ships/session"
        )
    }

    /// Hides a ship from the account; without a confirmation.
    static func deleteShip(_ href: Link) -> Action {
        Action(id: "delete", title: .delete, method: "DELETE", href: href)
    }

    /// Brings back a ship that was just deleted.
    static func undoDeletion(of id: String) -> Action {
        Action(
            id: "undo",
            title: .undo,
            method: "POST",
            href: "/v1/ships/restore",
            body: ["ids": .texts([id])]
        )
    }

    /// Brings back all ships that the account deleted.
    static func restoreShips(hasDeleted: Bool) -> Action {
        Action(
            id: "restore",
            title: .restoreShips,
            method: "POST",
            href: "/v1/ships/restore",
            disabled: hasDeleted ? nil : .noDeletedShips
        )
    }
}

extension EmptyState {
    /// The account sees no ship.
    static let noShips = EmptyState(
        title: .noShips,
        text: .noShipsHint,
        action: .show("refresh", .refresh, "/v1/ships?refresh=1")
    )

    /// No ship has the words of a search.
    fileprivate static let noShipFound = EmptyState(
        title: .noShipFound,
        text: .noShipFoundHint,
        action: .show("show_all", .allShips, "/v1/ships")
    )
}

extension Banner {
    /// The notification of the original app; its apostrophe is U+2019.
    static let shipsOffline = Banner(
        code: "offline",
        text: .shipsOffline,
        dismissal: .online
    )
}

// Brings the stored ships up to date. Every screen that shows ships calls it first.
extension ShipsApp {
    /// Ships that were read, with their provenance.
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
    /// - Throws: `UpstreamFailure` if there is nothing to show; errors of the reading.
    func refresh<Rows>(_ cachePolicy: CachePolicy, reading rows: (Database) throws -> Rows) async throws
        -> Reading<Rows>
    {
        if let lag = try await store.users.catchUp() { return try reading(behind: lag, rows) }
        let readToken = upstream.readToken(of: list.url)
        let (planned, stored) = try store.users.read { db -> (PlannedRead, Reading<Rows>?) in
            let planned = try upstream.plannedRead(of: list, cachePolicy, since: readToken, in: db)
            // The bundled ships may not be imported yet.
            guard let result = upstream.storedResult(of: planned), result.provenance.source == .upstream,
                !mustRestore(after: result),
                // The ships of a response may be in another journal than that which this server follows now.
                try !store.users.isShared || ShipStore.contentRevision(db) > 0
            else { return (planned, nil) }
            return (planned, Reading(result: result, rows: try rows(db)))
        }
        if let stored { return stored }
        do {
            let result = try await refresh(cachePolicy, planned)
            return Reading(result: result, rows: try store.users.read(rows))
        } catch {
            guard let lag = store.users.lag(after: error) else { throw error }
            return try reading(behind: lag, rows)
        }
    }

    /// Reads ships while changes of other servers cannot be known and nothing can be changed: the API is not asked.
    private func reading<Rows>(behind lag: UserDatabase.Lag, _ rows: (Database) throws -> Rows) throws -> Reading<Rows>
    {
        let readToken = upstream.readToken(of: list.url)
        return try store.users.read { db in
            let stored = try upstream.storedResult(of: list, .onlyIfCached, since: readToken, in: db)
            guard var result = try stored ?? ShipStore.listedAt(db).map(upstream.result(ofRowsFetchedAt:)) else {
                throw lag.reason
            }
            result.provenance.stale = true
            result.changeToken = nil
            return Reading(result: result, rows: try rows(db), lag: lag)
        }
    }

    /// Reads the list of ships from the API and merges it. If that fails, the stored ships do not change, and on a
    /// first start the bundled snapshot is imported.
    ///
    /// - Returns: The provenance of the ships, for the screens that show them.
    /// - Throws: `UpstreamFailure` if there is nothing to show.
    func refresh(_ cachePolicy: CachePolicy, _ planned: PlannedRead? = nil) async throws -> ReadResult {
        let listing = try store.listing()
        let resource = list(after: listing)
        let result = try await upstream.reportingFailures {
            try await upstream.read(resource, cachePolicy, planned: planned)
        }
        if let response = result.response {
            if let listing { try await confirm(response, result.provenance, after: listing) }
        } else {
            try await store.importSnapshot(snapshot.records.ships)
        }
        try await listWasRefreshed(result)
        return result
    }

    /// Merges the ships of a stored response again if another server has merged another list since.
    ///
    /// A response that was confirmed before counts only if there never was a ship: it may be older than the one that
    /// another server has merged.
    private func confirm(_ response: CachedResponse, _ provenance: Provenance, after listing: Int64) async throws {
        let content = try store.users.read(ShipStore.contentRevision)
        // A request of another reader may have begun before the other server's.
        let isOwn = provenance.isValidatedNow && provenance.cacheStatus?.collapsed != true
        guard content == 0 || isOwn, let listedAt = provenance.validatedAt,
            let body = try await upstream.body(of: response), !store.merged.holds(body, content: content)
        else { return }
        let merge = ShipMerge(of: try ShipRecords(json: body).ships.map(ShipColumns.init))
        try await upstream.reportingFailures {
            try store.users.read(merge.prepare)
            guard !merge.isComplete else { return }
            try await store.persistRows(of: merge, listedAt: listedAt, after: listing) { publishChange($0) }
                .writeBefore()
        }
        if let content = merge.content { store.merged.note(body, content: content) }
    }
}
