import PDF
import Screens
import Storage

extension Composition {
    /// The PDF app. It has no upstream; photos and documents are worked on by Media's programs.
    mutating func addPDF() throws {
        let store = DocumentStore(database)
        let service = DocumentService(
            store: store,
            engine: DocumentEngine(media, scratch: scratch),
            events: events,
            scratch: scratch,
            disk: diskFiles.map { PDF.DiskFiles($0) },
            options: configuration.pdf,
            clock: clock
        )
        services.append(ExpiredDraftCleaner(store: store, clock: clock, logger: logger))
        table.add(PDFRoutes(service: service).routes)
        apps.append(("pdf", "Photos to PDF"))
    }
}
