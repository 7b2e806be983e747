import Foundation
import MediaFormats

/// An embedded picture of a PDF (ISO 32000-1 8.9.5): its data unchanged, and the parameters to decode them.
struct EmbeddedPicture: Equatable {
    /// Pixels of a stored line.
    var width: Int
    /// Stored lines.
    var height: Int
    var bitsPerComponent: Int
    /// 1 for grey, 3 for RGB, 4 for CMYK. With a palette, those of its colours.
    var components: Int
    /// `/DCTDecode` or `/FlateDecode`.
    var filter: String
    /// Parameters of the filter in PDF notation.
    var filterParameters: String?
    /// The embedded data, in parts.
    var data: [Data]
    /// Values are stored inverted, as Adobe's programs store CMYK.
    var isInverted = false
    /// The CRC-32 of the data after it was computed.
    var checksum: UInt = 0
    /// RGB triplets.
    var palette: [UInt8]?
    var profile: ICCProfile?
    var orientation = ExifOrientation.upright
    /// Height of a pixel by its width after orientation.
    var pixelAspect = 1.0

    var shownWidth: Int { orientation.swapsSides ? height : width }
    var shownHeight: Int { orientation.swapsSides ? width : height }

    /// Number of its bytes in a document. A palette is written in hexadecimal digits.
    var bytes: Int { data.reduce(0) { $0 + $1.count } + 2 * (palette?.count ?? 0) + (profile?.bytes.count ?? 0) }

    /// Whether its colours are defined in a document in which colours without a profile are sRGB, as PDF/A requires
    /// (ISO 19005-2 6.2.4).
    var isArchival: Bool { profile?.isOfDevice ?? (components != 4) }

    /// The colour space without a profile.
    var deviceColorSpace: String { components == 1 ? "/DeviceGray" : components == 3 ? "/DeviceRGB" : "/DeviceCMYK" }

    /// Returns a profile of the colours of sRGB with another gamma.
    func profile(gamma: Double) -> ICCProfile? { ICCProfile(gamma: gamma, components: components) }

    /// Reads a JPEG or PNG that can be embedded unchanged.
    ///
    /// - Parameter keepsMetadata: whether a JPEG keeps its metadata.
    /// - Throws: `PictureHeaderError`, ``JobError``.
    init(file path: String, keepsMetadata: Bool = false) throws {
        let source = try FileBytes(URL(filePath: path))
        let header = try PictureHeader(of: source)
        let data = try Data(contentsOf: URL(filePath: path), options: .alwaysMapped)
        switch header.format {
        case .jpeg: self = try Self.jpeg(source, header, data, keepsMetadata: keepsMetadata)
        case .png: self = try Self.png(source, data)
        default: throw JobError.damaged("\(header.format.rawValue.uppercased()) cannot be embedded as it is")
        }
    }

    init(_ header: PictureHeader, bitsPerComponent: Int, components: Int, filter: String, data: [Data]) {
        (width, height) = (header.width, header.height)
        self.bitsPerComponent = bitsPerComponent
        self.components = components
        self.filter = filter
        self.data = data
    }
}

extension EmbeddedPicture {
    /// Returns a JPEG that becomes the stream unchanged. Its segments tell the decoder everything except the
    /// orientation, the profile and Adobe's inversion.
    static func jpeg(_ source: some ByteSource, _ header: PictureHeader, _ data: Data, keepsMetadata: Bool) throws
        -> EmbeddedPicture
    {
        guard let frame = header.jpeg, frame.isEmbeddable else {
            throw JobError.damaged(
                "a JPEG of a kind that PDF does not know: "
                    + "arithmetic, lossless or of \(header.jpeg?.precision ?? 0) bits"
            )
        }
        let segments = JPEGSegments(source)
        func contents(of marker: UInt8) throws -> [[UInt8]] {
            try segments.all().filter { $0.marker == marker }.map { try source.bytes($0.content) }
        }
        var picture = EmbeddedPicture(
            header,
            bitsPerComponent: 8,
            components: frame.components,
            filter: "/DCTDecode",
            data: keepsMetadata ? [data] : JPEGMetadata.rest(of: data)
        )
        picture.isInverted = frame.components == 4 && frame.adobeTransform != nil
        picture.orientation =
            try contents(of: 0xE1).lazy.compactMap { ExifOrientation.read(fromSegment: $0) }.first ?? .upright
        picture.profile = ICCProfile.joined(try contents(of: 0xE2)).flatMap {
            ICCProfile($0, components: frame.components)
        }
        return picture
    }

    /// Returns a PNG whose compressed pixels are embedded unchanged. PDF's Flate filter has the predictors of PNG (ISO
    /// 32000-1 7.4.4.4), but supports neither interlacing nor alpha.
    static func png<Source: ByteSource>(_ source: Source, _ data: Data) throws -> EmbeddedPicture {
        let pixels = try PNGPixels(source, data)
        let header = pixels.header
        let colorType = try HeaderReader(source: source).byte(at: 25)
        var picture = EmbeddedPicture(
            header,
            bitsPerComponent: header.bitsPerSample,
            components: colorType == 0 ? 1 : 3,
            filter: "/FlateDecode",
            data: pixels.compressed
        )
        picture.filterParameters =
            "<< /Predictor 15 /Colors \(pixels.samples) /BitsPerComponent \(header.bitsPerSample) "
            + "/Columns \(header.width) >>"
        if colorType == 3 { picture.palette = try palette(of: source, pixels.chunks) }
        picture.profile = try profile(of: source, pixels.chunks, components: picture.components)
        return picture
    }

