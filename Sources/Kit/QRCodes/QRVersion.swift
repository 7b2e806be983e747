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
