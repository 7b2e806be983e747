import Foundation

@testable import Ships

/// Made records in the shape of the API.
enum ShipFixtures {
    /// One record; `members` are further members as JSON.
    static func record(_ id: String, _ name: String, _ members: String = "") -> String {
        #"{"id":"\#(id)","name":"\#(name)"\#(members.isEmpty ? "" : "," + members)}"#
    }

    static func list(_ records: [String]) -> String { "[" + records.joined(separator: ",") + "]" }

    static let bob = record(
        "b0b",
        "bob",
        """
        "type":"Tug","roles":["Barge Tug","Support Ship"],"active":true,"year_built":2009,"home_port":"Port Made",\
        "mass_kg":502999,"image":"https://pictures.test/bob.png"
        """
    )
    static let alma = record(
        "a1",
        "Alma",
        """
        "type":null,"roles":[],"active":false,"year_built":null,"home_port":null,"mass_kg":null,"image":null,\
        "legacy_id":null
        """
    )
    static let carl = record("ca", "Carl", #""type":"Barge","year_built":1976"#)
    static let dora = record("d0", "DORA", #""type":"Cargo""#)

    /// By name: Alma, bob, Carl, DORA.
    static let fleet = [dora, bob, carl, alma]

    /// The ships of the bundled snapshot.
    static let bundled = [carl, alma, record("5a", "Snapshot Only")]

    static func ships(_ records: [String]) throws -> [Ship] {
        try ShipRecords(json: Data(list(records).utf8)).ships
    }

    static func snapshot(_ records: [String], recordedAt: String = "2024-10-09T00:00:00Z") throws -> ShipSnapshot {
        try ShipSnapshot(
            json: Data(#"{"source":"made","recorded_at":"\#(recordedAt)","ships":\#(list(records))}"#.utf8)
        )
    }

    static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3, 4]
    static let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 5, 6, 7]
}
