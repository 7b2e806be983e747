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
        /// There are no records.
        case noShips = "an empty list where there were ships"
        /// There are more records than `ListLimit.elements`.
        case tooLong = "a list that is too long"
    }

    /// Usable records, in the order of the response; of two with one id, the first. Others, such as those without a
    /// name or an id, are skipped.
    let ships: [Ship]

    /// Decodes a response.
    init(json: Data) throws(ShapeError) {
        let items: TolerantList<ShipRecord>
        do {
            items = try TolerantList(json: json)
        } catch DecodingError.typeMismatch, DecodingError.valueNotFound {
            throw .notAList
        } catch {
            throw .notJSON
        }
        guard !items.isTruncated else { throw .tooLong }
        self.init(items.values)
        if ships.isEmpty, !items.values.isEmpty { throw .noUsableRecord }
    }

    init(_ records: [ShipRecord?]) {
        var seen = Set<String>()
        ships = records.compactMap { $0?.ship }.filter { seen.insert($0.id).inserted }
    }
}
