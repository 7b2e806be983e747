import Foundation
import MediaFormats

extension EmbeddedPicture {
    /// Returns a PNG whose compressed pixels are embedded as they are: PDF's Flate filter has the predictors of PNG
    /// (ISO 32000-1 7.4.4.4), but neither interlacing nor alpha.
    static func png(_ source: some ByteSource, _ header: PictureHeader, _ data: Data) throws -> EmbeddedPicture {
        guard !header.isInterlaced, !header.mayBeTransparent else {
            throw JobError.damaged("an interlaced or transparent PNG cannot be embedded as it is")
        }
        let reader = HeaderReader(source: source)
        let colorType = try reader.byte(at: 25)
        guard [0, 2, 3].contains(colorType) else {
            throw PictureHeaderError.malformed("a PNG of colour type \(colorType)")
        }
        let samples = colorType == 2 ? 3 : 1
        let chunks = try PNGChunks(reader).all()
        var pixels = Data()
        for chunk in chunks where chunk.type == "IDAT" {
            pixels += data[(data.startIndex + chunk.content.lowerBound)..<(data.startIndex + chunk.content.upperBound)]
        }
        var picture = EmbeddedPicture(
            header,
            bitsPerComponent: header.bitsPerSample,
            components: colorType == 0 ? 1 : 3,
            filter: "/FlateDecode",
            data: pixels
        )
        picture.filterParameters =
            "<< /Predictor 15 /Colors \(samples) /BitsPerComponent \(header.bitsPerSample) "
            + "/Columns \(header.width) >>"
        if colorType == 3 {
            guard let palette = chunks.first(where: { $0.type == "PLTE" }), palette.content.count % 3 == 0,
                (3...768).contains(palette.content.count)
            else {
                throw PictureHeaderError.malformed("a PNG without a palette of 1 to 256 colours")
            }
            picture.palette = try source.bytes(palette.content)
        }
        if let chunk = chunks.first(where: { $0.type == "iCCP" }), chunk.content.count < ICCProfile.maximumBytes {
            // Name, zero, method (0), compressed profile (PNG 11.3.2.3).
            let content = try source.bytes(chunk.content)
            if let end = content.firstIndex(of: 0), end + 2 < content.count, content[end + 1] == 0 {
                let inflated = Inflation.inflate(Data(content[(end + 2)...]), atMost: ICCProfile.maximumBytes)
                picture.profile = inflated.flatMap { ICCProfile($0, components: picture.components) }
            }
        }
        return picture
    }
}

/// The chunks of a PNG (third edition, section 5.3).
struct PNGChunks<Source: ByteSource> {
    struct Chunk: Equatable {
        let type: String
        let content: Range<Int>
    }

    /// Some programs write a picture in thousands of small chunks.
    private static var maximum: Int { 1_000_000 }
    private let reader: HeaderReader<Source>

    init(_ reader: HeaderReader<Source>) {
        self.reader = reader
    }

    /// Returns all chunks up to IEND.
    func all() throws -> [Chunk] {
        var chunks: [Chunk] = []
        var offset = 8
        while chunks.count < Self.maximum {
            let length = try reader.number(at: offset, bytes: 4)
            let type = try reader.text(at: offset + 4, count: 4)
            guard offset + 12 + length <= reader.count else { throw PictureHeaderError.truncated }
            if type == "IEND" { return chunks }
            chunks.append(Chunk(type: type, content: (offset + 8)..<(offset + 8 + length)))
            offset += 12 + length
        }
        throw PictureHeaderError.malformed("a PNG of more than \(Self.maximum) chunks")
    }
}
