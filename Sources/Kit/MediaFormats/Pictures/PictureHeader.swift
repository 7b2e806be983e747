/// The header of a picture file, read without decoding anything, so that limits are checked before a decoder runs.
package struct PictureHeader: Sendable, Equatable {
    /// The format.
    package var format: PictureFormat
    /// Stored width in pixels, before any orientation is applied; at least 1.
    package var width: Int
    /// Stored height in pixels; at least 1.
    package var height: Int
    /// Whether pixels may be transparent.
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
    /// Height of a pixel of a TIFF by its width, as it is shown: faxes have more pixels across than down. 1 if unknown.
    package var pixelAspect = 1.0
    /// The gamma of a PNG whose samples are not coded as those of sRGB are: light is a sample to this power. Nil if a
    /// profile tells, or if it is that of sRGB.
    package var gamma: Double?
    /// Where the first frame of a GIF ends, if it does not cover the picture: decoders make the rest black unless a
    /// frame is transparent.
    package var endOfPartialFrame: Int?
    /// Position of the page in a TIFF, from 0.
    package var page = 0
    /// How a JPEG is coded; nil for other formats.
    package var jpeg: JPEGFrame?

    /// Its pixels; the largest number if they overflow.
    package var pixels: Int { width.multipliedReportingOverflow(by: height).overflow ? Int.max : width * height }

    /// Reads the header of a picture, with at most some thousand small reads for every file.
    ///
    /// - Throws: ``PictureHeaderError``; what the source throws.
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

/// Why the header of a file cannot be read.
package enum PictureHeaderError: Error, Sendable, Equatable {
    /// The format is not accepted; the text names what it seems to be.
    case unsupported(String)
    /// The file ends within its header.
    case truncated
    /// The header is not valid in its format.
    case malformed(String)
    /// The file has more pages than may be read.
    case tooManyPages
}
