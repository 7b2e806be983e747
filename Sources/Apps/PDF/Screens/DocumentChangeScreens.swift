import Screens

/// `POST /v1/pdf/documents`: the first document as in the reader, and a list of all that were made.
struct DocumentCreationScreen: Encodable, Sendable {
    struct Made: Encodable, Sendable {
        let id: String
        let name: String
        let pageCount: Int
        let href: String
    }

    let first: DocumentScreen
    let documents: [Made]

    init?(_ documents: [Document]) {
        guard let first = documents.first else { return nil }
        self.first = DocumentScreen(first)
        self.documents = documents.map {
            Made(id: $0.id, name: $0.name, pageCount: $0.pages.count, href: DocumentProperties.href($0.id))
        }
    }

    private enum CodingKeys: CodingKey { case documents }

    func encode(to encoder: any Encoder) throws {
        try first.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(documents, forKey: .documents)
    }
}

/// `POST …/pages`: the document with its new pages.
struct DocumentTextScreen: Encodable, Sendable {
    let document: DocumentScreen
    /// The new pages, in order.
    let added: [String]
    /// Characters of the text that no installed font has.
    let missingCharacters: [String]

    private enum CodingKeys: CodingKey { case added, missingCharacters }

    func encode(to encoder: any Encoder) throws {
        try document.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(added, forKey: .added)
        try container.encode(missingCharacters, forKey: .missingCharacters)
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