    private static func palette<Source: ByteSource>(of source: Source, _ chunks: [PNGChunks<Source>.Chunk]) throws
        -> [UInt8]
    {
        guard let palette = chunks.first(where: { $0.type == "PLTE" }), palette.content.count % 3 == 0,
            (3...768).contains(palette.content.count)
        else {
            throw PictureHeaderError.malformed("a PNG without a palette of 1 to 256 colours")
        }
        return try source.bytes(palette.content)
    }

    /// Reads iCCP: name, zero, method (0), compressed profile (PNG 11.3.2.3).
    static func profile<Source: ByteSource>(
        of source: Source,
        _ chunks: [PNGChunks<Source>.Chunk],
        components: Int
    ) throws -> ICCProfile? {
        guard let chunk = chunks.first(where: { $0.type == "iCCP" }), chunk.content.count < ICCProfile.maximumBytes
        else { return nil }
        let content = try source.bytes(chunk.content)
        guard let end = content.firstIndex(of: 0), end + 2 < content.count, content[end + 1] == 0 else { return nil }
        let inflated = Inflation.inflate(Data(content[(end + 2)...]), atMost: ICCProfile.maximumBytes)
        return inflated.flatMap { ICCProfile($0, components: components) }
    }

    /// Returns the pixels of a PNG from Larder's own decoder, in as few bytes as PDF can hold them without loss.
    ///
    /// - Throws: `PictureHeaderError`, ``JobError``.
    static func lossless(_ path: String) throws -> EmbeddedPicture {
        let data = try Data(contentsOf: URL(filePath: path), options: .alwaysMapped)
        let pixels = try PNGPixels(try FileBytes(URL(filePath: path)), data)
        let coding = try LosslessCoding(pixels)
        let (sampling, bytes) = try coding.smallest()
        var picture = EmbeddedPicture(
            pixels.header,
            bitsPerComponent: sampling.bits ?? pixels.header.bitsPerSample,
            components: pixels.samples,
            filter: "/FlateDecode",
            data: [bytes]
        )
        if sampling.isFiltered {
            picture.filterParameters =
                "<< /Predictor 15 /Colors \(pixels.samples) /BitsPerComponent \(picture.bitsPerComponent) "
                + "/Columns \(picture.width) >>"
        }
        picture.palette = sampling.palette?.flatMap { [UInt8($0 >> 16), UInt8($0 >> 8 & 0xFF), UInt8($0 & 0xFF)] }
        picture.profile = try profile(of: pixels.source, pixels.chunks, components: picture.components)
        return picture
    }
}

/// Chooses the way to encode the pixels of a picture.
struct LosslessCoding<Source: ByteSource> {
    struct Sampling {
        /// Bits of a sample if they are fewer than those of the picture.
        var bits: Int?
        /// The colours if samples are indexes of a palette.
        var palette: [UInt32]?
        /// Whether lines are filtered as those of a PNG.
        var isFiltered = false
    }

    private let pixels: PNGPixels<Source>
    private let samplings: [Sampling]

    /// Pictures of at most this many bytes are encoded in every way. For larger ones, a sample of lines decides.
    private static var wholeTrial: Int { 2 << 20 }
    /// Lines that are tried together.
    private static var stripLines: Int { 16 }

    init(_ pixels: PNGPixels<Source>) throws {
        self.pixels = pixels
        var samplings = [Sampling(), Sampling(isFiltered: true)]
        if pixels.header.bitsPerSample == 8 {
            if let few = try PictureColors.sampling(pixels) { samplings.append(few) }
        }
        self.samplings = samplings
    }

    /// Returns the encoding that needs the fewest bytes, and the bytes.
    func smallest() throws -> (Sampling, Data) {
        let isSmall = pixels.lineBytes * pixels.header.height <= Self.wholeTrial
        let strips = pixels.header.height / Self.stripLines + 1
        let step = isSmall ? 1 : max(1, strips / max(1, Self.wholeTrial / (pixels.lineBytes * Self.stripLines)))
        let trials = try samplings.map { try coded($0, level: isSmall ? 9 : 6, everyStrip: step) }
        // A palette is embedded unchanged.
        let sizes = zip(samplings, trials).map { ($0.palette?.count ?? 0) * 3 + $1.count * step }
        let best = trials.indices.min { sizes[$0] < sizes[$1] } ?? 0
        if step == 1, isSmall { return (samplings[best], trials[best]) }
        return (samplings[best], try coded(samplings[best], level: 6, everyStrip: 1))
    }

    private func coded(_ sampling: Sampling, level: Int32, everyStrip step: Int) throws -> Data {
        let deflater = try Deflater(level: level, isFiltered: sampling.isFiltered)
        let bytesPerPixel = max(1, pixels.samples * pixels.header.bitsPerSample / 8)
        let filter = sampling.isFiltered ? LineFilter(lineBytes: pixels.lineBytes, bytesPerPixel: bytesPerPixel) : nil
        var packer = sampling.bits.map { LinePacker(bits: $0, width: pixels.header.width, palette: sampling.palette) }
        var number = 0
        try pixels.forEachLine { line in
            // vips is run without a filter.
            guard line[0] == 0 else { throw JobError(.other("a PNG of vips with filtered lines")) }
            defer { number += 1 }
            guard number / Self.stripLines % step == 0 else { return }
            let plain = UnsafeBufferPointer(rebasing: line.dropFirst())
            if let filter {
                deflater.add(filter.next(plain))
            } else if packer != nil {
                packer?.pack(plain) { deflater.add($0) }
            } else {
                deflater.add(plain)
            }
        }
        return deflater.finish()
    }
}
