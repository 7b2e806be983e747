import Screens

/// `POST /v1/pdf/documents`: the first document as in the reader, and a list of all that were made.
struct DocumentCreationScreen: Encodable, Sendable {
    struct Made: Encodable, Sendable {
        let id: String
        let name: String
        let pageCount: Int
        let pageCountText: Text
        let href: Link
    }

    let first: DocumentScreen
    let documents: [Made]
    let notices: [FileNotice]

    init?(_ documents: [Document], notices: [FileNotice]) {
        guard let first = documents.first else { return nil }
        self.first = DocumentScreen(first)
        self.notices = notices
        self.documents = documents.map {
            Made(
                id: $0.id,
                name: $0.name,
                pageCount: $0.pages.count,
                pageCountText: DocumentText.pages($0.pages.count),
                href: DocumentProperties.href($0.id)
            )
        }
    }

    private enum CodingKeys: CodingKey { case documents, notices }

    func encode(to encoder: any Encoder) throws {
        try first.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(documents, forKey: .documents)
        try container.encode(notices, forKey: .notices)
    }
}

/// `POST …/pages`: the document with its new pages.
struct DocumentAdditionScreen: Encodable, Sendable {
    let document: DocumentScreen
    let added: AddedPages

    init(_ document: Document, _ added: AddedPages) {
        self.document = DocumentScreen(document)
        self.added = added
    }

    private enum CodingKeys: CodingKey { case added, missingCharacters, notices }

    func encode(to encoder: any Encoder) throws {
        try document.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(added.ids, forKey: .added)
        try container.encode(added.missingCharacters, forKey: .missingCharacters)
        try container.encode(added.notices, forKey: .notices)
    }
}

/// `POST …/save-to-disk`: the document, and its path on the Disk.
struct DocumentExportScreen: Encodable, Sendable {
    let document: DocumentScreen
    let diskPath: String

    private enum CodingKeys: CodingKey { case diskPath }

    func encode(to encoder: any Encoder) throws {
        try document.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(diskPath, forKey: .diskPath)
    }
}
