extension PictureHeader {
    /// PNG (third edition) section 11.2.1: IHDR comes first.
    static func png(_ reader: HeaderReader<some ByteSource>) throws -> PictureHeader {
        guard try reader.text(at: 12, count: 4) == "IHDR" else {
            throw PictureHeaderError.malformed("a PNG without IHDR at its beginning")
        }
        var header = PictureHeader(
            .png,
            width: try reader.number(at: 16, bytes: 4),
            height: try reader.number(at: 20, bytes: 4)
        )
        guard header.width < 1 << 31, header.height < 1 << 31 else {
            throw PictureHeaderError.malformed("a PNG of more than 2³¹ pixels a side")
        }
        header.mayBeTransparent = [4, 6].contains(try reader.byte(at: 25))
        header.bitsPerSample = try reader.byte(at: 24)
        header.isInterlaced = try reader.byte(at: 28) != 0
        try header.readAncillaryChunks(reader)
        return header
    }

    /// Reads the chunks between IHDR and IDAT. tRNS makes the other colour types transparent. eXIf may also follow
    /// IDAT, which is not in use.
    private mutating func readAncillaryChunks(_ reader: HeaderReader<some ByteSource>) throws {
        var offset = 33
        for _ in 0..<1000 {
            switch try reader.text(at: offset + 4, count: 4) {
            case "IDAT": return
            case "tRNS": mayBeTransparent = true
            case "iCCP": hasProfile = true
            case "eXIf": hasOrientation = true
            default: break
            }
            offset += 12 + (try reader.number(at: offset, bytes: 4))
        }
        throw PictureHeaderError.malformed("a PNG of more than 1000 chunks before its pixels")
    }

    /// GIF89a section 18. Transparency is a property of each frame: every GIF may be transparent.
    static func gif(_ reader: HeaderReader<some ByteSource>) throws -> PictureHeader {
        var header = PictureHeader(
            .gif,
            width: try reader.number(at: 6, bytes: 2, littleEndian: true),
            height: try reader.number(at: 8, bytes: 2, littleEndian: true)
        )
        header.mayBeTransparent = true
        return header
    }

    /// WebP container specification (RFC 9649 section 2): lossy, lossless, extended.
    static func webp(_ reader: HeaderReader<some ByteSource>) throws -> PictureHeader {
        switch try reader.text(at: 12, count: 4) {
        case "VP8 ": return try lossyWebP(reader)
        case "VP8L": return try losslessWebP(reader)
        case "VP8X": return try extendedWebP(reader)
        default: throw PictureHeaderError.malformed("a WebP that begins with an unknown chunk")
        }
    }

    private static func lossyWebP(_ reader: HeaderReader<some ByteSource>) throws -> PictureHeader {
        guard try reader.bytes(at: 23, count: 3) == [0x9D, 0x01, 0x2A] else {
            throw PictureHeaderError.malformed("a WebP without a key frame")
        }
        let width = try reader.number(at: 26, bytes: 2, littleEndian: true) & 0x3FFF
        let height = try reader.number(at: 28, bytes: 2, littleEndian: true) & 0x3FFF
        return PictureHeader(.webp, width: width, height: height)
    }

    private static func losslessWebP(_ reader: HeaderReader<some ByteSource>) throws -> PictureHeader {
        guard try reader.byte(at: 20) == 0x2F else {
            throw PictureHeaderError.malformed("a WebP without its lossless signature")
        }
        let bits = try reader.number(at: 21, bytes: 4, littleEndian: true)
        var header = PictureHeader(.webp, width: (bits & 0x3FFF) + 1, height: (bits >> 14 & 0x3FFF) + 1)
        header.mayBeTransparent = bits >> 28 & 1 == 1
        header.isLossless = true
        return header
    }

    private static func extendedWebP(_ reader: HeaderReader<some ByteSource>) throws -> PictureHeader {
        let width = try reader.number(at: 24, bytes: 3, littleEndian: true) + 1
        let height = try reader.number(at: 27, bytes: 3, littleEndian: true) + 1
        var header = PictureHeader(.webp, width: width, height: height)
        let flags = try reader.byte(at: 20)
        header.mayBeTransparent = flags & 0x10 != 0
        header.hasProfile = flags & 0x20 != 0
        header.isLossless = try firstImageChunk(reader) == "VP8L"
        return header
    }

    /// Returns the type of the first chunk with pixels after VP8X; nil if none is among the first hundred chunks.
    /// Of an animation it is a frame.
    private static func firstImageChunk(_ reader: HeaderReader<some ByteSource>) throws -> String? {
        var offset = 30
        for _ in 0..<100 where offset + 8 <= reader.count {
            let type = try reader.text(at: offset, count: 4)
            if ["VP8 ", "VP8L", "ANMF"].contains(type) { return type }
            let length = try reader.number(at: offset + 4, bytes: 4, littleEndian: true)
            offset += 8 + length + length % 2
        }
        return nil
    }
}
