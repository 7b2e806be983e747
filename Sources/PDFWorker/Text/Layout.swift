import CPangoCairo

/// A GObject that is let go with this value.
final class PangoObject {
    let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit { g_object_unref(UnsafeMutableRawPointer(pointer)) }
}

/// A paragraph in pango's hands.
final class Layout {
    let pointer: OpaquePointer

    /// - Parameter width: in points; nil for lines of any length.
    init(context: OpaquePointer, text: String, width: Double?) {
        pointer = pango_layout_new(context)
        let font = pango_font_description_from_string(TextPages.family)
        defer { pango_font_description_free(font) }
        pango_layout_set_font_description(pointer, font)
        if let width {
            pango_layout_set_width(pointer, Int32(width * Double(PANGO_SCALE)))
            pango_layout_set_wrap(pointer, PANGO_WRAP_WORD_CHAR)
        }
        pango_layout_set_text(pointer, text, Int32(clamping: text.utf8.count))
    }

    deinit { g_object_unref(UnsafeMutableRawPointer(pointer)) }
}
