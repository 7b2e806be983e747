public import AppInterface
import Media
public import Screens
public import ServiceLifecycle
import Settings
public import Storage

/// The PDF app.
public struct PDFApp: App {
    /// Name of the app.
    public static let name = "pdf"
    /// Title of the app.
    public static let title = "Photos to PDF"
    /// The app's tables.
    public static let migrations = DocumentStore.migrations
    private let service: DocumentService
    private let drafts: ExpiredDraftCleaner

    /// Creates the app.
    public init(_ context: AppContext) throws {
        let store = DocumentStore(context.database)
        service = DocumentService(
            store: store,
            engine: DocumentEngine(context.media, scratch: context.scratch),
            events: context.events,
            scratch: context.scratch,
            disk: context.files.map { DiskFiles($0) },
            options: try DocumentService.Options(context.settings, context.media.limits),
            clock: context.clock
        )
        drafts = ExpiredDraftCleaner(store: store, clock: context.clock, logger: context.logger)
    }

    /// The routes.
    public var routes: [Route] { PDFRoutes(service: service).routes }

    /// Removes drafts.
    public var services: [any Service] { [drafts] }
}

extension DiskFiles {
    /// The files that another app offers.
    init(_ files: AccountFiles) {
        self.init(
            app: files.app,
            fetch: { path, session, folder, maximumBytes in
                let fetched = try await files.fetch(path, session, folder, maximumBytes)
                return Fetched(name: fetched.name, file: fetched.file, beginning: fetched.beginning)
            },
            put: files.store
        )
    }
}
