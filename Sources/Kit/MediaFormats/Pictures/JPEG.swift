/// The marker segments of a JPEG before its first scan (ITU-T T.81 annex B): their positions, not their contents.
package struct JPEGSegments<Source: ByteSource> {
    /// A segment: the second byte of its marker, and the range of its content without marker and length.
    package struct Segment: Equatable {
        package let marker: UInt8
        package let content: Range<Int>
    }

    /// The most segments that are read; a photo has some dozens.
    package static var maximumSegments: Int { 4096 }
    /// The most bytes between two segments that are skipped.
    private static var maximumStray: Int { 1 << 20 }

    let reader: HeaderReader<Source>

    package init(_ source: Source) {
        reader = HeaderReader(source: source)
    }

    /// Returns the segments up to the first scan, or to the end of the picture.
    package func all() throws -> [Segment] {
        guard try reader.number(at: 0, bytes: 2) == 0xFFD8 else {
            throw PictureHeaderError.malformed("no start-of-image marker")
        }
        var segments: [Segment] = []
        var offset = 2
        while segments.count < Self.maximumSegments {
            let segment = try segment(at: offset)
            if segment.marker == 0xD9 { return segments }
            segments.append(segment)
            if segment.marker == 0xDA { return segments }
            offset = segment.content.upperBound
        }
        throw PictureHeaderError.malformed("more than \(Self.maximumSegments) JPEG segments")
    }

    /// Returns the segment at an offset; its content is empty if the marker has no parameters.
    private func segment(at end: Int) throws -> Segment {
        let offset = try marker(from: end)
        let marker = UInt8(try reader.byte(at: offset + 1))
        // Any number of fill bytes may precede a marker (B.1.1.2); they are counted as segments are.
        if marker == 0xFF { return Segment(marker: marker, content: (offset + 1)..<(offset + 1)) }
        if marker == 0x01 || marker == 0xD9 || (0xD0...0xD7).contains(marker) {
            return Segment(marker: marker, content: (offset + 2)..<(offset + 2))
        }
        let length = try reader.number(at: offset + 2, bytes: 2)
        guard length >= 2 else { throw PictureHeaderError.malformed("a JPEG segment shorter than its own length") }
        return Segment(marker: marker, content: (offset + 4)..<(offset + 2 + length))
    }

    /// Returns the offset of the next marker. Decoders skip bytes between segments, and FF 00, which is no marker.
    private func marker(from start: Int) throws -> Int {
        let next = try reader.bytes(at: start, count: 2)
        if next[0] == 0xFF, next[1] != 0 { return start }
        for offset in stride(from: start, to: start + Self.maximumStray, by: 4095) {
            let bytes = try reader.source.bytes(offset..<(offset + 4096))
            if let place = bytes.indices.dropLast().first(where: { bytes[$0] == 0xFF && bytes[$0 + 1] != 0 }) {
                return offset + place
            }
            guard bytes.count == 4096 else { throw PictureHeaderError.truncated }
        }
        throw PictureHeaderError.malformed("no marker where a JPEG segment ends")
    }

    /// Returns the frame header, which must precede the first scan.
    package func frame(_ segments: [Segment]) throws -> JPEGFrame {
        guard let frame = segments.first(where: { Self.isFrame($0.marker) }) else {
            throw PictureHeaderError.malformed("no JPEG frame header")
        }
        let at = frame.content.lowerBound
        guard frame.content.count >= 6 else {
            throw PictureHeaderError.malformed("a JPEG frame header that is too short")
        }
        var result = JPEGFrame(
            process: Int(frame.marker) - 0xC0,
            precision: try reader.byte(at: at),
            width: try reader.number(at: at + 3, bytes: 2),
            height: try reader.number(at: at + 1, bytes: 2),
            components: try reader.byte(at: at + 5),
            hasTables: segments.contains { $0.marker == 0xC4 }
        )
        for segment in segments where segment.marker == 0xEE && segment.content.count >= 12 {
            let content = try reader.bytes(at: segment.content.lowerBound, count: 12)
            if content.starts(with: Array("Adobe".utf8)) { result.adobeTransform = Int(content[11]) }
        }
        return result
    }

    /// SOF0 to SOF15 without DHT (C4), JPG (C8) and DAC (CC).
    static func isFrame(_ marker: UInt8) -> Bool {
        (0xC0...0xCF).contains(marker) && ![0xC4, 0xC8, 0xCC].contains(marker)
    }
}

extension PictureHeader {
    static func jpeg(_ reader: HeaderReader<some ByteSource>) throws -> PictureHeader {
        let segments = JPEGSegments(reader.source)
        let found = try segments.all()
        let frame = try segments.frame(found)
        // With zero lines their number would follow in a DNL segment (B.2.5), which is not in use and too late for
        // limits.
        guard frame.width > 0, frame.height > 0 else { throw PictureHeaderError.malformed("a JPEG without a size") }
        var header = PictureHeader(.jpeg, width: frame.width, height: frame.height)
        header.jpeg = frame
        header.hasProfile = try found.contains {
            try $0.marker == 0xE2 && $0.content.count > 14
                && reader.text(at: $0.content.lowerBound, count: 11) == "ICC_PROFILE"
        }
        return header
    }
}

/// The coding of a JPEG: its frame header, and the colour transform of its APP14 segment (ITU-T T.81 B.2.2, T.872
/// 6.5.3).
package struct JPEGFrame: Sendable, Equatable {
    /// Number of the SOF marker's process: 0 baseline, 1 extended sequential, 2 progressive; others are arithmetic,
    /// lossless or hierarchical.
    package var process: Int
    /// Bits of a sample.
    package var precision: Int
    /// Pixels of a line.
    package var width: Int
    /// Lines.
    package var height: Int
    /// Colour components: 1 grey, 3 YCbCr or RGB, 4 CMYK or YCCK.
    package var components: Int
    /// The Adobe colour transform, if there is an APP14 segment of Adobe: its CMYK is inverted.
    package var adobeTransform: Int?
    /// Whether it has Huffman tables. The pictures of a film (Motion JPEG) can lack them, and libjpeg then uses those
    /// of the standard's annex K; other decoders refuse them.
    package var hasTables = true

    /// Whether every PDF reader decodes it (ISO 32000-1 7.4.8): Huffman-coded baseline, extended or
    /// progressive, 8 bits, 1, 3 or 4 components.
    package var isEmbeddable: Bool {
        (0...2).contains(process) && hasTables && precision == 8 && [1, 3, 4].contains(components)
    }
}
