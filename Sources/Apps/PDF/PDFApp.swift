package import Cluster
import Concurrency
import Foundation
import HTTPTypes
import Logging
import Media
package import Screens
package import ServiceLifecycle
package import Storage

/// The PDF app: photos become documents that are read, edited, kept and shared. It has no upstream.
package struct PDFApp: App {
    /// Name of the app in paths, settings and events.
    package static let name = "pdf"
    /// Title of the app in `GET /v1`.
    package static let title = Text("Photos to PDF", ru: "Фото в PDF")
    /// The app's tables.
    package static let migrations = DocumentStore.migrations
    /// Its tables but those that each server derives from them.
    package static let replicated: JournalTables? = DocumentStore.replicated

    let store: DocumentStore
    let options: PDFOptions
    let locks = KeyedMutex()
    let thumbnails: DocumentThumbnails
    private let welcome: DocumentWelcome
    private let library: DocumentLibrary
    let creation: DocumentCreation
    let engine: DocumentEngine
    private let saving: DocumentSaving
    private let pages: PageEditing
    private let copying: PageCopying
    private let photos: PhotoPages
    private let exchange: DiskExchange?
    private let trash: DocumentTrash
    private let expiry: [ExpiryService]

    package init(_ context: AppContext) throws {
        let options = PDFOptions(context.settings, context.media.limits)
        self.init(
            store: DocumentStore(context.users),
            thumbnails: ThumbnailStore(database: context.database),
            engine: DocumentEngine(context.media, keepsMetadata: options.settings[PDFApp.keepsMetadata]),
            events: context.events,
            scratch: context.scratch,
            disk: context.files,
            options: options,
            retention: context.retention,
            logger: context.logger
        )
    }

    /// - Parameters:
    ///   - thumbnails: the pictures of pages on this server.
    ///   - disk: files of another app; without them the routes that import from it and export to it do not exist.
    ///   - scratch: the folder for uploads and unfinished documents, on the file system of the blobs.
    init(
        store: DocumentStore,
        thumbnails: ThumbnailStore,
        engine: DocumentEngine,
        events: EventStream,
        scratch: ScratchFolder,
        disk: AccountFiles?,
        options: PDFOptions,
        retention: RetentionClock,
        logger: Logger
    ) {
        let (clock, settings) = (retention.clock, options.settings)
        self.store = store
        self.options = options
        let lifetime = settings[PDFApp.trashLifetime]
        let lookup = DocumentLookup(store: store, clock: clock, quota: options.quota(of:), hasTrash: lifetime > .zero)
        let jobs = DocumentJobs(events: events, lookup: lookup)
        let arranger = PageArranger(engine: engine, store: store, scratch: scratch)
        let maker = DocumentMaker(engine: engine, store: store, scratch: scratch, maximumPages: options.maximumPages)
        let draftLifetime = settings[PDFApp.draftLifetime]
        let editor = DocumentEditor(lookup: lookup, jobs: jobs, locks: locks, draftLifetime: draftLifetime)
        welcome = DocumentWelcome(store: store)
        library = DocumentLibrary(lookup: lookup)
        self.thumbnails = DocumentThumbnails(
            lookup: lookup,
            thumbnails: thumbnails,
            engine: engine,
            scratch: scratch,
            options: options
        )
        let creation = DocumentCreation(maker: maker, jobs: jobs, options: options)
        self.creation = creation
        self.engine = engine
        saving = DocumentSaving(lookup: lookup, jobs: jobs, arranger: arranger, locks: locks)
        let trash = DocumentTrash(lookup: lookup, events: events, lifetime: lifetime)
        self.trash = trash
        pages = PageEditing(editor: editor, arranger: arranger)
        copying = PageCopying(lookup: lookup, jobs: jobs, arranger: arranger, options: options)
        photos = PhotoPages(
            editor: editor,
            maker: maker,
            arranger: arranger,
            text: TextPages(editor: editor, engine: engine, arranger: arranger, options: options),
            options: options
        )
        exchange = disk.map { DiskExchange(disk: $0, lookup: lookup, creation: creation, jobs: jobs) }
        expiry = Self.expiry(store, trash, by: retention, logger)
    }

    private static func expiry(
        _ store: DocumentStore,
        _ trash: DocumentTrash,
        by retention: RetentionClock,
        _ logger: Logger
    ) -> [ExpiryService] {
        [
            ExpiryService(of: "expired drafts", by: retention, logger: logger, purge: store.purgeDrafts(at:)),
            ExpiryService(of: "documents in the trash", by: retention, logger: logger, purge: trash.purgeDue(at:)),
            ExpiryService(of: "earlier versions", by: retention, logger: logger, purge: trash.purgeVersions(at:)),
        ]
    }

    /// The saved documents of the profile, and the size of its documents.
    package var userData: UserData? {
        let (store, quota) = (store, options.quota(of:))
        return UserData {
            try DocumentArchive.add(store, of: $0.profile, to: $1)
        } usage: { owner in
            let (profile, stored) = (owner.profile, try store.usage(profile: owner.profile))
            return AppUsage(.documents, of: profile, stored, quota: quota(profile), trash: Trash.documents.href)
        }
    }

    package var services: [any Service] { expiry }

    package static var routes: [AppRoute<Self>] {
        let documents = "/v1/pdf/documents"
        let document = "\(documents)/{id}"
        let page = "\(document)/pages/{page_id}"
        let own = [
            Route(.get, "/v1/pdf/launch", "pdf.launch", { $0.welcome.launch }),
            Route(.get, "/v1/pdf/welcome", "pdf.welcome", { $0.welcome.show }),
            Route(.put, "/v1/pdf/welcome", "pdf.welcome", { $0.welcome.update }).answering().body("seen"),
            Route(.get, documents, "pdf.list", { $0.library.list }).query("q", .page, "tz"),
            Route(.post, documents, "pdf.created", { $0.creation.create })
                .answering().query("mode", "page", "margin_mm", "quality", "tz")
                .form("files", "password"),
            Route(.get, "/v1/pdf/drafts", "pdf.drafts", { $0.library.drafts }).query("tz"),
            Route(.get, document, "pdf.reader", { $0.library.reader }).query("tz"),
            Route(.patch, document, "pdf.reader", { $0.saving.rename }).answering().body("name"),
            Route(.delete, document, "pdf.list", { $0.saving.delete }).answering().query("permanently"),
            Route(.post, "\(document)/save", "pdf.reader", { $0.saving.save }).answering().body("name"),
            Route(.get, "\(document)/file", "pdf.file", { $0.library.file }).query("disposition"),
            Route(.get, "\(document)/thumbnail", "pdf.thumbnail", { $0.thumbnails.ofDocument }).query("width"),
            Route(.post, "\(document)/pages", "pdf.reader", { $0.photos.add })
                .bodyLimit { $0.options.textBodyBytes }.answering().query("page", "margin_mm", "quality")
                .body("text", "locale", "at")
                .form("at", "files", "password"),
            Route(.post, "\(document)/undo", "pdf.reader", { $0.pages.editor.undo }).answering(),
            Route(.post, "\(document)/pages/delete", "pdf.reader", { $0.pages.deleteSome })
                .bodyLimit { $0.options.pageListBytes }.answering().body("pages"),
            Route(.put, "\(document)/pages/order", "pdf.reader", { $0.pages.reorder })
                .bodyLimit { $0.options.pageListBytes }.answering().body("pages"),
            Route(.patch, page, "pdf.reader", { $0.pages.rotate }).answering().body("rotate_by"),
            Route(.delete, page, "pdf.reader", { $0.pages.delete }).answering().query("permanently"),
            Route(.get, "\(page)/thumbnail", "pdf.thumbnail", { $0.thumbnails.ofPage }).query("width"),
            Route(.post, "\(document)/extract", "pdf.reader", { $0.copying.extract })
                .bodyLimit { $0.options.pageListBytes }.answering().body("pages", "name"),
            Route(.post, "/v1/pdf/merge", "pdf.reader", { $0.copying.merge }).answering()
                .body("first", "second", "documents", "name"),
        ]
        let bin = DocumentTrash.routes { method, path, handler in
            Route(method, path, Trash.documents.screen, { app in { try await handler(app.trash)($0, $0.profile()) } })
        }
        let restore = Route(.post, "/v1/pdf/trash/{id}/restore", "pdf.reader", { $0.trash.restore }).answering()
        return (own + bin + [restore] + diskRoutes).withProfiles()
    }

    /// The routes that need a session of the Disk app.
    private static var diskRoutes: [AppRoute<Self>] {
        let documents = "/v1/pdf/documents"
        return [
            Route(.post, "\(documents)/from-disk", "pdf.created", sessionOf: "disk", { $0.exchange?.importFile })
                .answering().query("page", "margin_mm", "quality").body("path"),
            Route(.post, "\(documents)/{id}/save-to-disk", "pdf.reader", sessionOf: "disk", { $0.exchange?.exportFile })
                .body("path"),
        ]
    }
}
