import CZlib
import Foundation
import MediaFormats

/// The pixels of a PNG without interlacing, line by line as its filter has left them (PNG third edition, sections 7.2
/// and 9).
struct PNGPixels<Source: ByteSource> {
    let header: PictureHeader
    let chunks: [PNGChunks<Source>.Chunk]
    /// Samples of a pixel.
    let samples: Int
    /// The whole file.
    let data: Data
    let source: Source

    /// Bytes of a line without the one that names its filter.
    var lineBytes: Int { (header.width * samples * header.bitsPerSample + 7) / 8 }

    /// Reads the chunks.
    ///
    /// - Throws: `PictureHeaderError`; ``JobError`` `damaged` if it is interlaced, transparent, or no PNG of the
    ///   standard.
    init(_ source: Source, _ data: Data) throws {
        header = try PictureHeader(of: source)
        guard !header.isInterlaced, !header.mayBeTransparent else {
            throw JobError.damaged("an interlaced or transparent PNG cannot be embedded as it is")
        }
        let reader = HeaderReader(source: source)
        let colorType = try reader.byte(at: 25)
        guard let depths = PNGColor.depths[colorType], depths.contains(header.bitsPerSample) else {
            throw PictureHeaderError.malformed("a PNG of colour type \(colorType)")
        }
        chunks = try PNGChunks(reader).all()
        samples = colorType == 2 ? 3 : 1
        (self.data, self.source) = (data, source)
    }

    /// The parts of the compressed pixels.
    private var parts: [Range<Int>] { chunks.filter { $0.type == "IDAT" }.map(\.content) }

    /// The compressed pixels, in parts.
    var compressed: [Data] { parts.map(slice) }

    private func slice(_ range: Range<Int>) -> Data {
        data[(data.startIndex + range.lowerBound)..<(data.startIndex + range.upperBound)]
    }

    /// Checks the checksums of the chunks that a decoder needs, and that those of the pixels are neighbours.
    ///
    /// - Throws: ``JobError`` `damaged`.
    func checkChunks() throws {
        let needed: Set<String> = ["IHDR", "PLTE", "IDAT"]
        for chunk in chunks where needed.contains(chunk.type) {
            let range = (chunk.content.lowerBound - 4)..<chunk.content.upperBound
            let stored = slice(range.upperBound..<(range.upperBound + 4)).reduce(0) { $0 << 8 | UInt($1) }
            let sum = slice(range).withUnsafeBytes { buffer in
                crc32_z(0, buffer.bindMemory(to: UInt8.self).baseAddress, buffer.count)
            }
            guard UInt(sum) == stored else { throw PNGColor.damaged }
        }
        let first = chunks.firstIndex { $0.type == "IDAT" } ?? 0
        let last = chunks.lastIndex { $0.type == "IDAT" } ?? 0
        guard chunks[first...last].allSatisfy({ $0.type == "IDAT" }) else { throw PNGColor.damaged }
    }

    /// Decompresses the lines, each with the byte that names its filter before it.
    ///
    /// - Throws: ``JobError`` `damaged` if a line is missing or malformed; what `body` throws.
    func forEachLine(_ body: (UnsafeBufferPointer<UInt8>) throws -> Void) throws {
        let inflater = try LineInflater(lineBytes: lineBytes + 1)
        var lines = 0
        for part in parts {
            try slice(part).withUnsafeBytes { bytes in
                inflater.take(bytes)
                while lines < header.height, let line = try inflater.nextLine() {
                    guard line[0] <= 4 else { throw PNGColor.damaged }
                    try body(line)
                    lines += 1
                }
                if lines == header.height { try inflater.finish() }
            }
        }
        guard lines == header.height, inflater.isAtEnd else { throw PNGColor.damaged }
    }
}

/// What PNG allows (section 11.2.1).
enum PNGColor {
    /// Bits of a sample by colour type: grey, RGB, palette.
    static let depths = [0: [1, 2, 4, 8, 16], 2: [8, 16], 3: [1, 2, 4, 8]]
    static let damaged = JobError.damaged("the PNG cannot be decoded")
}
