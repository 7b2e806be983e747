import Foundation
import MediaFormats

extension EmbeddedPicture {
    /// Returns a PNG whose compressed pixels are embedded as they are: PDF's Flate filter has the predictors of PNG
    /// (ISO 32000-1 7.4.4.4), but neither interlacing nor alpha.
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
}
