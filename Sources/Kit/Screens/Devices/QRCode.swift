/// A QR code (ISO/IEC 18004) of a short text: byte mode, error correction level M, versions 1 to 10.
package struct QRCode: Sendable, Equatable {
    /// Light modules that belong around a code.
    static let margin = 4

    /// Modules of a side.
    let size: Int
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

/// A size of a code at error correction level M (ISO/IEC 18004): 15 % of its codewords may be unreadable.
struct QRVersion: Sendable {
    /// 1 to 10.
    let number: Int
    /// Codewords of error correction in each block.
    let correction: Int
    /// Codewords of data of each block.
    let blocks: [Int]
    /// Coordinates at which alignment patterns have their centres, in both directions.
    let alignment: [Int]

    private init(_ number: Int, correction: Int, blocks: [Int], alignment: [Int]) {
        self.number = number
        self.correction = correction
        self.blocks = blocks
        self.alignment = alignment
    }

    /// Modules of a side.
    var size: Int { 17 + 4 * number }
    /// Codewords of data.
    var capacity: Int { blocks.reduce(0, +) }
    /// Bits that say how many bytes there are.
    var countBits: Int { number < 10 ? 8 : 16 }

    /// Returns the smallest version that holds this many bytes; nil if none does.
    static func holding(bytes: Int) -> QRVersion? {
        all.first { 4 + $0.countBits + 8 * bytes <= 8 * $0.capacity }
    }

    private static let all = [
        QRVersion(1, correction: 10, blocks: [16], alignment: []),
        QRVersion(2, correction: 16, blocks: [28], alignment: [6, 18]),
        QRVersion(3, correction: 26, blocks: [44], alignment: [6, 22]),
        QRVersion(4, correction: 18, blocks: [32, 32], alignment: [6, 26]),
        QRVersion(5, correction: 24, blocks: [43, 43], alignment: [6, 30]),
        QRVersion(6, correction: 16, blocks: [27, 27, 27, 27], alignment: [6, 34]),
        QRVersion(7, correction: 18, blocks: [31, 31, 31, 31], alignment: [6, 22, 38]),
        QRVersion(8, correction: 22, blocks: [38, 38, 39, 39], alignment: [6, 24, 42]),
        QRVersion(9, correction: 22, blocks: [36, 36, 36, 37, 37], alignment: [6, 26, 46]),
        QRVersion(10, correction: 26, blocks: [43, 43, 43, 43, 44], alignment: [6, 28, 50]),
    ]
}

/// The codewords of bytes, in the order in which they are drawn.
enum QRCodewords {
    /// Returns data and error correction of all blocks, interleaved.
    static func codewords(of bytes: [UInt8], _ version: QRVersion) -> [UInt8] {
        var rest = data(of: bytes, version)[...]
        let blocks = version.blocks.map { count in
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
        let corrections = blocks.map { ReedSolomon.correction(of: $0, count: version.correction) }
        return interleaved(blocks) + interleaved(corrections)
    }

    /// Returns the bytes with their mode and number before them, filled up to the capacity.
    private static func data(of bytes: [UInt8], _ version: QRVersion) -> [UInt8] {
        let byteMode: UInt8 = 0b0100
        var bits = bits(of: Int(byteMode), count: 4) + bits(of: bytes.count, count: version.countBits)
        for byte in bytes { bits += Self.bits(of: Int(byte), count: 8) }
        bits += [Bool](repeating: false, count: min(4, 8 * version.capacity - bits.count))
        bits += [Bool](repeating: false, count: (8 - bits.count % 8) % 8)
        var result = stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<start + 8].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
        }
        var filler: UInt8 = 0xEC
        while result.count < version.capacity {
            result.append(filler)
            filler ^= 0xEC ^ 0x11
        }
        return result
    }

    private static func bits(of value: Int, count: Int) -> [Bool] {
        (0..<count).reversed().map { value >> $0 & 1 == 1 }
    }

    private static func interleaved(_ blocks: [[UInt8]]) -> [UInt8] {
        let longest = blocks.map(\.count).max() ?? 0
        return (0..<longest).flatMap { index in
            blocks.compactMap { index < $0.count ? $0[index] : nil }
        }
    }
}

/// Error correction by Reed and Solomon over GF(2^8) with the polynomial x^8 + x^4 + x^3 + x^2 + 1.
enum ReedSolomon {
    /// Returns the codewords that follow those of a block.
    static func correction(of data: some Sequence<UInt8>, count: Int) -> [UInt8] {
        let generator = generator(degree: count)
        var rest = [UInt8](repeating: 0, count: count)
        for byte in data {
            let factor = byte ^ rest.removeFirst()
            rest.append(0)
            for index in 0..<count { rest[index] ^= product(generator[index], factor) }
        }
        return rest
    }

    /// Returns the coefficients of the product of x - 2^i below its highest power, which has the factor 1.
    private static func generator(degree: Int) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: degree - 1) + [1]
        var root: UInt8 = 1
        for _ in 0..<degree {
            for index in 0..<degree {
                result[index] = product(result[index], root)
                if index + 1 < degree { result[index] ^= result[index + 1] }
            }
            root = product(root, 2)
        }
        return result
    }

    static func product(_ a: UInt8, _ b: UInt8) -> UInt8 {
        var result: UInt8 = 0
        for bit in stride(from: 7, through: 0, by: -1) {
            let carry: UInt8 = result & 0x80 == 0 ? 0 : 0x1D
            result = (result << 1) ^ carry
            if (b >> bit) & 1 == 1 { result ^= a }
        }
        return result
    }
}
