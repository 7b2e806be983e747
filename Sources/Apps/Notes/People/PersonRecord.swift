import Foundation
import Upstream

/// One row of the people API. A field that is missing, null or of another type is nil.
struct PersonRecord: Decodable, Sendable {
    /// The person; nil without a positive id or without a name.
    let person: Person?

    private enum Key: String, CodingKey {
        case id, email, gender, avatar
        case firstName = "first_name"
        case lastName = "last_name"
    }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        let person = Person(
            id: try fields.decode(Int64.self, forKey: .id),
            firstName: Self.text(.firstName, in: fields),
            lastName: Self.text(.lastName, in: fields),
            email: Self.text(.email, in: fields),
            gender: Self.text(.gender, in: fields),
            avatarURL: Self.text(.avatar, in: fields)
        )
        self.person = person.id > 0 && !person.fullName.isEmpty ? person : nil
    }

    private static func text(_ key: Key, in fields: KeyedDecodingContainer<Key>) -> String? {
        let value = (try? fields.decode(String.self, forKey: key))?.rowText(longest: Person.longestText)?
            .trimmingCharacters(in: .whitespacesAndNewlines)
        return value?.isEmpty == false ? value : nil
    }
}
