import CPangoCairo
import Foundation
import MediaFormats

/// Typesets text on A4 pages by pango and cairo.
struct TextPages {
    /// 20 mm in points.
    static let margin = 20 * 72 / 25.4
    /// Contains no colour emoji family, which would draw digits as pictures. fontconfig finds other fonts for
    /// characters that these lack.
    static let families = "Noto Sans, DejaVu Sans, sans-serif"
    static let font = "\(families) 11"

    /// Nil if pango cannot be loaded.
    static var pangoVersion: String? {
        larder_pango_load() == nil ? String(cString: larder_pango_version_string()) : nil
    }

    let text: String
    let locale: String?
    let maximumPages: Int

    /// Draws the text.
    ///
    /// - Returns: The characters that no font has. They are not drawn.
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
        // Each character occurs once: fonts are chosen by character, and a long text has few different ones.
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

    /// PANGO_GLYPH_UNKNOWN_FLAG. The other bits are the character.
    static let unknown: UInt32 = 0x1000_0000

    static func points(_ units: Int32) -> Double { Double(units) / Double(PANGO_SCALE) }
}

/// The parts of a text that are drawn on pages.
enum PlainText {
    enum Paragraph: Equatable {
        case text(String)
        /// U+000C.
        case pageBreak
    }

    /// Returns a text with line breaks of one kind and without other control characters, which no font has. Characters
    /// of several scalars are composed, because fonts have glyphs for Korean syllables, not for their parts. Single
    /// scalars are kept, because composition would replace some ideographs.
    static func cleaned(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        var previous: Unicode.Scalar = " "
        for scalar in text.lazy.map(composed).joined() {
            switch scalar {
            case "\r", "\u{85}", "\u{2028}", "\u{2029}", "\u{0B}": result.append("\n")
            case "\n": if previous != "\r" { result.append(scalar) }
            case "\t", "\u{0C}": result.append(scalar)
            default: if scalar.properties.generalCategory != .control { result.append(scalar) }
            }
            previous = scalar
        }
        return String(result)
    }

    private static func composed(_ character: Character) -> String.UnicodeScalarView {
        guard character.unicodeScalars.count > 1 else { return character.unicodeScalars }
        return String(character).precomposedStringWithCanonicalMapping.unicodeScalars
    }

    /// Splits a text at line and page breaks. Breaks at its end make no empty paragraph or page.
    static func paragraphs(of text: String) -> [Paragraph] {
        var paragraphs: [Paragraph] = []
        for (number, page) in text.split(separator: "\u{0C}", omittingEmptySubsequences: false).enumerated() {
            if number > 0 { paragraphs.append(.pageBreak) }
            var lines = page.split(separator: "\n", omittingEmptySubsequences: false)
            if lines.last?.isEmpty == true { lines.removeLast() }
            paragraphs += lines.map { .text(String($0)) }
        }
        while paragraphs.last == .pageBreak || paragraphs.last == .text("") { paragraphs.removeLast() }
        return paragraphs
    }

    /// Returns the characters of a text, each once, on lines of their own. Combining characters are kept with their
    /// base.
    static func alphabet(of text: String) -> String {
        var seen: Set<Character> = []
        return text.filter { !$0.isWhitespace && seen.insert($0).inserted }.map(String.init).joined(separator: "\n")
    }
}

/// The pages that are being drawn, and the position on the last one.
final class Sheet {
    private let canvas: Canvas
    private let maximumPages: Int
    private var pages = 1
    /// The position of the next line from the top, in points.
    private var y = TextPages.margin

    private static let size = PicturePlacement.a4
    private static var textWidth: Double { size.width - 2 * TextPages.margin }
    private static var bottom: Double { size.height - TextPages.margin }
    /// Largest number of characters in a layout. pango measures a paragraph as one line before breaking it, in 32 bits
    /// of 1/1024 points. The width of 300,000 letters would overflow, and they would remain one line. The time for
    /// words without spaces also grows quadratically.
    private static let piece = 8192

    init(path: String, locale: String?, maximumPages: Int) throws {
        canvas = try Canvas(path: path, width: Self.size.width, height: Self.size.height)
        self.maximumPages = maximumPages
        if let locale { larder_pango_context_set_language(canvas.context, larder_pango_language_from_string(locale)) }
    }

    /// Draws a paragraph below the last one, line by line, on as many pages as it needs.
    ///
    /// - Throws: ``JobError``: `tooManyPages`, `other`.
    func draw(_ text: String) throws {
        var direction: PangoDirection?
        var rest = text[...]
        repeat {
            let end =
                rest.unicodeScalars.index(rest.startIndex, offsetBy: Self.piece, limitedBy: rest.endIndex)
                ?? rest.endIndex
            let layout = Layout(
                context: canvas.context,
                text: String(rest[..<end]),
                width: Self.textWidth,
                direction: direction
            )
            // Later pieces have the direction of the first piece, whatever their own first letter is.
            direction = layout.direction
            // The last line of a piece may be incomplete, so the next piece begins with it.
            let open = end < rest.endIndex ? layout.startOfLastLine : nil
            try draw(layout, linesBefore: open)
            rest = rest[(open.map { rest.utf8.index(rest.startIndex, offsetBy: $0) } ?? end)...]
        } while !rest.isEmpty
    }

    /// Draws the lines of a layout, or those before the one that begins at `end`.
    private func draw(_ layout: Layout, linesBefore end: Int?) throws {
        let iterator = larder_pango_layout_get_iter(layout.pointer)
        defer { larder_pango_layout_iter_free(iterator) }
        repeat {
            let line = larder_pango_layout_iter_get_line_readonly(iterator)
            if let end, let line, line.pointee.start_index == end { break }
            var extents = PangoRectangle()
            larder_pango_layout_iter_get_line_extents(iterator, nil, &extents)
            let height = TextPages.points(extents.height)
            if y + height > Self.bottom, y > TextPages.margin { try beginPage() }
            let baseline = TextPages.points(larder_pango_layout_iter_get_baseline(iterator) - extents.y)
            // A right-to-left line is aligned to the right; its position is in the extents.
            let left = TextPages.margin + TextPages.points(extents.x)
            if let line { TextLine(line.pointee, on: canvas).draw(x: left, y: y + baseline) }
            y += height
        } while larder_pango_layout_iter_next_line(iterator) != 0
        try canvas.check()
    }

    func beginPage() throws {
        guard pages < maximumPages else { throw JobError(.tooManyPages(limit: maximumPages)) }
        try canvas.beginPage()
        pages += 1
        y = TextPages.margin
        Messages.send(.progress(done: pages - 1, total: pages))
    }

    /// Ends the last page and writes the file.
    func finish() throws { try canvas.finish() }
}
