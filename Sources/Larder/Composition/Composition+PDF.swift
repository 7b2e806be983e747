import PDF
import Screens
import Storage

extension Composition {
    /// Adds the PDF app. It has no upstream; the programs of Media work on photos and documents.
    mutating func addPDF() throws {
        let app = PDFApp(
            store: DocumentStore(database),
            media: media,
            events: events,
            scratch: scratch,
            disk: diskFiles.map { PDF.DiskFiles($0) },
            options: configuration.pdf,
            clock: clock,
            logger: logger
        )
        services += app.services
        table.add(app.routes)
        apps.append(("pdf", "Photos to PDF"))
    }
}
