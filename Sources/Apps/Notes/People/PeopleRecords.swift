import Foundation
import Upstream

/// The people of one response.
struct PeopleRecords: Sendable, Equatable {
    /// What is wrong with a response.
    enum ShapeError: String, Error {
        case notJSON = "not JSON"
        case notAList = "not a list of people"
        /// Without a usable row; also an empty list, which would be stored for good.
        case empty = "a list without a single person"
    }

    /// The usable rows, in the order of the response; of two with one id, the first. A row without an id or a name is
    /// left out.
    let people: [Person]

    /// Reads a list.
    ///
    /// - Parameter isSingle: whether one person was requested: the service sends that row without a list.
    init(json: Data, isSingle: Bool = false) throws(ShapeError) {
        let rows: [Tolerant<PersonRecord>]
        do {
            rows = try JSONDecoder().decode([Tolerant<PersonRecord>].self, from: json)
        } catch DecodingError.typeMismatch {
            // An object with an error in it is no person, and then no list either.
            guard isSingle, let row = try? JSONDecoder().decode(Tolerant<PersonRecord>.self, from: json),
                row.value?.person != nil
            else { throw .notAList }
            rows = [row]
        } catch DecodingError.valueNotFound {
            throw .notAList
        } catch {
            throw .notJSON
        }
        var seen = Set<Int64>()
        people = rows.compactMap { $0.value?.person }.filter { seen.insert($0.id).inserted }
        if people.isEmpty { throw .empty }
    }
}
