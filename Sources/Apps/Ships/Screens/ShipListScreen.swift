import Screens

/// `GET /v1/ships`.
struct ShipListScreen: Encodable, Sendable {
    struct Row: Encodable, Sendable {
        let id: String
        let name: String
        @Nullable var type: String?
        @Nullable var yearBuilt: Int?
        let image: String
        let href: String
        /// False for a ship that the API no longer lists.
        let upstreamPresent: Bool

        init(_ ship: ShipListing.Entry) {
            id = ship.id
            name = ship.name
            _type = Nullable(wrappedValue: ship.type)
            _yearBuilt = Nullable(wrappedValue: ship.yearBuilt)
            image = "/v1/ships/\(ship.id)/image"
            href = "/v1/ships/\(ship.id)"
            upstreamPresent = ship.isListed
        }
    }

    struct NavigationButton: Encodable, Sendable {
        let title: String
        let action = "logout"

        init(_ kind: Session.Kind) {
            title = kind == .user ? "Logout" : "Exit"
        }

        private enum CodingKeys: CodingKey { case title, action }
    }

    let items: [Row]
    let revision: Int
    let changes: ShipChanges
    let hiddenCount: Int
    let navButton: NavigationButton
    let empty: EmptyState?

    init(_ listing: ShipListing, for kind: Session.Kind) {
        items = listing.ships.map(Row.init)
        revision = listing.counts.revision
        changes = listing.changes
        hiddenCount = listing.counts.hidden
        navButton = NavigationButton(kind)
        empty = listing.isEmpty ? .noShips : nil
    }
}

/// `DELETE /v1/ships/{id}` and `POST /v1/ships/restore`: what has become of the list.
struct ShipChangeScreen: Encodable, Sendable {
    /// The ships that were deleted or restored.
    let ids: [String]
    let revision: Int
    let hiddenCount: Int
}

extension EmptyState {
    /// The account sees no ship.
    static let noShips = EmptyState(
        title: "No ships",
        text: "There are no ships to show. Pull to refresh, or restore the ships that you deleted.",
        button: "Refresh"
    )
}

extension Banner {
    /// The notification of the original app; its apostrophe is U+2019.
    static let shipsOffline = Banner(
        code: "offline",
        text: "No internet connection. You’re in Offline mode.",
        dismissal: .online
    )
}
