import JSONValues
import Testing

@testable import Sandbox

@Suite struct ShipRecordsTests {
    private func ships() throws -> [JSONObject] {
        try #require(try JSONParser.parse(PackageResources.ships_json).array).compactMap(\.object)
    }

    @Test("every ship has the 24 keys in their order and its required fields")
    func schema() throws {
        let ships = try ships()
        #expect(ships.count >= 29)
        for ship in ships {
            #expect(ship.members.map(\.name) == Ship.keys)
            #expect(Ship.isIdentifier(ship["id"]?.string ?? ""))
            #expect(ship["name"]?.string?.isEmpty == false)
            #expect(
                ship["active"]?.bool != nil && ship["roles"]?.array?.isEmpty == false
                    && ship["launches"]?.array?.isEmpty == false
            )
        }
        #expect(Set(ships.compactMap { $0["id"]?.string }).count == ships.count)
    }

    @Test("the nulls are as frequent as in the dump")
    func nulls() throws {
        let ships = try ships()
        let nulls = { (key: String) in ships.count { $0[key] == .null } }
        let expected = [
            "legacy_id": 7, "link": 5, "image": 3, "year_built": 3, "imo": 8, "mmsi": 5, "abs": 11, "class": 11,
            "mass_kg": 8, "mass_lbs": 8, "status": 12,
            "type": 0,
            "home_port": 0,
        ]
        for (key, count) in expected { #expect(nulls(key) == count, "\(key)") }
        for key in ["speed_kn", "course_deg", "last_ais_update"] { #expect(nulls(key) == ships.count, "\(key)") }
        for (key, given) in ["model": 3, "latitude": 2, "longitude": 2] {
            #expect(nulls(key) == ships.count - given, "\(key)")
        }
    }

    @Test("the data has the irregularities that a client has to handle")
    func oddities() throws {
        let ships = try ships()
        let names = ships.compactMap { $0["name"]?.string }
        #expect(Set(names).count == names.count)
        #expect(Set(names.map { $0.lowercased() }).count == names.count - 1, "two names are equal ignoring case")
        #expect(names.contains { $0.first?.isLowercase == true })
        #expect(names.contains { !$0.allSatisfy(\.isASCII) })
        #expect(ships.contains { $0["mass_kg"]?.double.map { $0 != $0.rounded() } ?? false })
        #expect(ships.contains { $0["year_built"] == .number("2010.0") })
        let images = ships.compactMap { $0["image"]?.string }
        #expect(images.allSatisfy { $0.hasPrefix("{origin}/spacex/images/") })
        for odd in ["showphoto.aspx", "missing.png", "moved/", "elsewhere/"] {
            #expect(images.count { $0.contains(odd) } == 1, "\(odd)")
        }
    }
}
