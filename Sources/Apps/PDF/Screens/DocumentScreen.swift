import Foundation
import Screens

/// `GET /v1/pdf/documents/{id}`: a document in the reader.
struct DocumentScreen: Encodable, Sendable {
    enum Status: String, Encodable, Sendable {
        case draft, saved

        /// The status for the user.
        var text: Text {
            switch self {
            case .draft: .draft
            case .saved: .saved
            }
        }
    }

    struct Page: Encodable, Sendable {
        let id: String
        let number: Int
        /// Which of how many it is.
        let numberText: String
        let kind: DocumentPage.Kind
        let width: Double
        let height: Double
        let rotation: Int
        let thumbnailUrl: Link
        let actions: [Action]
    }

    let properties: DocumentProperties
    /// What `If-Match` may name instead of the whole entity tag.
    let version: Int
    let status: Status
    let pages: [Page]
    /// When a draft expires; null for a saved document.
    @Nullable var draftUntil: Date?
    @Nullable var draftUntilText: Text?
    let actions: [Action]

    init(_ document: Document, zone: TimeZone = .gmt) {
        let properties = DocumentProperties(document, zone: zone)
        self.properties = properties
        version = document.version
        status = document.isDraft ? .draft : .saved
        pages = document.pages.enumerated().map { index, page in
            let href: Link = "\(properties.href)/pages/\(page.id)"
            return Page(
                id: page.id,
                number: index + 1,
                numberText: "\(index + 1)/\(document.pages.count)",
                kind: page.kind,
                width: page.width,
                height: page.height,
                rotation: page.rotation,
                thumbnailUrl: "\(href)/thumbnail",
                actions: Action.ofPage(href, isOnly: document.pages.count == 1)
            )
        }
        _draftUntil = Nullable(wrappedValue: document.draftUntil)
        _draftUntilText = Nullable(wrappedValue: document.draftUntil.map { DocumentText.date($0, in: zone) })
        actions = Action.reader(document)
    }

    private enum CodingKeys: CodingKey { case version, status, statusText, pages, draftUntil, draftUntilText, actions }

    func encode(to encoder: any Encoder) throws {
        try properties.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(version, forKey: .version)
        try container.encode(status, forKey: .status)
        try container.encode(status.text, forKey: .statusText)
        try container.encode(pages, forKey: .pages)
        try container.encode(_draftUntil, forKey: .draftUntil)
        try container.encode(_draftUntilText, forKey: .draftUntilText)
        try container.encode(actions, forKey: .actions)
    }
}
