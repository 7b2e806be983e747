import Foundation
import TestKit
import Testing

@testable import Ships

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
            ("", .notJSON), ("<html>", .notJSON), ("[1,", .notJSON), (#"[{"id":"a","name":"A"}"#, .notJSON),
            (String(repeating: "[", count: 2000), .notJSON),
            ("{}", .notAList), ("null", .notAList), ("7", .notAList), (#""[]""#, .notAList),
            (#"{"docs":[]}"#, .notAList),
            ("[1,2]", .noUsableRecord), (#"[{"id":"a"}]"#, .noUsableRecord), ("[null]", .noUsableRecord),
        ] as [(String, ShipRecords.ShapeError)]
    )
    func shapes(json: String, expected: ShipRecords.ShapeError) {
        #expect(throws: expected) { try ShipRecords(json: Data(json.utf8)) }
    }

    @Test("a text that is no UTF-8 makes no ship")
    func bytes() {
        #expect(throws: ShipRecords.ShapeError.noUsableRecord) {
            try ShipRecords(json: Data([0x5B, 0x22, 0xFF, 0xFE, 0x22, 0x5D]))
        }
    }
}
