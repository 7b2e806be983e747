import Foundation

/// A note with its place.
struct Note: Sendable, Equatable {
    /// The place of writing.
    struct Location: Sendable, Equatable {
        var coordinate: Coordinate
        var name: String

        /// The place of a note that was saved without one.
        static let unknown = Location(coordinate: .zero, name: "Unknown location")
        /// Longest name in Unicode scalars: one character can be any number of them.
        static let longestName = 200
    }

    /// Id of the row; its public form is ``identity(_:)``.
    let id: Int64
    let body: String
    let location: Location
    /// When it was last saved.
    let modified: Date
    let created: Date
    /// Number of its last change, counted for each account: it orders notes, and is the version in the entity tag.
    let revision: Int

    /// Longest text in bytes of UTF-8.
    static let longestBody = 64 << 10

    /// Returns the identity in paths: `n12`.
    static func identity(_ id: Int64) -> String { "n\(id)" }

    /// Returns the row of an identity in a path; nil if the text is not an identity.
    static func row(of identity: String) -> Int64? {
        guard identity.hasPrefix("n"), let id = Int64(identity.dropFirst()), id > 0, Self.identity(id) == identity
        else { return nil }
        return id
    }
}

/// A note in lists and on maps: without its whole text.
struct NoteOutline: Sendable, Equatable {
    let id: Int64
    /// The first characters of the text.
    let opening: String
    let location: Note.Location
    let modified: Date
    let revision: Int

    /// Characters of a text that are stored beside it for lists and maps.
    static let openingLength = 200

    /// Returns the beginning of a text, and "…" if the text goes on.
    static func opening(of body: String) -> String {
        let begin = body.prefix(openingLength)
        return begin.endIndex == body.endIndex ? body : "\(begin)…"
    }

    /// The first line that is not blank.
    var firstLine: String {
        opening.split(whereSeparator: \.isNewline).lazy.map { $0.trimmingCharacters(in: .whitespaces) }.first {
            !$0.isEmpty
        } ?? ""
    }

    /// The callout on the map: the first 30 characters, on one line, and "…" if the text goes on.
    var title: String {
        let begin = opening.prefix(30).map { $0.isNewline ? " " : $0 }
        return String(begin) + (opening.dropFirst(30).allSatisfy(\.isWhitespace) ? "" : "…")
    }
}
