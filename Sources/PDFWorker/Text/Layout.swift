import CPangoCairo
import MediaFormats

/// A GObject that is released with this value.
final class PangoObject {
    let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit { larder_g_object_unref(UnsafeMutableRawPointer(pointer)) }
}

/// A paragraph of pango.
final class Layout {
    let pointer: OpaquePointer

    /// - Parameters:
    ///   - width: In points; nil for lines of any length.
    ///   - direction: The direction of the paragraph, which decides its alignment; nil for that of its first letter.
    ///   - font: Families and a size.
    init(
        context: OpaquePointer,
        text: String,
        width: Double?,
        direction: PangoDirection? = nil,
        font: String = TextPages.font
    ) {
        pointer = larder_pango_layout_new(context)
        let font = larder_pango_font_description_from_string(font)
        defer { larder_pango_font_description_free(font) }
        larder_pango_layout_set_font_description(pointer, font)
        if let width {
            larder_pango_layout_set_width(pointer, Int32(width * Double(PANGO_SCALE)))
            larder_pango_layout_set_wrap(pointer, PANGO_WRAP_WORD_CHAR)
        }
        larder_pango_context_set_base_dir(context, direction ?? PANGO_DIRECTION_WEAK_LTR)
        if let direction {
            larder_pango_layout_set_auto_dir(pointer, 0)
            let alignment = direction == PANGO_DIRECTION_RTL ? PANGO_ALIGN_RIGHT : PANGO_ALIGN_LEFT
            larder_pango_layout_set_alignment(pointer, alignment)
        }
        larder_pango_layout_set_text(pointer, text, Int32(clamping: text.utf8.count))
    }

    /// In points.
    var size: (width: Double, height: Double) {
        var (width, height) = (Int32(0), Int32(0))
        larder_pango_layout_get_size(pointer, &width, &height)
        return (TextPages.points(width), TextPages.points(height))
    }

    /// The direction of the first line.
    var direction: PangoDirection {
        larder_pango_layout_line_get_resolved_direction(larder_pango_layout_get_line_readonly(pointer, 0))
    }

    /// The start of the last line, in bytes of UTF-8; nil if there is only one.
    var startOfLastLine: Int? {
        let count = larder_pango_layout_get_line_count(pointer)
        guard count > 1, let line = larder_pango_layout_get_line_readonly(pointer, count - 1) else { return nil }
        return Int(line.pointee.start_index)
    }

    deinit { larder_g_object_unref(UnsafeMutableRawPointer(pointer)) }
}

/// The pages of a PDF that cairo writes.
final class Canvas {
    let cairo: OpaquePointer
    let context: OpaquePointer
    private let surface: OpaquePointer

    /// Begins the first page.
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

    /// Sets the size of a page that is still empty.
    func resize(width: Double, height: Double) { larder_cairo_pdf_surface_set_size(surface, width, height) }

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
