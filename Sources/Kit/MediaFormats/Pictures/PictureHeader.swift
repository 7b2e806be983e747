/// What the head of a picture file says of it, read without decoding anything, so that limits hold before a decoder
/// runs.
public struct PictureHeader: Sendable, Equatable {
    /// What it is.
    public var format: PictureFormat
    /// Stored width in pixels, before any orientation is applied; at least 1.
    public var width: Int
    /// Stored height in pixels; at least 1.
    public var height: Int
    /// Whether pixels may be transparent.
    public var mayBeTransparent = false
    /// Whether a colour profile is embedded. Without one, colours are those of sRGB.
    public var hasProfile = false
    /// Bits of a sample; 8 where the head does not tell.
    public var bitsPerSample = 8
    /// Whether it is a PNG whose lines are interlaced.
    public var isInterlaced = false
    /// Whether it is a PNG with an EXIF chunk, which may tell an orientation.
    public var hasOrientation = false
    /// Whether it is a WebP that loses nothing.
    public var isLossless = false
    /// How a JPEG is coded; nil for other formats.
    public var jpeg: JPEGFrame?

    /// Pixels in it.
    public var pixels: Int { width.multipliedReportingOverflow(by: height).overflow ? Int.max : width * height }

    /// Reads the head of a picture.
    ///
    /// At most some thousand small reads, whatever the file says.
    ///
    /// - Throws: ``PictureHeaderError``; what the source throws.
    public init(of source: some ByteSource) throws {
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

/// Why a file's head cannot be read.
public enum PictureHeaderError: Error, Sendable, Equatable {
    /// Not an accepted format; what it seems to be, in plain words.
    case unsupported(String)
    /// The file ends within its head.
    case truncated
    /// The head contradicts its format.
    case malformed(String)
}
