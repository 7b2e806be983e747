import CPangoCairo

/// Draws a line so that readers of PDF find and copy its text. Words are drawn in reading order, and the glyphs of each
/// word from left to right. pango draws the glyphs of right-to-left text backwards with a jump before each, and readers
/// take a jump for the end of a word.
struct TextLine {
    /// A part of a word with its own glyphs.
    private struct Cluster {
        let text: String
        let glyphs: [cairo_glyph_t]
    }

    /// Presentation forms of two letters that fonts draw as one glyph. Readers decompose them correctly, but would read
    /// the two letters from left to right.
    private static let ligatures = ["لآ": "\u{FEF5}", "لأ": "\u{FEF7}", "لإ": "\u{FEF9}", "لا": "\u{FEFB}"]
    /// PANGO_GLYPH_EMPTY: nothing is drawn.
    private static let empty: UInt = 0x0FFF_FFFF

    private let cairo: OpaquePointer
    private let line: PangoLayoutLine
    private let text: UnsafePointer<CChar>

    init(_ line: PangoLayoutLine, on canvas: Canvas) {
        (self.line, cairo) = (line, canvas.cairo)
        text = larder_pango_layout_get_text(line.layout)
    }

    /// - Parameters:
    ///   - x: The left edge of the line.
    ///   - y: Its baseline.
    func draw(x: Double, y: Double) {
        var runs: [(run: UnsafeMutablePointer<PangoLayoutRun>, x: Double)] = []
        var (x, next) = (x, line.runs)
        while let node = next {
            let run = node.pointee.data.assumingMemoryBound(to: PangoLayoutRun.self)
            runs.append((run, x))
            x += Self.glyphs(of: run).reduce(0) { $0 + TextPages.points($1.width) }
            next = node.pointee.next
        }
        runs.sort { $0.run.pointee.item.pointee.offset < $1.run.pointee.item.pointee.offset }
        for (run, x) in runs {
            let isUnknown = Self.glyphs(of: run).contains { $0.glyph & TextPages.unknown != 0 }
            if run.pointee.item.pointee.analysis.level % 2 == 1, !isUnknown {
                drawFromRight(run, x, y)
            } else {
                larder_cairo_move_to(cairo, x, y)
                larder_pango_cairo_show_glyph_item(cairo, text, run)
            }
        }
    }

    private func drawFromRight(_ run: UnsafeMutablePointer<PangoLayoutRun>, _ x: Double, _ y: Double) {
        var x = x
        let glyphs = Self.glyphs(of: run).map { glyph in
            defer { x += TextPages.points(glyph.width) }
            let place = (x: x + TextPages.points(glyph.x_offset), y: y + TextPages.points(glyph.y_offset))
            return cairo_glyph_t(index: UInt(glyph.glyph), x: place.x, y: place.y)
        }
        let font = larder_pango_cairo_font_get_scaled_font(run.pointee.item.pointee.analysis.font)
        larder_cairo_set_scaled_font(cairo, font)
        var word: [Cluster] = []
        var part = PangoGlyphItemIter()
        var isThere = larder_pango_glyph_item_iter_init_start(&part, run, text) != 0
        while isThere {
            let bytes = UnsafeRawBufferPointer(
                start: text + Int(part.start_index),
                count: Int(part.end_index - part.start_index)
            )
            let own = glyphs[Int(part.end_glyph + 1)...Int(part.start_glyph)].filter { $0.index != Self.empty }
            let cluster = Cluster(text: String(decoding: bytes, as: UTF8.self), glyphs: own)
            if cluster.text.allSatisfy(\.isWhitespace) {
                show(word)
                show([cluster])
                word = []
            } else {
                word.append(cluster)
            }
            isThere = larder_pango_glyph_item_iter_next_cluster(&part) != 0
        }
        show(word)
    }

    /// Draws the parts of a word from left to right, beginning with the last one.
    private func show(_ word: [Cluster]) {
        var (bytes, glyphs, clusters): ([CChar], [cairo_glyph_t], [cairo_text_cluster_t]) = ([], [], [])
        for cluster in word.reversed() {
            let text = cluster.glyphs.count == 1 ? Self.ligatures[cluster.text] ?? cluster.text : cluster.text
            bytes += text.utf8.map { CChar(bitPattern: $0) }
            glyphs += cluster.glyphs
            let (count, own) = (Int32(text.utf8.count), Int32(cluster.glyphs.count))
            clusters.append(cairo_text_cluster_t(num_bytes: count, num_glyphs: own))
        }
        guard !bytes.isEmpty else { return }
        let counts = (Int32(bytes.count), Int32(glyphs.count), Int32(clusters.count))
        larder_cairo_show_text_glyphs(cairo, bytes, counts.0, glyphs, counts.1, clusters, counts.2, 0)
    }

    private static func glyphs(of run: UnsafeMutablePointer<PangoLayoutRun>) -> UnsafeBufferPointer<PangoGlyphInfo> {
        let string = run.pointee.glyphs.pointee
        return UnsafeBufferPointer(start: string.glyphs, count: Int(string.num_glyphs))
    }
}
