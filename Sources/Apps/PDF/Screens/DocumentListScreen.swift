import Foundation
import Screens

/// `GET /v1/pdf/documents`: the saved documents, newest first.
struct DocumentListScreen: Encodable, Sendable {
    struct Row: Encodable, Sendable {
        let properties: DocumentProperties
        let actions: [Action]

        init(_ properties: DocumentProperties, canMerge: Bool) {
            self.properties = properties
            let href = properties.href
            actions = [
                .share(href), .rename(href, name: properties.name),
                .delete(href, name: properties.name, isDraft: false),
                .merge(canMerge: canMerge),
            ]
        }

        private enum CodingKeys: CodingKey { case actions }

        func encode(to encoder: any Encoder) throws {
            try properties.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(actions, forKey: .actions)
        }
    }

    let items: [Row]
    let revision: Int
    let actions: [Action] = [.newDocument, Trash.documents.show]
    let empty: EmptyState?

    private enum CodingKeys: CodingKey { case items, revision, actions, empty }
}

/// `GET /v1/pdf/drafts`: the documents that are not saved yet, newest first.
struct DocumentDraftsScreen: Encodable, Sendable {
    struct Row: Encodable, Sendable {
        let properties: DocumentProperties
        /// When the draft expires.
        let draftUntil: Date
        let draftUntilText: Text
        let actions: [Action]

        init(_ draft: DocumentStore.Draft, zone: TimeZone) {
            properties = DocumentProperties(draft.row, zone: zone)
            draftUntil = draft.until
            draftUntilText = DocumentText.date(draft.until, in: zone)
            actions = [
                .save(properties.href, name: draft.row.name, isDraft: true),
                .delete(properties.href, name: draft.row.name, isDraft: true),
            ]
        }

        private enum CodingKeys: CodingKey { case draftUntil, draftUntilText, actions }

        func encode(to encoder: any Encoder) throws {
            try properties.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(draftUntil, forKey: .draftUntil)
            try container.encode(draftUntilText, forKey: .draftUntilText)
            try container.encode(actions, forKey: .actions)
        }
    }

    let items: [Row]
    let empty: EmptyState?

    init(_ drafts: [DocumentStore.Draft], zone: TimeZone) {
        items = drafts.map { Row($0, zone: zone) }
        empty = drafts.isEmpty ? .noDrafts : nil
    }
}

extension EmptyState {
    /// All documents are saved.
    static let noDrafts = EmptyState(title: .noDrafts, text: .noDraftsHint, action: .newDocument)
}

extension EmptyState {
    /// No document is saved.
    static let noDocuments = EmptyState(
        title: .noDocuments,
        text: .noDocumentsHint,
        action: .newDocument
    )
}

extension EmptyState {
    /// No document has the name that is searched.
    static let noMatches = EmptyState(
        title: .nothingFound,
        text: .nothingFoundHint,
        action: .show("show_all", .showAll, "/v1/pdf/documents")
    )
}
