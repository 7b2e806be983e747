import Database
import Foundation
import Screens
import TestKit
import Testing

@testable import Ships

@Suite("Screens of ships that write their own JSON")
struct ShipScreenJSONTests {
    private func expectSame(_ value: some JSONWritable) throws {
        #expect(try String(decoding: WireFormat.encode(value), as: UTF8.self) == JSONEncoder.wire.text(value))
    }

    @Test("SRV-06 list and details are written as JSONEncoder writes them")
    func screens() async throws {
        let store = ShipStore(try .temporary(migrations: ShipsApp.migrations))
        try expectSame(ShipListScreen(try listing(store), for: .guest))
        let ships = try ShipFixtures.ships(ShipFixtures.fleet)
        _ = try await store.database.write { try ShipStore.merge(ships.map(ShipColumns.init), in: $0) }
        _ = try await store.hide("ca", account: "me")
        try expectSame(ShipListScreen(try listing(store), for: .user))
        for ship in ships { try expectSame(ShipDetailsScreen(ship)) }
        var ship = ships[0]
        (ship.name, ship.massKilograms, ship.roles) = ("\"é\\\n", 1234.5, ["a", "b/c"])
        try expectSame(ShipDetailsScreen(ship))
    }

    private func listing(_ store: ShipStore) throws -> ShipListing {
        try store.list(account: "me", page: PageRequest(limit: 3), since: 0)
    }
}
