/// A QR code (ISO/IEC 18004) of a short text: byte mode, error correction level M, versions 1 to 10.
package struct QRCode: Sendable, Equatable {
    /// Light modules that belong around a code.
    package static let margin = 4

    /// Modules of a side.
    package let size: Int
    private let modules: [Bool]

    /// Encodes a text in UTF-8; nil if it has more than 213 bytes.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard let version = QRVersion.holding(bytes: bytes.count) else { return nil }
        var drawn = QRModules(version)
        drawn.draw(QRCodewords.codewords(of: bytes, version))
        let masked = QRMask.all.map { mask in
            var modules = drawn
            modules.apply(mask)
            modules.draw(format: mask.number)
            return modules
        }
        let best = masked.map { ($0, $0.penalty) }.min { $0.1 < $1.1 }?.0 ?? drawn
        size = best.size
        modules = best.dark
    }

    /// Whether the module in column `x` and row `y` is dark; those outside are light.
    package subscript(x: Int, y: Int) -> Bool {
        0..<size ~= x && 0..<size ~= y && modules[y * size + x]
    }
}

extension QRCode {
    /// The code for a terminal: two rows of modules in a line, dark on light whatever the colours of the terminal.
    package var terminalText: String {
        let sides = -Self.margin..<size + Self.margin
        let lines = stride(from: sides.lowerBound, to: sides.upperBound, by: 2).map { y in
            let cells = sides.map { x in
                switch (self[x, y], self[x, y + 1]) {
                case (true, true): "█"
                case (true, false): "▀"
                case (false, true): "▄"
                case (false, false): " "
                }
            }
            return "\u{1B}[30;107m\(cells.joined())\u{1B}[0m\n"
        }
        return lines.joined()
    }

    /// The code as a picture, black on white.
    package var svg: String {
        let side = size + 2 * Self.margin
        let dark = (0..<size).flatMap { y in
            runs(in: y).map { "M\($0.lowerBound + Self.margin) \(y + Self.margin)h\($0.count)v1h-\($0.count)z" }
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(side) \(side)" shape-rendering="crispEdges">\
            <path fill="#fff" d="M0 0h\(side)v\(side)H0z"/><path d="\(dark.joined())"/></svg>
            """
    }

    /// Returns the columns of a row that are dark, in runs.
    private func runs(in y: Int) -> [Range<Int>] {
        var result: [Range<Int>] = []
        for x in 0..<size where self[x, y] {
            if let last = result.last, last.upperBound == x {
                result[result.count - 1] = last.lowerBound..<x + 1
            } else {
                result.append(x..<x + 1)
            }
        }
        return result
    }
}
