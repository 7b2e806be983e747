import Foundation
import Upstream

/// The people of one response.
struct PeopleRecords: Sendable, Equatable {
    /// What is wrong with a response.
    enum ShapeError: String, Error {
        case notJSON = "not JSON"
        case notAList = "not a list of people"
        /// Without a usable row; also an empty list, which would be stored permanently.
        case empty = "a list without a single person"
    }

    /// The usable rows, in the order of the response; of two with one id, the first. A row without an id or a name is
    /// left out.
    let people: [Person]

    /// Reads a list.
    ///
    /// - Parameter count: people that were requested; further ones are left out. One is sent without a list.
    init(json: Data, count: Int) throws(ShapeError) {
        let rows: [PersonRecord?]
        do {
            rows = try TolerantList<PersonRecord>(json: json).values
        } catch DecodingError.typeMismatch {
            // An object with an error in it is no person, and then no list either.
            guard count == 1, let row = try? JSONDecoder().decode(Tolerant<PersonRecord>.self, from: json),
                row.value?.person != nil
            else { throw .notAList }
            rows = [row.value]
        } catch DecodingError.valueNotFound {
            throw .notAList
        } catch {
            throw .notJSON
        }
        var seen = Set<Int64>()
        people = Array(rows.compactMap { $0?.person }.filter { seen.insert($0.id).inserted }.prefix(count))
        if people.isEmpty { throw .empty }
    }
}
