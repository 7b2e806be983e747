import Foundation
import NIOCore
import Screens
import Storage

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
    /// The part of its text that has the words of a search; nil if there is none.
    var passage: SearchPassage?

    /// Characters of a text that are stored beside it for lists and maps.
    static let openingLength = 200

    /// Returns the beginning of a text, with "…" if more follows.
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

    /// The words of the lines after it, on one line.
    var snippet: String {
        let lines = opening.split(whereSeparator: \.isNewline)
        guard let first = lines.firstIndex(where: { !$0.allSatisfy(\.isWhitespace) }) else { return "" }
        return lines[(first + 1)...].flatMap { $0.split(whereSeparator: \.isWhitespace) }.joined(separator: " ")
    }

    /// The callout on the map: the first 30 characters, on one line, with "…" if more follows.
    var title: String {
        let begin = opening.prefix(30).map { $0.isNewline ? " " : $0 }
        return String(begin) + (opening.dropFirst(30).allSatisfy(\.isWhitespace) ? "" : "…")
    }
}

/// The terms by which a note is found: those of its text and of the name of its place.
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

    /// Returns the words by which other forms of them are found.
    static func words(of note: Note) -> Set<String> {
        StoredWords.words(of: (note.body + "\n" + note.location.name).searchFolded)
    }

    /// Returns the term that finds a term in names of places only.
    static func ofPlace(_ term: String) -> String { placeMark + term }
}

/// Times as text, in the time zone of the user: `Today at 14:59`, `Sep 8 at 14:59`; `Сегодня в 14:59`, `8 сент. в
/// 14:59`.
struct NoteTime: Sendable {
    private let calendar: Calendar
    private let today: DateInterval
    private let now: Date

    /// Creates the texts of a time zone.
    ///
    /// - Parameter now: decides which day is `Today`.
    init(in zone: TimeZone, now: Date) {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        self.calendar = calendar
        self.now = now
        let start = calendar.startOfDay(for: now)
        // A day has 23 or 25 hours when clocks change; 24 if the calendar cannot tell.
        today = calendar.dateInterval(of: .day, for: now) ?? DateInterval(start: start, duration: 86_400)
    }

    func text(_ date: Date) -> Text {
        let parts = calendar.dateComponents([.month, .day, .hour, .minute], from: date)
        let minute = parts.minute ?? 0
        let hour = parts.hour ?? 0
        let time = "\(hour < 10 ? "0" : "")\(hour):\(minute < 10 ? "0" : "")\(minute)"
        if date >= today.start, date < today.end { return Text("Today at \(time)", ru: "Сегодня в \(time)") }
        let month = max(0, min(11, (parts.month ?? 1) - 1))
        let day = parts.day ?? 1
        return Text("\(Self.months[month]) \(day) at \(time)", ru: "\(day) \(Self.russianMonths[month]) в \(time)")
    }

    /// When these texts change: at the next midnight.
    var deadline: NIODeadline {
        .now() + .nanoseconds(Int64(max(0, today.end.timeIntervalSince(now)) * 1e9))
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    private static let russianMonths = [
        "янв.", "февр.", "марта", "апр.", "мая", "июня", "июля", "авг.", "сент.", "окт.", "нояб.", "дек.",
    ]
}
