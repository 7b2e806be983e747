/// Tells complete pictures from truncated and false ones by their structure, which is followed to its end. Nothing is
/// decoded. Bytes behind the end are ignored, as decoders ignore them.
public enum PictureCompleteness {
    /// Returns whether a file is a complete JPEG, PNG, GIF or WebP; false for other formats.
    public static func isComplete(_ bytes: [UInt8]) -> Bool {
        guard let header = try? PictureHeader(of: bytes) else { return false }
        let reader = HeaderReader(source: bytes)
        return switch header.format {
        case .png: (try? png(reader)) ?? false
        case .jpeg: (try? jpeg(bytes)) ?? false
        case .gif: (try? gif(reader)) ?? false
        case .webp: (try? webp(reader)) ?? false
        case .heic, .avif, .tiff: false
        }
    }

    /// PNG (third edition) section 5: chunks up to IEND, at least one of them with pixels; the checksums of critical
    /// chunks are right.
    private static func png(_ reader: HeaderReader<[UInt8]>) throws -> Bool {
        var offset = 8
        var hasPixels = false
        while true {
            let length = try reader.number(at: offset, bytes: 4)
            let type = try reader.bytes(at: offset + 4, count: 4)
            let checksum = try reader.number(at: offset + 8 + length, bytes: 4)
            // Bit 5 of the first byte is set in ancillary chunks.
            if type[0] & 0x20 == 0 {
                let checked = reader.source[(offset + 4)..<(offset + 8 + length)]
                guard CRC32.checksum(of: checked) == UInt32(checksum) else { return false }
            }
            if type == Array("IDAT".utf8) { hasPixels = true }
            if type == Array("IEND".utf8) { return hasPixels }
            offset += 12 + length
        }
    }

    /// ITU-T T.81 annex B: behind the first scan header, entropy-coded data and segments up to the end of image.
    private static func jpeg(_ bytes: [UInt8]) throws -> Bool {
        guard let scan = try JPEGSegments(bytes).all().last, scan.marker == 0xDA else { return false }
        let reader = HeaderReader(source: bytes)
        var offset = scan.content.upperBound
        while offset + 1 < bytes.count {
            guard bytes[offset] == 0xFF else {
                offset += 1
                continue
            }
            switch bytes[offset + 1] {
            case 0xD9: return true
            case 0xFF: offset += 1
            case 0x00, 0x01, 0xD0...0xD7: offset += 2
            default: offset += 2 + max(2, try reader.number(at: offset + 2, bytes: 2))
            }
        }
        return false
    }

    /// GIF89a appendix B: blocks up to the trailer, at least one of them an image.
    private static func gif(_ reader: HeaderReader<[UInt8]>) throws -> Bool {
        var offset = 13 + colorTable(try reader.byte(at: 10))
        var hasImage = false
        while true {
            switch try reader.byte(at: offset) {
            case 0x3B: return hasImage
            case 0x21: offset = try subBlocks(reader, from: offset + 2)
            case 0x2C:
                let table = colorTable(try reader.byte(at: offset + 9))
                offset = try subBlocks(reader, from: offset + 11 + table)
                hasImage = true
            default: return false
            }
        }
    }

    /// The bytes of a color table, by the byte of flags that announces it.
    private static func colorTable(_ flags: Int) -> Int { flags & 0x80 == 0 ? 0 : 3 << ((flags & 7) + 1) }

    /// Returns the offset behind a chain of sub-blocks.
    private static func subBlocks(_ reader: HeaderReader<[UInt8]>, from offset: Int) throws -> Int {
        var offset = offset
        while case let length = try reader.byte(at: offset), length > 0 { offset += 1 + length }
        return offset + 1
    }

    /// RFC 9649 section 2.4: the length of the file is at its beginning.
    private static func webp(_ reader: HeaderReader<[UInt8]>) throws -> Bool {
        try reader.number(at: 4, bytes: 4, littleEndian: true) <= reader.count - 8
    }
}

/// The checksum of PNG (third edition, annex D).
enum CRC32 {
    static func checksum(of bytes: ArraySlice<UInt8>) -> UInt32 {
        ~bytes.reduce(UInt32.max) { table[Int(($0 ^ UInt32($1)) & 0xFF)] ^ $0 >> 8 }
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1 }
    }
}
