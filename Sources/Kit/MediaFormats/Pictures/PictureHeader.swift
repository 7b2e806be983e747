/// The header of a picture file, read without decoding anything, so that limits are checked before a decoder runs.
package struct PictureHeader: Sendable, Equatable {
    package var format: PictureFormat
    /// Stored width in pixels, before any orientation is applied; at least 1.
    package var width: Int
    /// Stored height in pixels; at least 1.
    package var height: Int
    package var mayBeTransparent = false
    /// Whether a colour profile is embedded. Without one, colours are those of sRGB.
    package var hasProfile = false
    /// Bits of a sample; 8 if the header does not say.
    package var bitsPerSample = 8
    /// Whether it is a PNG whose lines are interlaced.
    package var isInterlaced = false
    /// Whether it is a PNG with an EXIF chunk, which may have an orientation.
    package var hasOrientation = false
    /// Whether it is a lossless WebP.
    package var isLossless = false
    /// Whether the file has more pictures than the one that is shown: frames of an animation, or pictures of a burst.
    /// The pages of a TIFF do not count.
    package var hasFurtherPictures = false
    /// Height of a pixel of a TIFF by its width after orientation: faxes have more pixels across than down. 1 if
    /// unknown.
    package var pixelAspect = 1.0
    /// The gamma of a PNG whose samples are not coded as those of sRGB are: light is a sample to this power. Nil if a
    /// profile tells, or if it is that of sRGB.
    package var gamma: Double?
    /// Where the first frame of a GIF ends, if it does not cover the picture: decoders make the rest black unless a
    /// frame is transparent.
    package var endOfPartialFrame: Int?
    /// Position of the page in a TIFF, from 0.
    package var page = 0
    /// The coding of a JPEG; nil for other formats.
    package var jpeg: JPEGFrame?

    /// Its pixels; the largest number if they overflow.
    package var pixels: Int { width.multipliedReportingOverflow(by: height).overflow ? Int.max : width * height }

    /// Reads the header of a picture, with at most some thousand small reads for every file.
    ///
    /// - Throws: ``PictureHeaderError``; errors of the source.
    package init(of source: some ByteSource) throws {
        guard let format = PictureFormat(signature: try source.bytes(0..<PictureFormat.signatureLength)) else {
            throw PictureHeaderError.unsupported(ForeignFormat.name(of: try source.bytes(0..<512)))
        }
        let reader = HeaderReader(source: source)
        switch format {
        case .jpeg: self = try Self.jpeg(reader)
        case .png: self = try Self.png(reader)
        case .gif: self = try Self.gif(reader)
        case .webp: self = try Self.webp(reader)
        case .tiff: self = try Self.tiff(reader)
        case .heic, .avif: self = try Self.highEfficiency(reader, format)
        }
        guard width > 0, height > 0 else { throw PictureHeaderError.malformed("a side has no pixels") }
    }

    init(_ format: PictureFormat, width: Int, height: Int) {
        self.format = format
        self.width = width
        self.height = height
    }
}

/// Why the header of a file cannot be read. Functions that read one throw this, and errors of the source.
package enum PictureHeaderError: Error, Sendable, Equatable {
    /// The format is not accepted; the text names the format that it seems to be of.
    case unsupported(String)
    /// The file ends within its header.
    case truncated
    /// The header is not valid in its format.
    case malformed(String)
    /// The file has more pages than may be read.
    case tooManyPages
}

extension PictureHeader {
    /// PNG (third edition) section 11.2.1: IHDR is the first chunk.
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
        var isOfStandard = false
        for _ in 0..<1000 {
            switch try reader.text(at: offset + 4, count: 4) {
            case "IDAT":
                if hasProfile || isOfStandard { gamma = nil }
                return
            case "tRNS": mayBeTransparent = true
            case "iCCP": hasProfile = true
            case "sRGB", "cICP": isOfStandard = true
            case "gAMA": gamma = Self.gamma(try reader.number(at: offset + 8, bytes: 4))
            case "eXIf": hasOrientation = true
            case "acTL": hasFurtherPictures = true
            default: break
            }
            offset += 12 + (try reader.number(at: offset, bytes: 4))
        }
        throw PictureHeaderError.malformed("a PNG of more than 1000 chunks before its pixels")
    }

    /// Returns the reciprocal of gAMA (PNG third edition, section 11.3.2.2), whose unit is 1/100,000. Nil if it differs
    /// by less than a twentieth from that of sRGB, or is none that a device has.
    private static func gamma(_ value: Int) -> Double? {
        let gamma = 100_000 / Double(max(1, value))
        return (0.2...10).contains(gamma) && abs(gamma / 2.2 - 1) > 0.05 ? gamma : nil
    }

    /// GIF89a section 18. Transparency is a property of each frame: every GIF may be transparent.
    static func gif(_ reader: HeaderReader<some ByteSource>) throws -> PictureHeader {
        var header = PictureHeader(
            .gif,
            width: try reader.number(at: 6, bytes: 2, littleEndian: true),
            height: try reader.number(at: 8, bytes: 2, littleEndian: true)
        )
        header.mayBeTransparent = true
        try header.readFrames(reader)
        return header
    }

    /// Looks at the image descriptors of a GIF (GIF89a sections 20 to 26) up to the second one. Malformed parts show in
    /// decoding.
    private mutating func readFrames(_ reader: HeaderReader<some ByteSource>) throws {
        func colors(_ flags: Int) -> Int { flags & 0x80 != 0 ? 3 << (flags & 7 + 1) : 0 }
        guard reader.count > 13 else { return }
        var offset = 13 + colors(try reader.byte(at: 10))
        var frames = 0
        // Blocks of at most 255 bytes each: as many as a picture of some megabytes has.
        for _ in 0..<20_000 where offset + 10 < reader.count {
            let kind = try reader.byte(at: offset)
            guard kind == 0x21 || kind == 0x2C, frames == 0 || kind == 0x21 else {
                hasFurtherPictures = kind == 0x2C
                return
            }
            let isPartial = try kind == 0x2C && !coversPicture(at: offset, reader)
            if kind == 0x2C { frames += 1 }
            offset += kind == 0x21 ? 2 : 11 + colors(try reader.byte(at: offset + 9))
            offset = try Self.endOfBlocks(from: offset, reader)
            if isPartial, offset < reader.count { endOfPartialFrame = offset }
        }
    }

    /// Whether the frame of an image descriptor covers the picture.
    private func coversPicture(at offset: Int, _ reader: HeaderReader<some ByteSource>) throws -> Bool {
        let frame = try (0..<4).map { try reader.number(at: offset + 1 + 2 * $0, bytes: 2, littleEndian: true) }
        return frame[0] == 0 && frame[1] == 0 && frame[2] >= width && frame[3] >= height
    }

    /// Returns the offset after the sub-blocks that begin at an offset (GIF89a section 15).
    private static func endOfBlocks(from start: Int, _ reader: HeaderReader<some ByteSource>) throws -> Int {
        var offset = start
        for _ in 0..<20_000 where offset < reader.count {
            let length = try reader.byte(at: offset)
            offset += 1 + length
            if length == 0 { return offset }
        }
        return reader.count
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
        header.hasFurtherPictures = flags & 0x02 != 0
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
