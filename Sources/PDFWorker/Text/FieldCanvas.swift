import CPangoCairo

/// Draws the appearances of fields, one on each page.
struct FieldCanvas {
    private static let padding = 2.0
    private static let smallest = 4.0
    static let ordinary = 12.0
    private static let selection = [0.6, 0.75, 0.85]

    private let canvas: Canvas

    static func draw(_ looks: [FieldLook], to path: String) throws {
        guard let first = looks.first else { return }
        try TextPages.load()
        let fields = FieldCanvas(canvas: try Canvas(path: path, width: first.width, height: first.height))
        for (index, look) in looks.enumerated() {
            if index > 0 { try fields.canvas.beginPage() }
            fields.canvas.resize(width: look.width, height: look.height)
            fields.draw(look)
        }
        try fields.canvas.finish()
    }

    private func draw(_ look: FieldLook) {
        if let background = look.background {
            fill(0, 0, look.width, look.height, background)
        }
        if let border = look.border, look.borderWidth > 0 {
            set(border)
            let width = look.borderWidth
            larder_cairo_set_line_width(canvas.cairo, width)
            larder_cairo_rectangle(canvas.cairo, width / 2, width / 2, look.width - width, look.height - width)
            larder_cairo_stroke(canvas.cairo)
        }
        if look.cells > 0, let line = look.lines.first {
            drawCells(line.text, look)
        } else if look.isMultiline || look.lines.count > 1 {
            drawLines(look)
        } else if let line = look.lines.first, !line.text.isEmpty {
            drawLine(line.text, look)
        }
    }

    private func drawLine(_ text: String, _ look: FieldLook) {
        let room = look.width - 2 * inset(look)
        var size = look.fontSize ?? max(Self.smallest, look.height * 2 / 3)
        var line = layout(text, size)
        while line.size.width > room || line.size.height > look.height, size > Self.smallest {
            size *= 0.95
            line = layout(text, size)
        }
        let rest = room - line.size.width
        let x = inset(look) + [0, rest / 2, rest][look.alignment.rawValue]
        show(line, x, (look.height - line.size.height) / 2, look)
    }

    /// Draws as many lines from the top as fit. Uses smaller letters if all lines fit with them.
    private func drawLines(_ look: FieldLook) {
        let room = (width: look.width - 2 * inset(look), height: look.height - 2 * inset(look))
        var size = look.fontSize ?? min(Self.ordinary, max(Self.smallest, look.height * 2 / 3))
        func layouts() -> [Layout] {
            look.lines.map { layout($0.text, size, width: look.isMultiline ? room.width : nil, look.alignment) }
        }
        var lines = layouts()
        while look.isMultiline, lines.reduce(0, { $0 + $1.size.height }) > room.height, size > Self.smallest {
            size *= 0.95
            lines = layouts()
        }
        var y = inset(look)
        for (line, layout) in zip(look.lines, lines) where y < look.height {
            let height = layout.size.height
            if line.isSelected { fill(inset(look), y, room.width, height, Self.selection) }
            show(layout, inset(look), y, look)
            y += height
        }
    }

    private func drawCells(_ text: String, _ look: FieldLook) {
        let width = look.width / Double(look.cells)
        for (index, character) in text.prefix(look.cells).enumerated() {
            let letter = layout(String(character), look.fontSize ?? min(look.height * 2 / 3, width))
            let x = Double(index) * width + (width - letter.size.width) / 2
            show(letter, x, (look.height - letter.size.height) / 2, look)
        }
    }

    private func inset(_ look: FieldLook) -> Double {
        Self.padding + (look.border == nil ? 0 : look.borderWidth)
    }

    private func layout(_ text: String, _ size: Double, width: Double? = nil, _ alignment: FieldLook.Alignment = .left)
        -> Layout
    {
        let font = "Helvetica, Arial, \(TextPages.families) \(size)"
        let layout = Layout(context: canvas.context, text: text, width: width.map { max(1, $0) }, font: font)
        let alignments = [PANGO_ALIGN_LEFT, PANGO_ALIGN_CENTER, PANGO_ALIGN_RIGHT]
        larder_pango_layout_set_alignment(layout.pointer, alignments[alignment.rawValue])
        return layout
    }

    private func show(_ layout: Layout, _ x: Double, _ y: Double, _ look: FieldLook) {
        set(look.color)
        larder_cairo_move_to(canvas.cairo, x, y)
        larder_pango_cairo_show_layout(canvas.cairo, layout.pointer)
    }

    private func fill(_ x: Double, _ y: Double, _ width: Double, _ height: Double, _ color: [Double]) {
        set(color)
        larder_cairo_rectangle(canvas.cairo, x, y, width, height)
        larder_cairo_fill(canvas.cairo)
    }

    private func set(_ color: [Double]) {
        let (red, green, blue) = FieldLook.rgb(color)
        larder_cairo_set_source_rgb(canvas.cairo, red, green, blue)
    }
}

/// The appearance of a form's field, as readers draw it (ISO 32000-1 12.7.3.3): a box with a text, a list or a mark.
struct FieldLook: Equatable {
    enum Alignment: Int {
        case left, center, right
    }

    struct Line: Equatable {
        var text: String
        var isSelected = false
    }

    /// Width and height in points.
    var width: Double
    var height: Double
    /// Components of gray, RGB or CMYK; nil for none.
    var background: [Double]?
    var border: [Double]?
    var borderWidth = 1.0
    var color: [Double] = [0]
    /// In points; nil for a size that fits the box.
    var fontSize: Double?
    var alignment = Alignment.left
    /// The text, or the lines of a list.
    var lines: [Line] = []
    /// Whether the text is broken at the width of the box and starts at its top.
    var isMultiline = false
    /// Number of cells for one character each; 0 for a field without cells.
    var cells = 0

    /// Sets the size and the colour of the text.
    ///
    /// - Parameter operators: A default appearance, such as `0 0 1 rg /Helv 12 Tf`.
    mutating func style(by operators: String) {
        var operands: [Double] = []
        for token in operators.split(whereSeparator: \.isWhitespace) {
            if let number = Double(token), number.isFinite {
                operands.append(number)
                continue
            }
            switch token {
            case "Tf": fontSize = operands.last.flatMap { $0 > 0 && $0 <= 1000 ? $0 : nil }
            case "g", "rg", "k": if [1, 3, 4].contains(operands.count) { color = operands }
            // The name of the font precedes its size.
            default: if token.hasPrefix("/") { continue }
            }
            operands = []
        }
    }

    /// Returns the red, green and blue of a colour's components.
    static func rgb(_ components: [Double]) -> (Double, Double, Double) {
        switch components.count {
        case 1: (components[0], components[0], components[0])
        case 3: (components[0], components[1], components[2])
        case 4:
            (
                (1 - components[0]) * (1 - components[3]), (1 - components[1]) * (1 - components[3]),
                (1 - components[2]) * (1 - components[3])
            )
        default: (0, 0, 0)
        }
    }

    /// Returns the character of ITC Zapf Dingbats that marks a button which is on.
    static func mark(_ code: String?, isRadio: Bool) -> String {
        ["4": "✔", "8": "✘", "l": "●", "n": "■", "u": "◆", "H": "★"][code ?? ""] ?? (isRadio ? "●" : "✔")
    }
}
