import Foundation
import Screens
import Storage

/// `GET /v1/pdf/launch`: which screen a cold start shows.
struct PDFLaunchScreen: Encodable, Sendable {
    enum Route: String, Encodable, Sendable { case welcome, list }

    let route: Route
    let href: String

    init(isWelcomeSeen: Bool) {
        (route, href) = isWelcomeSeen ? (.list, "/v1/pdf/documents") : (.welcome, "/v1/pdf/welcome")
    }

    private enum CodingKeys: CodingKey { case route, href }
}

/// `GET` and `PUT /v1/pdf/welcome`: what the app can do, shown once.
struct WelcomeScreen: Encodable, Sendable {
    struct Feature: Encodable, Sendable {
        let id: String
        let title: String
        let text: String
    }

    let title = "Photos to PDF"
    let text = "Everything stays on this server; nothing is sent anywhere."
    let features = [
        Feature(
            id: "create",
            title: "Photos become documents",
            text: "Pick photos from the gallery or from files: one document of all of them, or one each."
        ),
        Feature(
            id: "read",
            title: "Read and share",
            text: "Look through the pages and share the PDF, also before you save it."
        ),
        Feature(
            id: "edit",
            title: "Edit pages",
            text: "Delete, rotate, reorder or extract pages, and dictate text onto new ones."
        ),
        Feature(id: "keep", title: "Keep and merge", text: "Save documents, rename them and merge two into a new one."),
    ]
    let button = "Get started"
    /// Whether it was shown before.
    let seen: Bool

    private enum CodingKeys: CodingKey { case title, text, features, button, seen }
}

/// A document as the reader shows it.
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
    /// When an unsaved document goes; null for a saved one.
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
            pages, href, fileUrl, thumbnailUrl,
            draftUntil, actions
    }

    static func href(_ id: String) -> String { "/v1/pdf/documents/\(id)" }
}

/// `POST /v1/pdf/documents`: the first document as the reader shows it, and all that were made.
struct CreatedScreen: Encodable, Sendable {
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
            Made(id: $0.id, name: $0.name, pageCount: $0.pages.count, href: DocumentScreen.href($0.id))
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
struct TextPagesScreen: Encodable, Sendable {
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

/// `POST …/save-to-disk`: the document, and where it is on the Disk now.
struct SavedToDiskScreen: Encodable, Sendable {
    let document: DocumentScreen
    let diskPath: String

    private enum CodingKeys: CodingKey { case diskPath }

    func encode(to encoder: any Encoder) throws {
        try document.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(diskPath, forKey: .diskPath)
    }
}
