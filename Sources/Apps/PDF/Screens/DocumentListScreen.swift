import Foundation
import Screens

/// `GET /v1/pdf/documents`: the saved documents, newest first.
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
    /// Revision of the list after the deletion; unchanged if the document was a draft.
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
