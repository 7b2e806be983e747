import Concurrency
import Foundation
import Screens
import Storage
import Upstream

extension ShipsApp {
    /// `GET /v1/ships`.
    func showList(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let query = RelevanceQuery(try request.query.string("q") ?? "")
        let list = ShipPage.list(of: query)
        let page = try request.query.page(of: list, maximumLimit: 500)
        let since = try request.query.integer("since_revision", in: 0...Int.max)
        let changeToken = store.changeToken(account: session.account)
        let read = try await refresh(try request.cachePolicy()) { db in
            try store.page(of: query, db, account: session.account, page: page, since: since)
        }
        let listing = read.rows
        let isEmpty = listing.page.total == 0
        return try ScreenResponse.read(
            ShipListScreen(listing, for: session.kind, isSearch: !query.words.isEmpty),
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
}

extension EmptyState {
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
