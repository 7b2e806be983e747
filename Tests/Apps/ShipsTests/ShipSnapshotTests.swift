import Foundation
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
