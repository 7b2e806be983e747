import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Screens

/// `GET /v1/pdf/documents/{id}`: a document in the reader.
struct DocumentScreen: Encodable, Sendable {
    enum Status: String, Encodable, Sendable { case draft, saved }

    struct Page: Encodable, Sendable {
        let id: String
        let number: Int
        /// Its number and the number of pages: `2/7`.
        let numberText: String
        let kind: DocumentPage.Kind
        let width: Double
        let height: Double
        let rotation: Int
        let thumbnailUrl: Link
        let actions: [Action]
    }

    /// Those on which actions depend.
    struct Conditions: Sendable {
        /// Why nothing can be added; nil if there is room.
        let refusal: Text?
        /// Whether changes can be undone.
        let hasUndo: Bool
    }

    @Flattened var properties: DocumentProperties
    /// `If-Match` may name it instead of the whole entity tag.
    let version: Int
    let status: Status
    let statusText: Text
    let pages: [Page]
    /// When a draft expires; null for a saved document.
    @Nullable var draftUntil: Date?
    @Nullable var draftUntilText: Text?
    let actions: [Action]

    init(_ document: Document, zone: TimeZone = .gmt, _ conditions: Conditions) {
        let properties = DocumentProperties(document.row, zone: zone)
        let isUndoable = conditions.hasUndo && document.pages.count <= DocumentStore.mostPagesOfVersions
        self.properties = properties
        version = document.version
        status = document.isDraft ? .draft : .saved
        statusText = document.isDraft ? .draft : .saved
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
                actions: Action.ofPage(href, isOnly: document.pages.count == 1, isUndoable: isUndoable)
            )
        }
        draftUntil = document.draftUntil
        draftUntilText = document.draftUntil.map { DocumentText.date($0, in: zone) }
        actions = Action.reader(document, refusal: conditions.refusal)
    }
}

/// `POST /v1/pdf/documents`: the first document as in the reader, and a list of all new ones.
struct DocumentCreationScreen: Encodable, Sendable {
    struct Made: Encodable, Sendable {
        let id: String
        let name: String
        let pageCount: Int
        let pageCountText: Text
        let href: Link
    }

    @Flattened var first: DocumentScreen
    let documents: [Made]
    let notices: [FileNotice]

    init?(_ documents: [Document], notices: [FileNotice], _ conditions: DocumentScreen.Conditions) {
        guard let first = documents.first else { return nil }
        self.first = DocumentScreen(first, conditions)
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
}

/// `POST …/pages`: the document with its new pages.
struct DocumentAdditionScreen: Encodable, Sendable {
    @Flattened var document: DocumentScreen
    let added: [String]
    let missingCharacters: [String]
    let notices: [FileNotice]

    init(_ document: Document, _ added: AddedPages, _ conditions: DocumentScreen.Conditions) {
        self.document = DocumentScreen(document, conditions)
        self.added = added.pages.map(\.id)
        missingCharacters = added.missingCharacters
        notices = added.notices
    }
}

/// `POST …/save-to-disk`: the document, and its path on the Disk.
struct DocumentExportScreen: Encodable, Sendable {
    @Flattened var document: DocumentScreen
    let diskPath: String
}

extension ScreenResponse {
    /// Returns a screen of the app: local data of a profile.
    ///
    /// - Parameters:
    ///   - created: the address of the new document; the status is 201 then.
    ///   - banner: that the documents may be out of date; nil if they are not.
    ///   - changeToken: for how long the same request has the same response; nil for writes.
    static func pdf(
        _ content: some Encodable & Sendable,
        _ name: String,
        state: ScreenState = .content,
        created: Link? = nil,
        revision: Int? = nil,
        links: Links,
        stale banner: Banner? = nil,
        changeToken: ChangeToken? = nil
    ) throws -> ScreenResponse {
        let meta = Meta(
            screen: name,
            state: state,
            provenance: Provenance(source: .local, stale: banner != nil),
            revision: revision,
            banner: banner
        )
        return try .local(
            content,
            meta,
            links,
            status: created == nil ? .ok : .created,
            headerFields: created.map { [.location: $0.requestTarget] } ?? [:],
            changeToken: banner == nil ? changeToken : nil
        ).byProfile()
    }

    /// Returns a document in the reader, with its version in the entity tag. The response to a change carries the tag
    /// that a GET would have now (RFC 9110 §8.8).
    static func reader(
        _ document: Document,
        isNew: Bool = false,
        zone: TimeZone = .gmt,
        self link: Link? = nil,
        _ conditions: DocumentScreen.Conditions,
        stale banner: Banner? = nil,
        changeToken: ChangeToken? = nil
    ) throws -> ScreenResponse {
        let href = DocumentProperties.href(document.id)
        var response = try pdf(
            DocumentScreen(document, zone: zone, conditions),
            "pdf.reader",
            created: isNew ? href : nil,
            links: Links(self: link ?? href),
            stale: banner,
            // A draft expires by time, which no change token tells.
            changeToken: document.isDraft ? nil : changeToken
        )
        response.version = String(document.version)
        if case .bytes(let bytes, _) = response.body {
            response.headerFields[.eTag] = EntityTag.strong(for: bytes, version: String(document.version))
        }
        return response
    }

    /// Returns the response to a change that has more members than the reader; it carries the reader's entity tag.
    static func changed(
        _ document: Document,
        as content: some Encodable & Sendable,
        _ name: String,
        _ conditions: DocumentScreen.Conditions
    ) throws -> ScreenResponse {
        let href = DocumentProperties.href(document.id)
        var response = try pdf(content, name, created: href, links: Links(self: href))
        response.headerFields[.eTag] = try reader(document, conditions).headerFields[.eTag]
        return response
    }
}
