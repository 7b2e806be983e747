import Foundation
import Screens

/// `GET /v1/ships/launch`: which screen a cold start shows.
struct LaunchScreen: Encodable, Sendable {
    let route: String
}

/// `DELETE /v1/ships/session`: what the app shows next.
struct FarewellScreen: Encodable, Sendable {
    struct Alert: Encodable, Sendable {
        let message: String
        let button: String
    }

    let route = "login"
    @Nullable var alert: Alert?

    /// Guests are thanked, users just leave.
    init(_ kind: Session.Kind) {
        _alert = Nullable(
            wrappedValue: kind == .guest ? Alert(message: "Thank you for trialing this app", button: "OK") : nil
        )
    }

    private enum CodingKeys: CodingKey { case route, alert }
}

/// `GET /v1/ships`.
struct ShipListScreen: Encodable, Sendable {
    struct Row: Encodable, Sendable {
        let id: String
        let name: String
        @Nullable var type: String?
        @Nullable var yearBuilt: Int?
        let image: String
        let href: String
        /// False for a ship that the API does not list any more.
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

    struct EmptyState: Encodable, Sendable {
        let title = "No ships"
        let text = "There are no ships to show. Pull to refresh, or restore the ships that you deleted."
        let button = "Refresh"

        private enum CodingKeys: CodingKey { case title, text, button }
    }

    let items: [Row]
    let revision: Int
    let changes: ShipChanges
    let hiddenCount: Int
    let navButton: NavigationButton
    let empty: EmptyState?
}

/// What was added, updated and removed since a revision, so that a front end can animate.
struct ShipChanges: Encodable, Sendable, Equatable {
    /// The revision that the changes count from.
    var since: Int
    var added: [String] = []
    var updated: [String] = []
    var removed: [String] = []
}

/// `GET /v1/ships/{id}`.
struct ShipDetailsScreen: Encodable, Sendable {
    let id: String
    let name: String
    @Nullable var type: String?
    let typeText: String
    @Nullable var yearBuilt: Int?
    let yearBuiltText: String
    @Nullable var weightKg: Double?
    let weightKgText: String
    @Nullable var homePort: String?
    let homePortText: String
    let roles: [String]
    let rolesText: String
    let active: Bool
    let image: String
    let upstreamPresent: Bool

    init(_ ship: Ship) {
        id = ship.id
        name = ship.name
        _type = Nullable(wrappedValue: ship.type)
        typeText = ship.type ?? Self.missing
        _yearBuilt = Nullable(wrappedValue: ship.yearBuilt)
        yearBuiltText = ship.yearBuilt.map(String.init) ?? Self.missing
        _weightKg = Nullable(wrappedValue: ship.massKilograms)
        weightKgText = ship.massKilograms.map { "\(Self.plain($0)) kg" } ?? Self.missing
        _homePort = Nullable(wrappedValue: ship.homePort)
        homePortText = ship.homePort ?? Self.missing
        roles = ship.roles
        rolesText = ship.roles.isEmpty ? Self.missing : ship.roles.joined(separator: ", ")
        active = ship.isActive
        image = "/v1/ships/\(ship.id)/image"
        upstreamPresent = ship.isListed
    }

    /// What the app shows for nothing.
    static let missing = "N/A"

    /// A whole number without a fraction, others as they are.
    private static func plain(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(value)
    }
}

/// `DELETE /v1/ships/{id}` and `POST /v1/ships/restore`: what the list is now.
struct ShipChangeScreen: Encodable, Sendable {
    let ids: [String]
    let revision: Int
    let hiddenCount: Int
}

extension Banner {
    /// The notification of the original app; its apostrophe is U+2019.
    static let shipsOffline = Banner(
        code: "offline",
        text: "No internet connection. You’re in Offline mode.",
        dismissal: .online
    )
}
