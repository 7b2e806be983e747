import Foundation
import Screens

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
        image = "\(Ship.path(of: ship.id))/image"
        upstreamPresent = ship.isListed
    }

    /// The text of a missing value.
    static let missing = "N/A"

    /// A whole number without a fraction, others as they are.
    private static func plain(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(value)
    }
}
