import Screens

/// `GET /v1/ships`.
struct ShipListScreen: Encodable, Sendable {
    struct Row: Encodable, Sendable {
        let id: String
        let name: String
        @Nullable var type: String?
        let typeText: String
        @Nullable var yearBuilt: Int?
        let yearBuiltText: String
        let image: String
        let href: String
        /// False for a ship that the API no longer lists.
        let upstreamPresent: Bool

        init(_ ship: ShipListing.Entry) {
            id = ship.id
            name = ship.name
            _type = Nullable(wrappedValue: ship.type)
            typeText = ship.type ?? ShipDetailsScreen.missing
            _yearBuilt = Nullable(wrappedValue: ship.yearBuilt)
            yearBuiltText = ship.yearBuilt.map(String.init) ?? ShipDetailsScreen.missing
            href = Ship.path(of: ship.id)
            image = "\(href)/image"
            upstreamPresent = ship.isListed
        }
    }

    struct NavigationButton: Encodable, Sendable {
        let title: String
        let action = "logout"
        let method = "DELETE"
        let href = "/v1/ships/session"

        init(_ kind: Session.Kind) {
            title = kind == .user ? "Logout" : "Exit"
        }

        private enum CodingKeys: CodingKey { case title, action, method, href }
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

extension ShipListScreen: JSONWritable {
    func write(to json: inout JSONWriter) throws {
        json.beginObject()
        try json.member("changes", changes)
        if let empty { try json.member("empty", empty) }
        json.member("hidden_count", hiddenCount)
        try json.member("items", items)
        try json.member("nav_button", navButton)
        json.member("revision", revision)
        json.endObject()
    }
}

extension ShipListScreen.Row: JSONWritable {
    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.member("href", href)
        json.member("id", id)
        json.member("image", image)
        json.member("name", name)
        json.member("type", type)
        json.member("type_text", typeText)
        json.member("upstream_present", upstreamPresent)
        json.member("year_built", yearBuilt)
        json.member("year_built_text", yearBuiltText)
        json.endObject()
    }
}

extension ShipListScreen.NavigationButton: JSONWritable {
    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.member("action", action)
        json.member("href", href)
        json.member("method", method)
        json.member("title", title)
        json.endObject()
    }
}
