import MediaFormats

/// The colours of a picture of 8 bits a sample, if they are few.
struct PictureColors {
    /// More colours than a palette has.
    private static let most = 256

    private struct TooMany: Error {}

    /// By hash; the colour with its highest byte set, or 0.
    private var table = [UInt32](repeating: 0, count: 1024)
    private(set) var colors: [UInt32] = []

    /// Returns a sampling with fewer bits than the picture has; nil if it has too many colours.
    ///
    /// - Throws: ``JobError``.
    static func sampling<Source>(_ pixels: PNGPixels<Source>) throws -> LosslessCoding<Source>.Sampling? {
        var found = PictureColors()
        do {
            try pixels.forEachLine { line in
                let isFew = pixels.samples == 3 ? found.addColors(of: line) : found.addGreys(of: line)
                guard isFew else { throw TooMany() }
            }
        } catch is TooMany {
            return nil
        }
        guard pixels.samples == 3 else { return found.greys(Source.self) }
        let bits = [1, 2, 4, 8].first { found.colors.count <= 1 << $0 } ?? 8
        return .init(bits: bits, palette: found.colors.sorted { Self.brightness($0) < Self.brightness($1) })
    }

    private func greys<Source>(_: Source.Type) -> LosslessCoding<Source>.Sampling? {
        // The brightest sample of n bits is 2ⁿ - 1.
        let steps = [(1, 255), (2, 85), (4, 17)]
        return steps.first { step in colors.allSatisfy { Int($0) % step.1 == 0 } }.map { .init(bits: $0.0) }
    }

    /// Adds the pixels of a line; false if there are too many colours.
    private mutating func addColors(of line: UnsafeBufferPointer<UInt8>) -> Bool {
        var last: UInt32 = .max
        for start in stride(from: 1, to: line.count, by: 3) {
            let color = UInt32(line[start]) << 16 | UInt32(line[start + 1]) << 8 | UInt32(line[start + 2])
            if color != last, !add(color) { return false }
            last = color
        }
        return true
    }

    private mutating func addGreys(of line: UnsafeBufferPointer<UInt8>) -> Bool {
        for index in 1..<line.count { _ = add(UInt32(line[index])) }
        return true
    }

    private mutating func add(_ color: UInt32) -> Bool {
        var index = Int(Self.hash(color))
        while table[index] != 0 {
            if table[index] == color | 0xFF00_0000 { return true }
            index = (index + 1) & 1023
        }
        guard colors.count < Self.most else { return false }
        table[index] = color | 0xFF00_0000
        colors.append(color)
        return true
    }

    private static func hash(_ color: UInt32) -> UInt32 { (color &* 2_654_435_761) >> 22 }

    private static func brightness(_ color: UInt32) -> (UInt32, UInt32) {
        ((color >> 16) + (color >> 8 & 0xFF) + (color & 0xFF), color)
    }
}

/// Packs lines of 8 bits a sample into fewer.
struct LinePacker {
    private let bits: Int
    private let width: Int
    /// The number of each colour; nil for grey, of which the highest bits count.
    private let numbers: [UInt32: UInt8]?
    private var packed: [UInt8]

    init(bits: Int, width: Int, palette: [UInt32]?) {
        (self.bits, self.width) = (bits, width)
        numbers = palette.map { Dictionary(uniqueKeysWithValues: $0.enumerated().map { ($1, UInt8($0)) }) }
        packed = [UInt8](repeating: 0, count: (width * bits + 7) / 8)
    }

    /// Packs a line.
    mutating func pack(_ line: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        for index in packed.indices { packed[index] = 0 }
        var (last, lastNumber): (UInt32, UInt8) = (.max, 0)
        for x in 0..<width {
            let value: UInt8
            if let numbers {
                let color = UInt32(line[3 * x]) << 16 | UInt32(line[3 * x + 1]) << 8 | UInt32(line[3 * x + 2])
                if color != last { (last, lastNumber) = (color, numbers[color] ?? 0) }
                value = lastNumber
            } else {
                value = line[x] >> (8 - bits)
            }
            packed[x * bits / 8] |= value << (8 - bits - x * bits % 8)
        }
        packed.withUnsafeBufferPointer(body)
    }
}
