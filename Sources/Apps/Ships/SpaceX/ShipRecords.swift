import Foundation
import Upstream

/// The ships of one response of the API.
struct ShipRecords: Sendable, Equatable {
    /// The response is not what the API documents.
    enum ShapeError: String, Error {
        case notJSON = "not JSON"
        case notAList = "not a list of ships"
        /// There are records, and none of them is a ship.
        case noUsableRecord = "a list without a single ship"
        /// There are no records, although ships are known.
        case noShips = "an empty list where there were ships"
        /// There are more records than ``maximumCount``.
        case tooLong = "a list that is too long"
    }

    /// Most records of a response. The API has 29; so many are merged within a quarter of a second, in which no other
    /// write can be made.
    static let maximumCount = 10_000

    /// Usable records, in the order of the response; of two with one id, the first. Others, such as those without a
    /// name or an id, are skipped.
    let ships: [Ship]

    /// Decodes a response.
    init(json: Data) throws(ShapeError) {
        let items: [Tolerant<ShipRecord>]
        do {
            items = try JSONDecoder().decode([Tolerant<ShipRecord>].self, from: json)
        } catch DecodingError.typeMismatch, DecodingError.valueNotFound {
            throw .notAList
        } catch {
            throw .notJSON
        }
        guard items.count <= Self.maximumCount else { throw .tooLong }
        self.init(items.map(\.value))
        if ships.isEmpty, !items.isEmpty { throw .noUsableRecord }
    }

    init(_ records: [ShipRecord?]) {
        var seen = Set<String>()
        ships = records.compactMap { $0?.ship }.filter { seen.insert($0.id).inserted }
    }
}
