/// The look of a form's field, as readers draw it (ISO 32000-1 12.7.3.3): a box with a text, lines to choose from or a
/// mark.
struct FieldLook: Equatable {
    enum Alignment: Int {
        case left, center, right
    }

    struct Line: Equatable {
        var text: String
        var isSelected = false
    }

    /// Points.
    var width: Double
    var height: Double
    /// Components of gray, RGB or CMYK; nil for none.
    var background: [Double]?
    var border: [Double]?
    var borderWidth = 1.0
    var color: [Double] = [0]
    /// Points; nil for a size that fits the box.
    var fontSize: Double?
    var alignment = Alignment.left
    /// The text, or the lines of a list.
    var lines: [Line] = []
    /// Whether the text is broken at the width of the box, and begins at its top.
    var isMultiline = false
    /// Of a field that is divided into cells for one character each; 0 for others.
    var cells = 0

    /// Sets the size and the colour of the text.
    ///
    /// - Parameter operators: a default appearance, such as `0 0 1 rg /Helv 12 Tf`.
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
            // The name of the font comes before its size.
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
