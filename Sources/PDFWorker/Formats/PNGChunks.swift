import MediaFormats

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

    /// Returns all chunks up to IEND, or to the end of a file that lacks it, or a part of it, behind its pixels.
    func all() throws -> [Chunk] {
        var chunks: [Chunk] = []
        var offset = 8
        while chunks.count < Self.maximum {
            if offset + 12 > reader.count, chunks.contains(where: { $0.type == "IDAT" }) { return chunks }
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
