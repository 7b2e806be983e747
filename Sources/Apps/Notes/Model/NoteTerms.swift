import TextSearch

/// What a note is found by: the terms of its text and of the name of its place.
struct NoteTerms: Equatable {
    /// The terms of both, and those of the place once more as such.
    let terms: Set<String>
    /// The passages of both (``SearchTerms/passages``).
    let passages: String

    /// Begins the terms of places. No other term begins with it.
    private static let placeMark = "\u{E101}"

    init(_ note: Note) {
        let text = SearchTerms(note.body + "\n" + note.location.name)
        let isNamed = note.location.name != Note.Location.unknown.name
        let place = isNamed ? SearchTerms(note.location.name).terms.map(Self.ofPlace) : []
        terms = text.terms.union(place)
        passages = text.passages
    }

    /// Returns the term that finds a term in names of places only.
    static func ofPlace(_ term: String) -> String { placeMark + term }
}
