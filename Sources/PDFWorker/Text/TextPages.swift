import CPangoCairo
import Foundation
import MediaFormats

/// Typesets text on A4 pages by pango and cairo.
struct TextPages {
    /// 20 mm in points.
    static let margin = 20 * 72 / 25.4
    /// Without a colour emoji family: that has digits, which would become pictures. fontconfig finds other fonts for
    /// characters that these lack.
    static let families = "Noto Sans, DejaVu Sans, sans-serif"
    static let font = "\(families) 11"

    /// Nil if it cannot be loaded.
    static var pangoVersion: String? {
        larder_pango_load() == nil ? String(cString: larder_pango_version_string()) : nil
    }

    let text: String
    let locale: String?
    let maximumPages: Int

    /// Draws the text.
    ///
    /// - Returns: the characters that no font has; they are left out.
    /// - Throws: ``JobError``: `noGlyphs`, `tooManyPages`, `other`.
    func draw(to path: String) throws -> [String] {
        try Self.load()
        let text = PlainText.cleaned(text)
        let missing = Set(Self.missingScalars(of: text))
        let drawn = String(String.UnicodeScalarView(text.unicodeScalars.filter { !missing.contains($0) }))
        guard drawn.contains(where: { !$0.isWhitespace }) else { throw JobError(.noGlyphs) }
        let sheet = try Sheet(path: path, locale: locale, maximumPages: maximumPages)
        for paragraph in PlainText.paragraphs(of: drawn) {
            switch paragraph {
            case .pageBreak: try sheet.beginPage()
            case .text(let text): try sheet.draw(text)
            }
        }
        try sheet.finish()
        return Self.listed(missing, in: text)
    }

    /// Returns the characters that no font has, each once, in the order of their first appearance.
    ///
    /// - Throws: ``JobError`` of the machine.
    static func missingCharacters(of text: String) throws -> [String] {
        try load()
        let text = PlainText.cleaned(text)
        return listed(Set(missingScalars(of: text)), in: text)
    }

    /// Opens pango and cairo, without which nothing is measured or drawn.
    static func load() throws {
        guard let reason = larder_pango_load() else { return }
        throw JobError.machine("error while loading shared libraries: \(String(cString: reason))")
    }

    private static func listed(_ missing: Set<Unicode.Scalar>, in text: String) -> [String] {
        var rest = missing
        var listed: [String] = []
        for scalar in text.unicodeScalars where listed.count < 100 && rest.remove(scalar) != nil {
            listed.append(String(scalar))
        }
        return listed
    }

    private static func missingScalars(of text: String) -> [Unicode.Scalar] {
        let context = PangoObject(larder_pango_font_map_create_context(larder_pango_cairo_font_map_get_default()))
        var missing: [Unicode.Scalar] = []
        // Each character once: fonts are chosen by character, and a long text has few different ones.
        let layout = Layout(context: context.pointer, text: PlainText.alphabet(of: text), width: nil)
        guard larder_pango_layout_get_unknown_glyphs_count(layout.pointer) > 0 else { return [] }
        let iterator = larder_pango_layout_get_iter(layout.pointer)
        defer { larder_pango_layout_iter_free(iterator) }
        repeat {
            guard let run = larder_pango_layout_iter_get_run_readonly(iterator), let glyphs = run.pointee.glyphs else {
                continue
            }
            for index in 0..<Int(glyphs.pointee.num_glyphs) {
                let glyph = glyphs.pointee.glyphs[index].glyph
                guard glyph & Self.unknown != 0, let scalar = Unicode.Scalar(glyph & ~Self.unknown) else { continue }
                missing.append(scalar)
            }
        } while larder_pango_layout_iter_next_run(iterator) != 0
        return missing
    }

    /// PANGO_GLYPH_UNKNOWN_FLAG: the other bits are the character.
    private static let unknown: UInt32 = 0x1000_0000
}
