import CPangoCairo
import MediaFormats

/// The pages of a PDF that cairo writes.
final class Canvas {
    let cairo: OpaquePointer
    let context: OpaquePointer
    private let surface: OpaquePointer

    /// Begins the first page.
    ///
    /// - Throws: ``JobError``.
    init(path: String, width: Double, height: Double) throws {
        surface = larder_cairo_pdf_surface_create(path, width, height)
        cairo = larder_cairo_create(surface)
        context = larder_pango_cairo_create_context(cairo)
        // A fixed date, so that the same text gives the same bytes.
        larder_cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, "2000-01-01T00:00:00Z")
        try check()
    }

    deinit {
        larder_g_object_unref(UnsafeMutableRawPointer(context))
        larder_cairo_destroy(cairo)
        larder_cairo_surface_destroy(surface)
    }

    /// Sets the size of a page on which nothing is drawn yet.
    func resize(width: Double, height: Double) { larder_cairo_pdf_surface_set_size(surface, width, height) }

    /// Begins a new page.
    func beginPage() throws {
        larder_cairo_show_page(cairo)
        try check()
    }

    /// Ends the last page and writes the file.
    func finish() throws {
        larder_cairo_show_page(cairo)
        larder_cairo_surface_finish(surface)
        try check()
    }

    func check() throws {
        let statuses = [larder_cairo_status(cairo), larder_cairo_surface_status(surface)]
        for status in statuses where status != CAIRO_STATUS_SUCCESS {
            guard status != CAIRO_STATUS_WRITE_ERROR else { throw JobError.unwritten() }
            throw JobError(.other("cairo: \(String(cString: larder_cairo_status_to_string(status)))"))
        }
    }
}
