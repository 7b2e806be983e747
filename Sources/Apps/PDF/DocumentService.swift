import Concurrency
import Foundation
import HTTPSemantics
import HTTPTypes
public import Screens
public import Storage
public import Upstream

/// What the PDF app does: the rules of its screens (design/screens.md 4).
///
/// Every change makes a new file beside the old one; the document gets it in one transaction, or nothing has happened.
public struct DocumentService: Sendable {
    /// What the app can be told.
    public struct Options: Sendable {
        /// Files that one document, or one request, is made of.
        public var maximumFiles: Int
        /// Bytes of one file.
        public var maximumFileBytes: Int
        /// Bytes of a whole upload.
        public var maximumUploadBytes: Int
        /// Pages of one document.
        public var maximumPages: Int
        /// Bytes of one text, in UTF-8.
        public var maximumTextBytes: Int
        /// Widest picture of a page, in pixels.
        public var maximumWidth: Int
        /// Bytes of pictures of pages that are kept.
        public var thumbnailBytes: Int
        /// How long a draft lives after its last change.
        public var draftLifetime: Duration

        /// Creates options; the defaults are those of the settings `pdf.*`.
        public init(
            maximumFiles: Int = 200,
            maximumFileBytes: Int = 100 << 20,
            maximumUploadBytes: Int = 500 << 20,
            maximumPages: Int = 5000,
            maximumTextBytes: Int = 1 << 20,
            maximumWidth: Int = 2000,
            thumbnailBytes: Int = 64 << 20,
            draftLifetime: Duration = .seconds(86400)
        ) {
            self.maximumFiles = maximumFiles
            self.maximumFileBytes = maximumFileBytes
            self.maximumUploadBytes = maximumUploadBytes
            self.maximumPages = maximumPages
            self.maximumTextBytes = maximumTextBytes
            self.maximumWidth = maximumWidth
            self.thumbnailBytes = thumbnailBytes
            self.draftLifetime = draftLifetime
        }

        /// Body of a text as JSON: every byte may be escaped as `\u00XX`.
        var textBodyBytes: Int { maximumTextBytes * 6 + 4096 }
        /// Body of a list of all pages: an id has 16 characters.
        var pageListBytes: Int { maximumPages * 24 + 4096 }
    }

    let store: DocumentStore
    let engine: DocumentEngine
    let events: EventStream
    let scratch: ScratchFolder
    let disk: DiskFiles?
    let options: Options
    let clock: WallClock
    /// By document: who changes it.
    let turns = KeyedMutex()
    /// By picture: who draws it.
    let drawings = KeyedMutex()

    /// Puts the app together. Without `disk` nothing comes from there or goes there.
    public init(
        store: DocumentStore,
        engine: DocumentEngine,
        events: EventStream,
        scratch: ScratchFolder,
        disk: DiskFiles? = nil,
        options: Options = Options(),
        clock: WallClock
    ) {
        self.store = store
        self.engine = engine
        self.events = events
        self.scratch = scratch
        self.disk = disk
        self.options = options
        self.clock = clock
    }

    /// When a draft that is changed now goes.
    var draftEnd: Date { clock.now().addingTimeInterval(options.draftLifetime.seconds) }

    /// The document of the path; 404 where the profile has none of that id.
    func document(_ request: ScreenRequest, profile: String) throws -> Document {
        let id = try request.parameter("id")
        guard let document = try store.document(id, profile: profile, at: clock.now()) else { throw Self.unknown(id) }
        return document
    }

    /// The same for whoever wants to change it, who has its turn: 412 where it is at no version that `If-Match` names
    /// (RFC 9110 §13.1.1).
    func documentToChange(_ request: ScreenRequest, profile: String) throws -> Document {
        let document = try document(request, profile: profile)
        let tags = request.headerFields[values: .ifMatch]
        guard !tags.isEmpty, let versions = EntityTag.versions(in: tags), !versions.contains(document.version) else {
            return document
        }
        throw Problem(
            .preconditionFailed,
            "The document \(document.id) is not at a version that If-Match names; read it again before changing it."
        )
    }

    static func unknown(_ id: String) -> Problem { .notFound("There is no document \(id).") }

    /// Tells everybody that the list of saved documents is another one.
    func announce(_ revision: Int?) {
        guard let revision else { return }
        events.publish(.screenChanged(app: "pdf", screen: "pdf.list", revision: revision))
    }

    /// A screen of the app.
    func screen(
        _ content: some Encodable & Sendable,
        _ name: String,
        state: ScreenState = .content,
        created: String? = nil,
        page: Page? = nil,
        revision: Int? = nil,
        links: Links,
        changeToken: ChangeToken? = nil
    ) throws -> ScreenResponse {
        try .screen(
            Envelope(
                data: content,
                meta: Meta(screen: name, state: state, provenance: .local, revision: revision, page: page),
                links: links
            ),
            status: created == nil ? .ok : .created,
            provenance: .local,
            now: clock.now(),
            headerFields: created.map { [.location: $0] } ?? [:],
            changeToken: changeToken
        ).byProfile()
    }

    /// A document in the reader, with its version in the entity tag. The response to a change carries the tag that a GET
    /// would have now (RFC 9110 §8.8).
    func shown(_ document: Document, isNew: Bool = false, changeToken: ChangeToken? = nil) throws -> ScreenResponse {
        let href = DocumentScreen.href(document.id)
        var response = try screen(
            DocumentScreen(document),
            "pdf.reader",
            created: isNew ? href : nil,
            links: Links(self: href),
            // A draft goes by time, which no stamp tells.
            changeToken: document.isDraft ? nil : changeToken
        )
        response.version = String(document.version)
        if case .bytes(let bytes, _) = response.body {
            response.headerFields[.eTag] = EntityTag.strong(for: bytes, version: String(document.version))
        }
        return response
    }

    /// What tells more of a document than the reader does, after a change: it carries the reader's tag.
    func shown(_ document: Document, as content: some Encodable & Sendable, _ name: String) throws -> ScreenResponse {
        let href = DocumentScreen.href(document.id)
        var response = try screen(content, name, created: href, links: Links(self: href))
        response.headerFields[.eTag] = try shown(document).headerFields[.eTag]
        return response
    }
}
