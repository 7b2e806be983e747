/// Writes a picture of blocks of one colour, 8 pixels wide and high, as baseline JPEG (ITU-T T.81). Of each block only
/// the mean (the DC coefficient) is written, so the encoder needs no cosine transform.
enum JPEG {
    /// - Parameters:
    ///   - width: 1…65 535 pixels; blocks at the right and bottom edge may be cut.
    ///   - color: of the block in that column and row.
    static func encode(width: Int, height: Int, comment: String = "", color: (_ column: Int, _ row: Int) -> PNG.Color)
        -> [UInt8]
    {
        precondition((1...65_535).contains(width) && (1...65_535).contains(height))
        var scan = BitWriter()
        var previous = [0, 0, 0]
        for row in 0..<(height + 7) / 8 {
            for column in 0..<(width + 7) / 8 {
                let means = components(color(column, row))
                for component in 0..<3 {
                    write(difference: means[component] - previous[component], to: &scan)
                    previous[component] = means[component]
                }
            }
        }
        return headers(width: width, height: height, comment: comment) + scan.finished() + [0xFF, 0xD9]
    }

    /// Y, Cb and Cr (JFIF 1.02), less 128. The DC coefficient of a block of one colour is 8 times that value, and
    /// quantization divides it by 8.
    private static func components(_ color: PNG.Color) -> [Int] {
        let (red, green, blue) = (Int(color.red), Int(color.green), Int(color.blue))
        let luma = (299 * red + 587 * green + 114 * blue) / 1000
        let blueness = (-169 * red - 331 * green + 500 * blue) / 1000
        let redness = (500 * red - 419 * green - 81 * blue) / 1000
        return [luma - 128, min(max(blueness, -128), 127), min(max(redness, -128), 127)]
    }

    /// A difference of means and the end of the block (T.81 F.1.2).
    private static func write(difference: Int, to scan: inout BitWriter) {
        let size = Int.bitWidth - abs(difference).leadingZeroBitCount
        let code = dcCodes[size]
        scan.write(code.bits, count: code.length)
        if size > 0 { scan.write(difference > 0 ? difference : difference + (1 << size) - 1, count: size) }
        scan.write(endOfBlock, count: 1)
    }

    private static let endOfBlock = 0

    /// How many codes of each length 1…16 there are for differences of size 0…11 (T.81 table K.3).
    private static let dcLengths: [UInt8] = [0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0]

    private static let dcCodes: [(bits: Int, length: Int)] = {
        var codes: [(bits: Int, length: Int)] = []
        var next = 0
        for (index, count) in dcLengths.enumerated() {
            for _ in 0..<count {
                codes.append((next, index + 1))
                next += 1
            }
            next <<= 1
        }
        return codes
    }()

    private static func headers(width: Int, height: Int, comment: String) -> [UInt8] {
        let sides = [UInt8(height >> 8), UInt8(height & 0xFF), UInt8(width >> 8), UInt8(width & 0xFF)]
        return [0xFF, 0xD8]
            + segment(0xE0, Array("JFIF".utf8) + [0, 1, 2, 0, 0, 1, 0, 1, 0, 0])
            + (comment.isEmpty ? [] : segment(0xFE, Array(comment.utf8.prefix(60_000))))
            + segment(0xDB, [0] + [UInt8](repeating: 8, count: 64))
            // 8 bits a sample, three components of the same size, all with quantization table 0.
            + segment(0xC0, [8] + sides + [3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0])
            + segment(0xC4, [0x00] + dcLengths + (0..<12).map { UInt8($0) })
            // The only code for AC coefficients: a 0 ends the block.
            + segment(0xC4, [0x10, 1] + [UInt8](repeating: 0, count: 15) + [0x00])
            + segment(0xDA, [3, 1, 0x00, 2, 0x00, 3, 0x00, 0, 63, 0])
    }

    private static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
        let length = content.count + 2
        return [0xFF, marker, UInt8(length >> 8), UInt8(length & 0xFF)] + content
    }

    /// Bits from the highest to the lowest, with a 0 after each 0xFF (T.81 F.1.2.3).
    private struct BitWriter {
        private var bytes: [UInt8] = []
        private var pending = 0
        private var count = 0

        mutating func write(_ bits: Int, count length: Int) {
            pending = pending << length | bits
            count += length
            while count >= 8 {
                count -= 8
                let byte = UInt8(pending >> count & 0xFF)
                bytes.append(byte)
                if byte == 0xFF { bytes.append(0) }
            }
            pending &= (1 << count) - 1
        }

        func finished() -> [UInt8] {
            var copy = self
            if copy.count > 0 { copy.write((1 << (8 - copy.count)) - 1, count: 8 - copy.count) }
            return copy.bytes
        }
    }
}
