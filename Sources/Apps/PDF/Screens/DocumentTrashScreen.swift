import Foundation
import Freshness
import Screens

/// `GET /v1/pdf/trash`.
struct DocumentTrashScreen: Encodable, Sendable {
    struct Row: Encodable, Sendable {
        let id: String
        let name: String
        let `extension` = "pdf"
        let size: Int
        let sizeText: Text
        let pageCount: Int
        let pageCountText: Text
        let deletedAt: Date
        let deletedText: Text
        /// When it is deleted permanently.
        let expiresAt: Date
        let expiresText: Text
        /// What `If-Match` of its actions may name.
        let version: Int
        let actions: [Action]

        init(_ row: DocumentStore.TrashPage.Row, lifetime: Duration, zone: TimeZone) {
            let document = row.properties
            (id, name, size, pageCount) = (document.id, document.name, document.length, document.pageCount)
            sizeText = .size(document.length)
            pageCountText = DocumentText.pages(document.pageCount)
            deletedAt = row.deleted
            deletedText = .deleted(DocumentText.date(row.deleted, in: zone))
            expiresAt = row.deleted.addingTimeInterval(lifetime.seconds)
            expiresText = .keptUntil(DocumentText.date(expiresAt, in: zone))
            version = row.version
            actions = [Trash.documents.restore(id), Trash.documents.purge(id)]
        }

        private enum CodingKeys: CodingKey {
            case id, name, `extension`, size, sizeText, pageCount, pageCountText, deletedAt, deletedText, expiresAt,
                expiresText, version, actions
        }
    }

    let items: [Row]
    let count: Int
    let countText: Text
    let actions: [Action]
    let empty: EmptyState?

    init(_ page: DocumentStore.TrashPage, lifetime: Duration, zone: TimeZone) {
        items = page.rows.map { Row($0, lifetime: lifetime, zone: zone) }
        count = page.total
        countText = .inTrash(page.total)
        actions = [Trash.documents.empty(isEnabled: page.total > 0)]
        empty = page.total == 0 ? .documentTrash : nil
    }
}

/// `DELETE /v1/pdf/trash`, and of one document in it.
struct DocumentPurgeScreen: Encodable, Sendable {
    /// Number of permanently deleted documents.
    let removed: Int
    let revision: Int
    let route = ScreenLink("pdf.trash", "/v1/pdf/trash")

    private enum CodingKeys: CodingKey { case removed, revision, route }
}

extension EmptyState {
    /// Nothing is in the trash.
    static let documentTrash = EmptyState(title: .trashIsEmpty, text: .documentTrashHint, button: .showAll)
}

extension Trash {
    /// The trash of the documents.
    static let documents = Trash("/v1/pdf/trash")
}
