import Foundation

/// The people of one response.
struct PeopleRecords: Sendable, Equatable {
    /// What is wrong with a response.
    enum ShapeError: String, Error {
        case notJSON = "not JSON"
        case notAList = "not a list of people"
        /// Without a usable row; also an empty list, which would be stored for good.
        case empty = "a list without a single person"
    }

    /// The usable rows, in the order of the response; of two with one id, the first.
    let people: [Person]

    /// Reads a list.
    ///
    /// - Parameter isSingle: whether one person was requested: the service sends that row without a list.
    init(json: Data, isSingle: Bool = false) throws(ShapeError) {
        let rows: [Tolerant]
        do {
            rows = try JSONDecoder().decode([Tolerant].self, from: json)
        } catch DecodingError.typeMismatch {
            // An object with an error in it is no person, and then no list either.
            guard isSingle, let row = try? JSONDecoder().decode(Tolerant.self, from: json), row.person != nil else {
                throw .notAList
            }
            rows = [row]
        } catch DecodingError.valueNotFound {
            throw .notAList
        } catch {
            throw .notJSON
        }
        var seen = Set<Int64>()
        people = rows.compactMap(\.person).filter { seen.insert($0.id).inserted }
        if people.isEmpty { throw .empty }
    }

    /// A row of any shape. Without an id or a name it is left out; a field that is missing, null or of another type is
    /// nil, and does not affect other rows.
    private struct Tolerant: Decodable, Sendable {
        let person: Person?

        private enum Key: String, CodingKey {
            case id, email, gender, avatar
            case firstName = "first_name"
            case lastName = "last_name"
        }

        init(from decoder: any Decoder) throws {
            guard let fields = try? decoder.container(keyedBy: Key.self), let id = Self.identity(fields) else {
                person = nil
                return
            }
            let text = { (key: Key) -> String? in
                // Without NUL, at which SQLite's functions end a text.
                let value = (try? fields.decode(String.self, forKey: key))?.replacing("\0", with: "")
                    .trimmingCharacters(in: .whitespacesAndNewlines)
                return value?.isEmpty == false ? value : nil
            }
            let person = Person(
                id: id,
                firstName: text(.firstName),
                lastName: text(.lastName),
                email: text(.email),
                gender: text(.gender),
                avatarURL: text(.avatar)
            )
            self.person = person.fullName.isEmpty ? nil : person
        }

        private static func identity(_ fields: KeyedDecodingContainer<Key>) -> Int64? {
            guard let id = try? fields.decode(Int64.self, forKey: .id), id > 0 else { return nil }
            return id
        }
    }
}
