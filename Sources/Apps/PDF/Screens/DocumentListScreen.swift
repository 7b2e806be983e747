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
                .share(href), .rename(href), .delete(href, name: properties.name), .merge(enabled: canMerge),
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
    let empty: EmptyState?
}

extension EmptyState {
    /// No document is saved.
    static let noDocuments = EmptyState(
        title: "No documents yet",
        text: "Make a document of your photos and save it; it will be here.",
        button: "New document"
    )
}

/// `DELETE /v1/pdf/documents/{id}`.
struct DocumentDeletionScreen: Encodable, Sendable {
    let id: String
    /// Revision of the list after the deletion; unchanged if the document was a draft.
    let revision: Int
}
