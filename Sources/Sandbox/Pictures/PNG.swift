/// Writes a picture of up to 256 colours as PNG (W3C PNG, third edition). Its data is kept in stored blocks (RFC 1951
/// section 3.2.4): no compression, but every reader takes it, and there is nothing to get wrong.
enum PNG {
    struct Color: Sendable, Hashable {
        var red: UInt8
        var green: UInt8
        var blue: UInt8
    }

    /// - Parameters:
    ///   - palette: 1…256 colours.
    ///   - pixels: an index into the palette for each pixel, row by row; `width` × `height` of them.
    static func encode(width: Int, height: Int, palette: [Color], pixels: [UInt8]) -> [UInt8] {
        precondition(pixels.count == width * height && (1...256).contains(palette.count))
        var scanlines: [UInt8] = []
        scanlines.reserveCapacity(height * (width + 1))
        for row in 0..<height {
            // Filter type 0: the unfiltered row.
            scanlines.append(0)
            scanlines += pixels[row * width..<(row + 1) * width]
        }
        // 8 bits an index, colour type 3 (palette), no interlace.
        let header = bigEndian(UInt32(width)) + bigEndian(UInt32(height)) + [8, 3, 0, 0, 0]
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            + chunk("IHDR", header)
            + chunk("PLTE", palette.flatMap { [$0.red, $0.green, $0.blue] })
            + chunk("IDAT", zlib(scanlines))
            + chunk("IEND", [])
    }

    private static func chunk(_ type: StaticString, _ data: [UInt8]) -> [UInt8] {
        let content = Array(type.description.utf8) + data
        return bigEndian(UInt32(data.count)) + content + bigEndian(crc32(content))
    }

    /// A zlib stream (RFC 1950) of stored blocks.
    private static func zlib(_ data: [UInt8]) -> [UInt8] {
        // Deflate with a window of 32 KiB, no dictionary, fastest.
        var stream: [UInt8] = [0x78, 0x01]
        let longest = 65_535
        for start in stride(from: 0, to: data.count, by: longest) {
            let block = data[start..<min(start + longest, data.count)]
            let length = UInt16(block.count)
            let isLast: UInt8 = block.endIndex == data.count ? 1 : 0
            stream += [isLast, UInt8(length & 0xFF), UInt8(length >> 8), UInt8(~length & 0xFF), UInt8(~length >> 8)]
            stream += block
        }
        return stream + bigEndian(adler32(data))
    }

    private static func bigEndian(_ value: UInt32) -> [UInt8] {
        [UInt8(value >> 24), UInt8(value >> 16 & 0xFF), UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)]
    }

    /// CRC-32 of PNG, annex D.
    static func crc32(_ bytes: [UInt8]) -> UInt32 {
        var crc: UInt32 = 0xFFFF_FFFF
        for byte in bytes { crc = crcTable[Int(UInt8(truncatingIfNeeded: crc) ^ byte)] ^ (crc >> 8) }
        return ~crc
    }

    private static let crcTable: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { crc, _ in crc & 1 == 1 ? 0xEDB8_8320 ^ (crc >> 1) : crc >> 1 }
    }

    /// Adler-32 of RFC 1950 section 9.
    static func adler32(_ bytes: [UInt8]) -> UInt32 {
        var low: UInt32 = 1
        var high: UInt32 = 0
        for byte in bytes {
            low = (low + UInt32(byte)) % 65_521
            high = (high + low) % 65_521
        }
        return high << 16 | low
    }
}
