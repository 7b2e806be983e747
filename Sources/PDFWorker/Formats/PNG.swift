import CZlib
import Foundation
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

    /// Returns all chunks up to IEND, which may be missing or incomplete after the pixels.
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

/// The filtered lines of a PNG without interlacing (PNG third edition, sections 7.2 and 9).
struct PNGPixels<Source: ByteSource> {
    let header: PictureHeader
    let chunks: [PNGChunks<Source>.Chunk]
    /// Samples of a pixel.
    let samples: Int
    /// The whole file.
    let data: Data
    let source: Source

    /// Number of bytes in a line, without the byte of its filter.
    var lineBytes: Int { (header.width * samples * header.bitsPerSample + 7) / 8 }

    /// Reads the chunks.
    ///
    /// - Throws: `PictureHeaderError`; ``JobError`` `damaged` if the PNG is interlaced, transparent or malformed.
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

    /// Checks the checksums of the chunks that a decoder needs, and that the chunks with pixels are contiguous.
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

    /// Decompresses the lines, each preceded by the byte of its filter.
    ///
    /// - Throws: ``JobError`` `damaged` if a line is missing or malformed; errors of `body`.
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

/// The allowed depths of samples (section 11.2.1).
enum PNGColor {
    /// Bits of a sample by colour type: grey, RGB, palette.
    static let depths = [0: [1, 2, 4, 8, 16], 2: [8, 16], 3: [1, 2, 4, 8]]
    static let damaged = JobError.damaged("the PNG cannot be decoded")
}

/// The filters of PNG (third edition, section 9.2), which replace bytes by their differences from neighbouring bytes.
/// For each line the filter with the smallest differences is used.
final class LineFilter {
    private let bytesPerPixel: Int
    private let count: Int
    /// Lines with a pixel of zeros before each.
    private var line: UnsafeMutablePointer<UInt8>
    private var above: UnsafeMutablePointer<UInt8>
    /// The line under each filter, preceded by the number of the filter.
    private let filtered: [UnsafeMutablePointer<UInt8>]

    /// - Parameter lineBytes: The bytes of a line.
    init(lineBytes: Int, bytesPerPixel: Int) {
        (count, self.bytesPerPixel) = (lineBytes, bytesPerPixel)
        func allocate(_ bytes: Int) -> UnsafeMutablePointer<UInt8> {
            let pointer = UnsafeMutablePointer<UInt8>.allocate(capacity: bytes)
            pointer.initialize(repeating: 0, count: bytes)
            return pointer
        }
        (line, above) = (allocate(lineBytes + bytesPerPixel), allocate(lineBytes + bytesPerPixel))
        filtered = (0..<5).map { number in
            let pointer = allocate(lineBytes + 1)
            pointer[0] = UInt8(number)
            return pointer
        }
    }

    deinit {
        for pointer in filtered + [line, above] { pointer.deallocate() }
    }

    /// Returns the next line, preceded by the number of its filter. It is valid until the next call.
    func next(_ bytes: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
        swap(&line, &above)
        if let base = bytes.baseAddress { (line + bytesPerPixel).update(from: base, count: count) }
        let (x, a) = (line + bytesPerPixel, line)
        let (b, c) = (above + bytesPerPixel, above)
        filtered[0].advanced(by: 1).update(from: x, count: count)
        let (sub, up, average, paeth) = (filtered[1] + 1, filtered[2] + 1, filtered[3] + 1, filtered[4] + 1)
        for i in 0..<count { sub[i] = x[i] &- a[i] }
        for i in 0..<count { up[i] = x[i] &- b[i] }
        for i in 0..<count { average[i] = x[i] &- UInt8(truncatingIfNeeded: (UInt16(a[i]) + UInt16(b[i])) >> 1) }
        for i in 0..<count { paeth[i] = x[i] &- Self.paeth(a[i], b[i], c[i]) }
        let sums = filtered.map { Self.sum($0 + 1, count) }
        let best = sums.indices.min { sums[$0] < sums[$1] } ?? 0
        return UnsafeBufferPointer(start: filtered[best], count: count + 1)
    }

    @inline(__always)
    private static func paeth(_ a: UInt8, _ b: UInt8, _ c: UInt8) -> UInt8 {
        let (left, up, both) = (Int16(a), Int16(b), Int16(c))
        let (toLeft, toUp) = (abs(up &- both), abs(left &- both))
        let toBoth = abs(left &+ up &- both &- both)
        return toLeft <= toUp && toLeft <= toBoth ? a : toUp <= toBoth ? b : c
    }

    private static func sum(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int) -> Int {
        var sum = 0
        for i in 0..<count { sum &+= Int(Int8(bitPattern: bytes[i]).magnitude) }
        return sum
    }
}
