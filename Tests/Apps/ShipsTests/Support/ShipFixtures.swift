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

    /// A grey pixel.
    static let png: [UInt8] = [
        0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48, 0x44, 0x52, 0x00,
        0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x00, 0x00, 0x00, 0x3A, 0x7E, 0x9B, 0x55, 0x00,
        0x00, 0x00, 0x0A, 0x49, 0x44, 0x41, 0x54, 0x78, 0xDA, 0x63, 0x68, 0x00, 0x00, 0x00, 0x82, 0x00, 0x81,
        0xDA, 0x45, 0x08, 0x3B, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82,
    ]
    /// The structure of a JPEG of one pixel: a frame, a scan and its end.
    static let jpeg: [UInt8] = [
        0xFF, 0xD8, 0xFF, 0xC0, 0x00, 0x0B, 0x08, 0x00, 0x01, 0x00, 0x01, 0x01, 0x01, 0x11, 0x00, 0xFF, 0xDA, 0x00,
        0x08, 0x01, 0x01, 0x00, 0x00, 0x3F, 0x00, 0x00, 0xFF, 0xD9,
    ]
}
