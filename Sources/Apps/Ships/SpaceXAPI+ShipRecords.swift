import Foundation

/// The ships of one response of the API.
struct ShipRecords: Sendable, Equatable {
    /// The response is not what the API promises.
    enum ShapeError: String, Error {
        case notJSON = "not JSON"
        case notAList = "not a list of ships"
        /// There are records, and none of them is a ship. An empty list is one of no ships.
        case noUsableRecord = "a list without a single ship"
    }

    /// Usable records, in the order of the response; the first of two with one id counts. Others, such as those without a
    /// name or an id, are skipped, not fatal.
    let ships: [Ship]

    init(json: Data) throws(ShapeError) {
        let items: [Tolerant<Record>]
        do {
            items = try JSONDecoder().decode([Tolerant<Record>].self, from: json)
        } catch DecodingError.typeMismatch, DecodingError.valueNotFound {
            throw .notAList
        } catch {
            throw .notJSON
        }
        self.init(items.map(\.value))
        if ships.isEmpty, !items.isEmpty { throw .noUsableRecord }
    }

    init(_ records: [Record?]) {
        var seen = Set<String>()
        ships = records.compactMap { $0?.ship }.filter { seen.insert($0.id).inserted }
    }
}

/// A list item that may be anything.
struct Tolerant<Value: Decodable & Sendable>: Decodable, Sendable {
    let value: Value?

    init(from decoder: any Decoder) throws {
        // An item of the wrong shape is skipped by whoever reads the list; it must not take the others with it.
        value = try? Value(from: decoder)
    }
}
