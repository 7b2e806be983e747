import Foundation
import GRDB
import Storage

/// A ship as the columns of its row, in which ships are compared: decoding each row would take longer than reading it.
struct ShipColumns: Sendable, Equatable {
    let id: String
    private let name: String
    private let sortKey: String
    private let type: String?
    /// JSON.
    private let roles: String
    private let isActive: Bool
    private let yearBuilt: Int?
    private let homePort: String?
    private let massKilograms: Double?
    private let imageURL: String?
    var isListed: Bool

    /// - Throws: `EncodingError`.
    init(_ ship: Ship) throws {
        id = ship.id
        name = ship.name
        sortKey = ship.sortKey
        type = ship.type
        roles = String(decoding: try JSONEncoder().encode(ship.roles), as: UTF8.self)
        isActive = ship.isActive
        yearBuilt = ship.yearBuilt
        homePort = ship.homePort
        massKilograms = ship.massKilograms
        imageURL = ship.imageURL
        isListed = ship.isListed
    }

    /// Reads a row of ``select``.
    init(row: Row) throws {
        id = try row.value(0)
        name = try row.value(1)
        sortKey = try row.value(2)
        type = try row.value(3)
        roles = try row.value(4)
        isActive = try row.value(5)
        yearBuilt = try row.value(6)
        homePort = try row.value(7)
        massKilograms = try row.value(8)
        imageURL = try row.value(9)
        isListed = try row.value(10)
    }

    /// Its columns in the order of ``names``.
    var values: StatementArguments {
        [name, sortKey, type, roles, isActive, yearBuilt, homePort, massKilograms, imageURL, isListed]
    }

    /// The names of the columns but `id`.
    static let names = [
        "name", "sort_key", "type", "roles", "active", "year_built", "home_port", "mass_kg", "image_url", "listed",
    ]

    /// Selects all ships, and whether each is known from the snapshot only and whether it is removed.
    static let select = """
        SELECT id, \(names.joined(separator: ", ")), from_snapshot, removed_revision IS NOT NULL AS removed FROM ship
        """
}
