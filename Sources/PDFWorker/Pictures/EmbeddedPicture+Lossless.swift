import Foundation
import MediaFormats

extension EmbeddedPicture {
    /// Returns the pixels of a PNG of Larder's own in as few bytes as PDF can hold them without loss.
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

/// The ways to code the pixels of a picture.
struct LosslessCoding<Source: ByteSource> {
    /// One of them.
    struct Sampling {
        /// Bits of a sample if they are fewer than those of the picture.
        var bits: Int?
        /// Colours, if samples are their numbers.
        var palette: [UInt32]?
        /// Whether lines are filtered as those of a PNG.
        var isFiltered = false
    }

    private let pixels: PNGPixels<Source>
    private let samplings: [Sampling]

    /// Pictures of at most this many bytes are encoded in every way; for others, some lines decide.
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

    /// Returns the way that takes the fewest bytes, and the bytes.
    ///
    /// - Throws: ``JobError``.
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
            // vips was run without a filter.
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
