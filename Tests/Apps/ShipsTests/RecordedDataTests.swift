import Foundation
import TestKit
import Testing

@testable import Ships

/// The recording of the real API, where the folder beside the checkout has it.
private let recording = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
    .appending(path: "shared/upstreams/fixtures/spacex-ships.json")

@Suite(
    "The recorded API",
    .enabled(if: FileManager.default.fileExists(atPath: recording.path), "no recording beside the checkout")
)
struct RecordedDataTests {
    @Test("every ship of the recorded response is understood, as the snapshot has it")
    func real() throws {
        let ships = try ShipRecords(json: try Data(contentsOf: recording)).ships
        #expect(ships.count == 29)
        let bundled = Dictionary(uniqueKeysWithValues: try ShipSnapshot.bundled().records.ships.map { ($0.id, $0) })
        for ship in ships { #expect(bundled[ship.id] == ship) }
    }
}
