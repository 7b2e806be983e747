import Concurrency
import Media
import Screens
import Storage

/// The parts of the app: features take them as one value.
struct PDF: Sendable {
    let store: DocumentStore
    /// The pictures of pages on this server.
    let thumbnails: ThumbnailStore
    let engine: DocumentEngine
    let events: EventStream
    /// The folder for uploads and unfinished documents, on the file system of the blobs.
    let scratch: ScratchFolder
    /// Files of another app; without them the routes that import from it and export to it do not exist.
    let disk: AccountFiles?
    let options: PDFOptions
    let clock: WallClock
    /// By id of the document.
    let locks = KeyedMutex()
    let defaultNames = DefaultNames()

    var lookup: DocumentLookup { DocumentLookup(pdf: self) }
    var jobs: DocumentJobs { DocumentJobs(pdf: self) }
    var editor: DocumentEditor { DocumentEditor(pdf: self) }
    var maker: DocumentMaker { DocumentMaker(pdf: self) }
    var arranger: PageArranger { PageArranger(pdf: self) }
}

extension PDF {
    init(_ context: AppContext) {
        let options = PDFOptions(context.settings, context.media.limits)
        self.init(
            store: DocumentStore(context.users),
            thumbnails: ThumbnailStore(database: context.database),
            engine: DocumentEngine(context.media, keepsMetadata: options.settings[PDFApp.keepsMetadata]),
            events: context.events,
            scratch: context.scratch,
            disk: context.files,
            options: options,
            clock: context.retention.clock
        )
    }
}
