import Database
import Foundation
import ResponseStore
import Screens

/// `GET /v1/pdf/documents/{id}`: a document in the reader.
struct DocumentScreen: Encodable, Sendable {
    enum Status: String, Encodable, Sendable { case draft, saved }

    struct Page: Encodable, Sendable {
        let id: String
        let number: Int
        let kind: DocumentPage.Kind
        let width: Double
        let height: Double
        let rotation: Int
        let thumbnailUrl: String
    }

    let id: String
    /// What `If-Match` may name instead of the whole entity tag.
    let version: Int
    let status: Status
    let name: String
    let `extension` = "pdf"
    let created: Date
    let createdText: String
    let size: Int
    let sizeText: String
    let pageCount: Int
    let pageCountText: String
    let pages: [Page]
    let href: String
    let fileUrl: String
    let thumbnailUrl: String
    /// When a draft expires; null for a saved document.
    @Nullable var draftUntil: Date?
    let actions: [Action]

    init(_ document: Document) {
        let href = DocumentScreen.href(document.id)
        id = document.id
        version = document.version
        status = document.isDraft ? .draft : .saved
        name = document.name
        created = document.created
        createdText = DocumentText.date(document.created)
        size = document.blob.length
        sizeText = DocumentText.size(document.blob.length)
        pageCount = document.pages.count
        pageCountText = DocumentText.pages(document.pages.count)
        pages = document.pages.enumerated().map { index, page in
            Page(
                id: page.id,
                number: index + 1,
                kind: page.kind,
                width: page.width,
                height: page.height,
                rotation: page.rotation,
                thumbnailUrl: "\(href)/pages/\(page.id)/thumbnail"
            )
        }
        self.href = href
        fileUrl = "\(href)/file"
        thumbnailUrl = "\(href)/thumbnail"
        _draftUntil = Nullable(wrappedValue: document.draftUntil)
        actions = [
            .share(href),
            Action(id: "save", title: "Save", method: "POST", href: "\(href)/save", enabled: document.isDraft),
            .rename(href),
            Action(id: "add-text", title: "Add text", method: "POST", href: "\(href)/pages"),
            Action(
                id: "reorder",
                title: "Reorder pages",
                method: "PUT",
                href: "\(href)/pages/order",
                enabled: document.pages.count > 1
            ),
            Action(id: "extract", title: "Extract pages", method: "POST", href: "\(href)/extract"),
            .delete(href, name: document.name),
        ]
    }

    private enum CodingKeys: CodingKey {
        case id, version, status, name, `extension`, created, createdText, size, sizeText, pageCount, pageCountText,
            pages, href, fileUrl, thumbnailUrl, draftUntil, actions
    }

    static func href(_ id: String) -> String { "/v1/pdf/documents/\(id)" }
}
