import Foundation
import Screens
import TestKit
import Testing

@testable import Ships

@Suite("The bundled snapshot")
struct ShipSnapshotTests {
    @Test("SHIP-12 holds the 29 ships of October 2024, each with an id and a name of its own")
    func bundled() throws {
        let snapshot = try ShipSnapshot.bundled()
        #expect(snapshot.recordedAt == Date(timeIntervalSince1970: 1_728_432_000))
        let ships = snapshot.records.ships
        #expect(ships.count == 29)
        #expect(Set(ships.map(\.name)).count == 29)
        #expect(ships.allSatisfy { $0.id.count == 24 && !$0.roles.isEmpty && $0.type != nil })
        #expect(ships.filter { $0.yearBuilt == nil }.count == 3)
        #expect(ships.filter { $0.massKilograms == nil }.count == 8)
        #expect(ships.filter { $0.imageURL == nil }.count == 3)
        #expect(ships.filter(\.isActive).count == 15)
    }

    @Test(
        "a file of another shape is refused",
        arguments: [
            "", "{}", #"{"recorded_at":"yesterday","ships":[]}"#, #"{"ships":[]}"#,
            #"{"recorded_at":"2024-10-09T00:00:00Z"}"#,
        ]
    )
    func damaged(json: String) {
        #expect(throws: (any Error).self) { try ShipSnapshot(json: Data(json.utf8)) }
    }
}

/// A response with every member that the API sends; most of them Larder does not read. The ships and their numbers are
/// made. The API leaves nothing out: an unknown value is null, or an empty text.
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

@Suite("Records of the API")
struct ShipRecordTests {
    private func ship(_ json: String) throws -> Ship? {
        try JSONDecoder().decode(ShipRecord.self, from: Data(json.utf8)).ship
    }

    @Test("a whole record becomes a ship")
    func whole() throws {
        let expected = Ship(
            id: "b0b",
            name: "bob",
            type: "Tug",
            roles: ["Barge Tug", "Support Ship"],
            isActive: true,
            yearBuilt: 2009,
            homePort: "Port Made",
            massKilograms: 502_999,
            imageURL: "https://pictures.test/bob.png"
        )
        #expect(try ship(ShipFixtures.bob) == expected)
    }

    @Test(
        "SHIP-11 missing, null, empty and mistyped fields all mean nothing",
        arguments: [
            "",
            #""type":null,"roles":null,"active":null,"year_built":null,"home_port":null,"mass_kg":null,"image":null"#,
            #""type":"","roles":[],"home_port":" ","image":"\t\n""#,
            #""type":7,"roles":"Tug","active":"yes","year_built":"2010","home_port":{},"mass_kg":[1],"image":false"#,
            #""type":"\u0000","year_built":true,"mass_kg":true"#,
        ]
    )
    func nothing(members: String) throws {
        let ship = try #require(try ship(ShipFixtures.record("x1", "Some Ship", members)))
        #expect(ship == Ship(id: "x1", name: "Some Ship", roles: [], isActive: false))
    }

    @Test(
        "years are whole and positive",
        arguments: [
            ("2010", 2010), ("2010.0", 2010), ("2010.7", 2010), ("0", nil), ("0.0", nil), ("0.5", nil), ("-0", nil),
            ("-1976", nil), ("1e3", 1000),
            ("1e300", nil),
            ("1e400", nil), ("99999999999999999999", nil),
        ] as [(String, Int?)]
    )
    func years(json: String, expected: Int?) throws {
        #expect(try ship(ShipFixtures.record("x1", "S", #""year_built":\#(json)"#))?.yearBuilt == expected)
    }

    @Test(
        "masses keep their fraction",
        arguments: [("266712", 266_712), ("266712.5", 266_712.5), ("0", 0), ("1e20", 1e20), ("1e999", nil)]
            as [(String, Double?)]
    )
    func masses(json: String, expected: Double?) throws {
        #expect(try ship(ShipFixtures.record("x1", "S", #""mass_kg":\#(json)"#))?.massKilograms == expected)
    }

    @Test("a role of the wrong kind does not take the others with it")
    func roles() throws {
        #expect(
            try ship(ShipFixtures.record("x1", "S", #""roles":["Tug",null,3,"",{"a":1},"Barge"]"#))?.roles == [
                "Tug", "Barge",
            ]
        )
    }

    @Test("a NUL, at which SQLite would end a text, is left out")
    func nul() throws {
        let ship = try #require(try ship(ShipFixtures.record("x1", #"Be\u0000fore"#, #""home_port":"P\u0000""#)))
        #expect(ship.name == "Before")
        #expect(ship.homePort == "P")
    }

    @Test(
        "records without a name or a usable id are no ships",
        arguments: [
            #"{"id":"x1"}"#, #"{"id":"x1","name":null}"#, #"{"id":"x1","name":""}"#, #"{"id":"x1","name":" \n"}"#,
            #"{"id":"x1","name":5}"#,
            #"{"name":"S"}"#, #"{"id":null,"name":"S"}"#, #"{"id":"","name":"S"}"#, #"{"id":7,"name":"S"}"#,
            #"{"id":" \t","name":"S"}"#, #"{"id":"\u0000","name":"S"}"#, #"{"id":"a\u0000b","name":"S"}"#,
            #"{"id":"\#(String(repeating: "a", count: 257))","name":"S"}"#,
            #"{"id":"\#(String(repeating: "ä", count: 129))","name":"S"}"#, #"{"id":["a"],"name":"S"}"#,
            "{}",
        ]
    )
    func unusable(json: String) throws {
        #expect(try ship(json) == nil)
    }

    @Test("a useless record is skipped and takes no other with it; the first of two with one id counts")
    func list() throws {
        let ships = try ShipFixtures.ships([
            "null", "7", "[]", #"{"id":"x"}"#, ShipFixtures.record("a", "First"), ShipFixtures.record("a", "Second"),
            ShipFixtures.carl,
        ])
        #expect(ships.map(\.name) == ["First", "Carl"])
    }

    @Test("an empty list is a list of no ships")
    func empty() throws {
        #expect(try ShipFixtures.ships([]).isEmpty)
    }

    @Test(
        "a body that is no list of ships is distinguished from one that is no JSON",
        arguments: [
            ("", "not JSON"), ("<html>", "not JSON"), ("[1,", "not JSON"), (#"[{"id":"a","name":"A"}"#, "not JSON"),
            (String(repeating: "[", count: 2000), "not JSON"),
            ("{}", "not a list of ships"), ("null", "not a list of ships"), ("7", "not a list of ships"),
            (#""[]""#, "not a list of ships"),
            (#"{"docs":[]}"#, "not a list of ships"),
            ("[1,2]", "a list without a single ship"), (#"[{"id":"a"}]"#, "a list without a single ship"),
            ("[null]", "a list without a single ship"),
        ] as [(String, String)]
    )
    func shapes(json: String, expected: String) {
        #expect(throws: UnusableResponse(expected)) { try ShipRecords(json: Data(json.utf8)) }
    }

    @Test("a text that is no UTF-8 makes no ship")
    func bytes() {
        #expect(throws: UnusableResponse("a list without a single ship")) {
            try ShipRecords(json: Data([0x5B, 0x22, 0xFF, 0xFE, 0x22, 0x5D]))
        }
    }
}
