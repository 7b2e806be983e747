import Foundation
import Screens

/// `GET /v1/ships/{id}`.
struct ShipDetailsScreen: Encodable, Sendable {
    let id: String
    let name: String
    @Nullable var type: String?
    let typeText: Text
    @Nullable var yearBuilt: Int?
    let yearBuiltText: Text
    @Nullable var weightKg: Double?
    let weightKgText: Text
    @Nullable var homePort: String?
    let homePortText: Text
    let roles: [String]
    let rolesText: Text
    let active: Bool
    let imageUrl: Link
    let upstreamPresent: Bool

    init(_ ship: Ship) {
        id = ship.id
        name = ship.name
        _type = Nullable(wrappedValue: ship.type)
        typeText = ship.type.map(Text.init(verbatim:)) ?? .notAvailable
        _yearBuilt = Nullable(wrappedValue: ship.yearBuilt)
        yearBuiltText = ship.yearBuilt.map { Text(verbatim: "\($0)") } ?? .notAvailable
        _weightKg = Nullable(wrappedValue: ship.massKilograms)
        weightKgText = ship.massKilograms.map { .kilograms(Self.plain($0)) } ?? .notAvailable
        _homePort = Nullable(wrappedValue: ship.homePort)
        homePortText = ship.homePort.map(Text.init(verbatim:)) ?? .notAvailable
        roles = ship.roles
        rolesText = ship.roles.isEmpty ? .notAvailable : Text(verbatim: ship.roles.joined(separator: ", "))
        active = ship.isActive
        imageUrl = "\(Ship.path(of: ship.id))/image"
        upstreamPresent = ship.isListed
    }

    /// A whole number without a fraction, others as they are.
    private static func plain(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(value)
    }
}

extension ShipDetailsScreen: JSONWritable {
    func write(to json: inout JSONWriter) throws {
        json.beginObject()
        json.member("active", active)
        json.member("home_port", homePort)
        json.member("home_port_text", homePortText)
        json.member("id", id)
        json.member("image_url", imageUrl)
        json.member("name", name)
        json.member("roles", roles)
        json.member("roles_text", rolesText)
        json.member("type", type)
        json.member("type_text", typeText)
        json.member("upstream_present", upstreamPresent)
        try json.member("weight_kg", weightKg)
        json.member("weight_kg_text", weightKgText)
        json.member("year_built", yearBuilt)
        json.member("year_built_text", yearBuiltText)
        json.endObject()
    }
}
