import Foundation
import Screens
import Storage

/// `GET /v1/pdf/documents`: the saved documents, newest first.
struct DocumentListScreen: Encodable, Sendable {
    struct Row: Encodable, Sendable {
        @Flattened var properties: DocumentProperties
        let actions: [Action]

        init(_ properties: DocumentProperties, canMerge: Bool, refusal: Text?) {
            self.properties = properties
            let href = properties.href
            actions = [
                .share(href), .rename(href, name: properties.name),
                .delete(href, name: properties.name, isDraft: false),
                .merge(canMerge: canMerge, refusal: refusal),
            ]
        }
    }

    let items: [Row]
    let revision: Int
    let actions: [Action]
    let empty: EmptyState?
}

/// `GET /v1/pdf/drafts`: the documents that are not saved yet, newest first.
struct DocumentDraftsScreen: Encodable, Sendable {
    struct Row: Encodable, Sendable {
        @Flattened var properties: DocumentProperties
        /// When the draft expires.
        let draftUntil: Date
        let draftUntilText: Text
        let actions: [Action]

        init(_ draft: DocumentStore.Draft, zone: TimeZone) {
            let properties = DocumentProperties(draft.row, zone: zone)
            self.properties = properties
            draftUntil = draft.until
            draftUntilText = DocumentText.date(draft.until, in: zone)
            actions = [
                .save(properties.href, name: draft.row.name, isDraft: true),
                .delete(properties.href, name: draft.row.name, isDraft: true),
            ]
        }
    }

    let items: [Row]
    let empty: EmptyState?

    init(_ drafts: [DocumentStore.Draft], zone: TimeZone, refusal: Text?) {
        items = drafts.map { Row($0, zone: zone) }
        let create = Action.newDocument(disabled: refusal)
        empty = drafts.isEmpty ? EmptyState(title: .noDrafts, text: .noDraftsHint, action: create) : nil
    }
}

extension EmptyState {
    /// No document has the name that is searched.
    static let noMatches = EmptyState(
        title: .nothingFound,
        text: .nothingFoundHint,
        action: .show("show_all", .showAll, "/v1/pdf/documents")
    )
}

/// The properties of a document in the list and in the reader.
struct DocumentProperties: Encodable, Sendable {
    let id: String
    let name: String
    let `extension` = "pdf"
    let createdAt: Date
    let createdText: Text
    let size: Int
    let sizeText: Text
    let pageCount: Int
    let pageCountText: Text
    let thumbnailUrl: Link
    let fileUrl: Link
    let href: Link

    init(_ row: DocumentStore.Listing.Row, zone: TimeZone) {
        id = row.id
        name = row.name
        createdAt = row.created
        createdText = DocumentText.date(row.created, in: zone)
        size = row.length
        sizeText = .size(row.length)
        pageCount = row.pageCount
        pageCountText = DocumentText.pages(row.pageCount)
        href = Self.href(row.id)
        thumbnailUrl = "\(href)/thumbnail"
        fileUrl = "\(href)/file"
    }

    /// Returns the address of a document in the reader.
    static func href(_ id: String) -> Link { "/v1/pdf/documents/\(id)" }
}

/// Values as text.
enum DocumentText {
    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]
    private static let russianMonths = [
        "января", "февраля", "марта", "апреля", "мая", "июня", "июля", "августа", "сентября", "октября", "ноября",
        "декабря",
    ]

    /// `5 January 2026, 10:00`
    static func date(_ date: Date, in zone: TimeZone) -> Text {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute], from: date)
        func two(_ value: Int?) -> String { (value ?? 0) < 10 ? "0\(value ?? 0)" : "\(value ?? 0)" }
        let (day, month) = (parts.day ?? 0, max(0, (parts.month ?? 1) - 1))
        let rest = "\(parts.year ?? 0), \(two(parts.hour)):\(two(parts.minute))"
        return Text("\(day) \(months[month]) \(rest)", ru: "\(day) \(russianMonths[month]) \(rest)")
    }

    /// `1 page`, `2 pages`
    static func pages(_ count: Int) -> Text {
        Text(count == 1 ? "1 page" : "\(count) pages", ru: "Страниц: \(count)")
    }
}
