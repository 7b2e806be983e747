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
