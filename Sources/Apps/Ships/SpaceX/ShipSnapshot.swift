import Foundation
import Upstream

/// The ships that come with the program, for a first start without an upstream. They were recorded from the API.
struct ShipSnapshot: Sendable {
    /// The file has no date: a fault of the build.
    struct Damaged: Error {}

    /// When it was recorded.
    let recordedAt: Date
    let records: ShipRecords

    /// Reads a snapshot file: `{"source", "recorded_at", "ships": […]}` with records as the API sends them.
    ///
    /// - Throws: `DecodingError`, ``Damaged``.
    init(json: Data) throws {
        let file = try JSONDecoder().decode(File.self, from: json)
        guard let date = try? Date(file.recordedAt, strategy: .iso8601) else { throw Damaged() }
        recordedAt = date
        records = ShipRecords(file.ships.values)
    }

    /// Returns the bundled snapshot.
    ///
    /// - Throws: As ``init(json:)``.
    static func bundled() throws -> ShipSnapshot { try read.get() }

    /// Read once: each reset of a test makes the app anew.
    private static let read = Result { try ShipSnapshot(json: Data(PackageResources.ships_snapshot_json)) }

    private struct File: Decodable {
        let recordedAt: String
        let ships: TolerantList<ShipRecord>

        enum CodingKeys: String, CodingKey {
            case recordedAt = "recorded_at"
            case ships
        }
    }
}
