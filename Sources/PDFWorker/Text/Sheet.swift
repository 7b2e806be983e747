import CPangoCairo
import MediaFormats

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
    /// Characters of one layout. pango measures a paragraph as one line before it breaks it, in 1/1024 points of 32
    /// bits: the width of 300,000 letters would overflow, and they would stay one line. Its time for words without
    /// spaces also grows quadratically.
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
            // Later pieces have the direction of the first, whatever letter they begin with.
            direction = layout.direction
            // The last line of a piece is not full: the next piece begins with it.
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
            let height = Self.points(extents.height)
            if y + height > Self.bottom, y > TextPages.margin { try beginPage() }
            let baseline = Self.points(larder_pango_layout_iter_get_baseline(iterator) - extents.y)
            // A right-to-left line is aligned right: its position is in the extents.
            larder_cairo_move_to(canvas.cairo, TextPages.margin + Self.points(extents.x), y + baseline)
            larder_pango_cairo_show_layout_line(canvas.cairo, line)
            y += height
        } while larder_pango_layout_iter_next_line(iterator) != 0
        try canvas.check()
    }

    /// Begins a new page.
    func beginPage() throws {
        guard pages < maximumPages else { throw JobError(.tooManyPages(limit: maximumPages)) }
        try canvas.beginPage()
        pages += 1
        y = TextPages.margin
        Messages.send(.progress(done: pages - 1, total: pages))
    }

    /// Ends the last page and writes the file.
    func finish() throws { try canvas.finish() }

    private static func points(_ units: Int32) -> Double { Double(units) / Double(PANGO_SCALE) }
}
