import Foundation
import Testing

@testable import Ships

/// A response with every member that the API sends; most of them Larder does not read. The ships and their numbers are
/// made. The API leaves nothing out: what it does not know is null, or an empty text.
private let wholeResponse = #"""
    [{"last_ais_update":null,"legacy_id":"MADETUG","model":null,"type":"Tug","roles":["Support Ship","Barge Tug"],
      "imo":9000001,"mmsi":300000001,"abs":1000001,"class":7000001,"mass_kg":266712,"mass_lbs":588000,
      "year_built":1976,"home_port":"Port Made","status":"","speed_kn":null,"course_deg":null,"latitude":null,
      "longitude":null,"link":"https://ships.test/en/ais/details/ships/shipid:1/mmsi:300000001/vessel:MADE_TUG",
      "image":"https://pictures.test/tug.jpg","name":"Made Tug","active":false,
      "launches":["5eb87c0000000000000000a1","5eb87c0000000000000000a2"],"id":"5ea6ed000000000000000001"},
     {"last_ais_update":null,"legacy_id":"MADEBARGE-2","model":"Made 303","type":"Barge","roles":["ASDS barge"],
      "imo":null,"mmsi":null,"abs":null,"class":null,"mass_kg":null,"mass_lbs":null,"year_built":2015,
      "home_port":"Port Made","status":null,"speed_kn":null,"course_deg":null,"latitude":12.3456789,
      "longitude":-98.765432,"link":null,"image":"https://pictures.test/barge.jpg","name":"Just Made It","active":true,
      "launches":[],"id":"5ea6ed000000000000000002"},
     {"last_ais_update":null,"legacy_id":null,"model":null,"type":"Cargo","roles":["Fairing Recovery","Support Ship"],
      "imo":9000003,"mmsi":300000003,"abs":1000003,"class":15000003,"mass_kg":2097411,"mass_lbs":4623999,
      "year_built":2014,"home_port":"Port Made","status":null,"speed_kn":null,"course_deg":null,"latitude":null,
      "longitude":null,"link":"https://ships.test/en/ais/details/ships/shipid:3","image":null,"name":"made by one",
      "active":true,"launches":["5eb87c0000000000000000a3"],"id":"6059166413f40e27e8af34b6"},
     {"last_ais_update":null,"legacy_id":"MADESPIRIT","model":null,"type":"Cargo","roles":["Support Ship"],
      "imo":null,"mmsi":null,"abs":null,"class":null,"mass_kg":null,"mass_lbs":null,"year_built":null,
      "home_port":"Made Lauderdale","status":"","speed_kn":null,"course_deg":null,"latitude":null,"longitude":null,
      "link":null,"image":null,"name":"Made Spirit","active":false,"launches":[],"id":"5ea6ed000000000000000004"}]
    """#

@Suite struct ShipRecordsTests {
    private static let expected = [
        Ship(
            id: "5ea6ed000000000000000001",
            name: "Made Tug",
            type: "Tug",
            roles: ["Support Ship", "Barge Tug"],
            isActive: false,
            yearBuilt: 1976,
            homePort: "Port Made",
            massKilograms: 266_712,
            imageURL: "https://pictures.test/tug.jpg"
        ),
        Ship(
            id: "5ea6ed000000000000000002",
            name: "Just Made It",
            type: "Barge",
            roles: ["ASDS barge"],
            isActive: true,
            yearBuilt: 2015,
            homePort: "Port Made",
            imageURL: "https://pictures.test/barge.jpg"
        ),
        Ship(
            id: "6059166413f40e27e8af34b6",
            name: "made by one",
            type: "Cargo",
            roles: ["Fairing Recovery", "Support Ship"],
            isActive: true,
            yearBuilt: 2014,
            homePort: "Port Made",
            massKilograms: 2_097_411
        ),
        Ship(
            id: "5ea6ed000000000000000004",
            name: "Made Spirit",
            type: "Cargo",
            roles: ["Support Ship"],
            isActive: false,
            homePort: "Made Lauderdale"
        ),
    ]

    @Test("Every ship of a response with all members of the API is understood, in its order")
    func response() throws {
        #expect(try ShipRecords(json: Data(wholeResponse.utf8)).ships == Self.expected)
    }

    @Test("The bundled snapshot is read as a response of the API is")
    func snapshot() throws {
        let snapshot = Data(#"{"source":"made","recorded_at":"2024-10-09T00:00:00Z","ships":\#(wholeResponse)}"#.utf8)
        #expect(try ShipSnapshot(json: snapshot).records.ships == Self.expected)
    }
}
