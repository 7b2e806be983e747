import Foundation
import Screens

/// `GET /v1/pdf/documents`: what was saved, newest first.
struct DocumentListScreen: Encodable, Sendable {
    struct Row: Encodable, Sendable {
        let id: String
        let name: String
        let `extension` = "pdf"
        let created: Date
        let createdText: String
        let size: Int
        let sizeText: String
        let pageCount: Int
        let pageCountText: String
        let thumbnailUrl: String
        let fileUrl: String
        let href: String
        let actions: [Action]

        init(_ row: DocumentStore.Listing.Row, canMerge: Bool) {
            let href = DocumentScreen.href(row.id)
            id = row.id
            name = row.name
            created = row.created
            createdText = DocumentText.date(row.created)
            size = row.length
            sizeText = DocumentText.size(row.length)
            pageCount = row.pageCount
            pageCountText = DocumentText.pages(row.pageCount)
            thumbnailUrl = "\(href)/thumbnail"
            fileUrl = "\(href)/file"
            self.href = href
            actions = [.share(href), .rename(href), .delete(href, name: row.name), .merge(enabled: canMerge)]
        }

        private enum CodingKeys: CodingKey {
            case id, name, `extension`, created, createdText, size, sizeText, pageCount, pageCountText, thumbnailUrl,
                fileUrl, href, actions
        }
    }

    struct EmptyState: Encodable, Sendable {
        let title = "No documents yet"
        let text = "Make a document of your photos and save it; it will be here."
        let button = "New document"

        private enum CodingKeys: CodingKey { case title, text, button }
    }

    let items: [Row]
    let revision: Int
    let empty: EmptyState?
}

/// `DELETE /v1/pdf/documents/{id}`.
struct DocumentDeletionScreen: Encodable, Sendable {
    let id: String
    /// Revision of the list now; unchanged where the document was a draft.
    let revision: Int
}

extension Action {
    static func share(_ href: String) -> Action {
        Action(id: "share", title: "Share", method: "GET", href: "\(href)/file")
    }
    static func rename(_ href: String) -> Action { Action(id: "rename", title: "Rename", method: "PATCH", href: href) }
    static func merge(enabled: Bool) -> Action {
        Action(id: "merge", title: "Merge", method: "POST", href: "/v1/pdf/merge", enabled: enabled)
    }

    static func delete(_ href: String, name: String) -> Action {
        let confirm = Confirmation(message: "Delete “\(name)”? This cannot be undone.", buttons: ["Delete", "Cancel"])
        return Action(id: "delete", title: "Delete", method: "DELETE", href: href, confirm: confirm)
    }
}

/// Values as people read them, in UTC and without a locale.
enum DocumentText {
    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]

    /// `5 January 2026, 10:00`
    static func date(_ date: Date) -> String {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute], from: date)
        func two(_ value: Int?) -> String { (value ?? 0) < 10 ? "0\(value ?? 0)" : "\(value ?? 0)" }
        return
            "\(parts.day ?? 0) \(months[max(0, (parts.month ?? 1) - 1)]) \(parts.year ?? 0), \(two(parts.hour)):\(two(parts.minute))"
    }

    /// `812 bytes`, `48 KB`, `1.5 MB`: powers of 1000, as file managers of phones count.
    static func size(_ bytes: Int) -> String {
        if bytes == 1 { return "1 byte" }
        if bytes < 1000 { return "\(bytes) bytes" }
        for (unit, name) in [(1000, "KB"), (1_000_000, "MB"), (1_000_000_000, "GB")]
        where bytes < unit * 1000 || unit == 1_000_000_000 {
            let tenths = (bytes * 10 + unit / 2) / unit
            return tenths < 100 && tenths % 10 != 0
                ? "\(tenths / 10).\(tenths % 10) \(name)" : "\((tenths + 5) / 10) \(name)"
        }
        return "\(bytes) bytes"
    }

    /// `1 page`, `2 pages`
    static func pages(_ count: Int) -> String { count == 1 ? "1 page" : "\(count) pages" }
}
