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

        init(_ row: DocumentStore.TrashPage.Row, lifetime: Duration) {
            let document = row.properties
            (id, name, size, pageCount) = (document.id, document.name, document.length, document.pageCount)
            sizeText = DocumentText.size(document.length)
            pageCountText = DocumentText.pages(document.pageCount)
            deletedAt = row.deleted
            deletedText = .deleted(DocumentText.date(row.deleted))
            expiresAt = row.deleted.addingTimeInterval(lifetime.seconds)
            expiresText = .keptUntil(DocumentText.date(expiresAt))
            version = row.version
            actions = [.restoreDocument(document.id), .purgeDocument(document.id)]
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

    init(_ page: DocumentStore.TrashPage, lifetime: Duration) {
        items = page.rows.map { Row($0, lifetime: lifetime) }
        count = page.total
        countText = .inTrash(page.total)
        actions = [.emptyDocumentTrash(isEnabled: page.total > 0)]
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

extension Action {
    /// The way from the list to the trash.
    static let showDocumentTrash = Action(id: "trash", title: .trash, method: "GET", href: "/v1/pdf/trash")

    /// Takes back the deletion of a document.
    static func undoDocumentDeletion(_ id: String) -> Action {
        Action(id: "undo", title: .undo, method: "POST", href: restoration(id))
    }

    static func restoreDocument(_ id: String) -> Action {
        Action(id: "restore", title: .restore, method: "POST", href: restoration(id))
    }

    static func purgeDocument(_ id: String) -> Action {
        Action(
            id: "purge",
            title: .deleteForGood,
            method: "DELETE",
            href: "/v1/pdf/trash/\(id)",
            confirm: .init(message: .confirmPurge, buttons: [.deleteForGood, .cancel])
        )
    }

    static func emptyDocumentTrash(isEnabled: Bool) -> Action {
        Action(
            id: "empty",
            title: .emptyTrash,
            method: "DELETE",
            href: "/v1/pdf/trash",
            enabled: isEnabled,
            confirm: .init(message: .confirmEmptyingTrash, buttons: [.emptyTrash, .cancel])
        )
    }

    private static func restoration(_ id: String) -> Link { "/v1/pdf/trash/\(id)/restore" }
}
