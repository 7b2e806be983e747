import Foundation

/// A person of the people API.
struct Person: Sendable, Equatable {
    /// Number of the row: the key within one snapshot; another person in the next.
    let id: Int64
    var firstName: String?
    var lastName: String?
    var email: String?
    /// Free text.
    var gender: String?
    var avatarURL: String?

    /// Most characters of a text that are kept.
    static let longestText = 2048

    /// First and last name, if they are known.
    var fullName: String { [firstName, lastName].compactMap(\.self).joined(separator: " ") }
}

/// The people of one fetch.
struct PeopleSnapshot: Sendable, Equatable {
    /// Counts how often people were fetched.
    let number: Int
    let fetchedAt: Date
    /// Number of people.
    let count: Int
}
