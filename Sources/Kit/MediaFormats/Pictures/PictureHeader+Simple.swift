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
        // tRNS makes the other colour types transparent; it is between IHDR and IDAT. eXIf may also follow IDAT, which
        // is not in use.
        var offset = 33
        for _ in 0..<1000 {
            let type = try reader.text(at: offset + 4, count: 4)
            if type == "IDAT" { return header }
            if type == "tRNS" { header.mayBeTransparent = true }
            if type == "iCCP" { header.hasProfile = true }
            if type == "eXIf" { header.hasOrientation = true }
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
        case "VP8 ":
            guard try reader.bytes(at: 23, count: 3) == [0x9D, 0x01, 0x2A] else {
                throw PictureHeaderError.malformed("a WebP without a key frame")
            }
            let width = try reader.number(at: 26, bytes: 2, littleEndian: true) & 0x3FFF
            let height = try reader.number(at: 28, bytes: 2, littleEndian: true) & 0x3FFF
            return PictureHeader(.webp, width: width, height: height)
        case "VP8L":
            guard try reader.byte(at: 20) == 0x2F else {
                throw PictureHeaderError.malformed("a WebP without its lossless signature")
            }
            let bits = try reader.number(at: 21, bytes: 4, littleEndian: true)
            var header = PictureHeader(.webp, width: (bits & 0x3FFF) + 1, height: (bits >> 14 & 0x3FFF) + 1)
            header.mayBeTransparent = bits >> 28 & 1 == 1
            header.isLossless = true
            return header
        case "VP8X":
            let width = try reader.number(at: 24, bytes: 3, littleEndian: true) + 1
            let height = try reader.number(at: 27, bytes: 3, littleEndian: true) + 1
            var header = PictureHeader(.webp, width: width, height: height)
            header.mayBeTransparent = try reader.byte(at: 20) & 0x10 != 0
            header.hasProfile = try reader.byte(at: 20) & 0x20 != 0
            header.isLossless = try firstImageChunk(reader) == "VP8L"
            return header
        default:
            throw PictureHeaderError.malformed("a WebP that begins with an unknown chunk")
        }
    }

    /// Which of the chunks that hold pixels comes first behind VP8X; nil where none is among the first hundred chunks.
    /// Of a moving picture it is a frame.
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
