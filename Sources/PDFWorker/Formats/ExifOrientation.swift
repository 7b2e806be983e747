import MediaFormats

/// The orientation of a photo (EXIF 2.32 4.6.4 A, tag 0x0112): the sides of the shown picture at which the first stored
/// line and column are.
enum ExifOrientation: Int, CaseIterable {
    case upright = 1
    case mirrored, upsideDown, flipped, transposed, turnedRight, transversed, turnedLeft

    /// Whether the shown picture has the stored height as its width.
    var swapsSides: Bool { rawValue >= 5 }

    /// The matrix from stored to shown points, in PDF's image space (x to the right, y up, each 0…1): x' = ax + cy + e,
    /// y' = bx + dy + f.
    var matrix: (a: Double, b: Double, c: Double, d: Double, e: Double, f: Double) {
        switch self {
        case .upright: (1, 0, 0, 1, 0, 0)
        case .mirrored: (-1, 0, 0, 1, 1, 0)
        case .upsideDown: (-1, 0, 0, -1, 1, 1)
        case .flipped: (1, 0, 0, -1, 0, 1)
        case .transposed: (0, -1, -1, 0, 1, 1)
        case .turnedRight: (0, -1, 1, 0, 0, 1)
        case .transversed: (0, 1, 1, 0, 0, 0)
        case .turnedLeft: (0, 1, -1, 0, 1, 0)
        }
    }

    /// Reads the content of an APP1 segment; nil if it is not of EXIF, or has no orientation.
    static func read(fromSegment content: [UInt8]) -> ExifOrientation? {
        guard content.starts(with: [0x45, 0x78, 0x69, 0x66, 0, 0]) else { return nil }
        let reader = HeaderReader(source: Array(content.dropFirst(6)))
        // A photo with malformed EXIF is shown as it is stored.
        return try? read(reader)
    }

    private static func read(_ reader: HeaderReader<[UInt8]>) throws -> ExifOrientation? {
        let order = try reader.number(at: 0, bytes: 2)
        guard order == 0x4949 || order == 0x4D4D else { return nil }
        let little = order == 0x4949
        guard try reader.number(at: 2, bytes: 2, littleEndian: little) == 42 else { return nil }
        let directory = try reader.number(at: 4, bytes: 4, littleEndian: little)
        for index in 0..<(try reader.number(at: directory, bytes: 2, littleEndian: little)) {
            let entry = directory + 2 + 12 * index
            guard try reader.number(at: entry, bytes: 2, littleEndian: little) == 0x0112 else { continue }
            guard try reader.number(at: entry + 2, bytes: 2, littleEndian: little) == 3 else { return nil }
            return ExifOrientation(rawValue: try reader.number(at: entry + 8, bytes: 2, littleEndian: little))
        }
        return nil
    }
}
