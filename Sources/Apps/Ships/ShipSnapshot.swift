public import Foundation

/// The ships that come with the program, for a first start without an upstream. Recorded from the API; the date says
/// how old they are.
public struct ShipSnapshot: Sendable {
    /// The file is not what it should be: a fault of the build.
    struct Damaged: Error {}

    /// When it was recorded.
    public let recordedAt: Date
    let records: ShipRecords

    /// Reads a snapshot file: `{"source", "recorded_at", "ships": […]}` with records as the API sends them.
    init(json: Data) throws {
        struct File: Decodable {
            let recorded_at: String
            let ships: [Tolerant<Record>]
        }
        let file = try JSONDecoder().decode(File.self, from: json)
        guard let date = try? Date(file.recorded_at, strategy: .iso8601) else { throw Damaged() }
        recordedAt = date
        records = ShipRecords(file.ships.map(\.value))
    }

    /// The one that is built in.
    public static func bundled() throws -> ShipSnapshot {
        try ShipSnapshot(json: Data(PackageResources.ships_snapshot_json))
    }
}
