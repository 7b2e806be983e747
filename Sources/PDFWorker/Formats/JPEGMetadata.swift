import Foundation

/// Removes metadata from a JPEG: of the segments (ITU-T T.81 annex B) those stay that decoders need, the colour profile
/// included, and nothing that belongs to no segment or follows the picture, such as previews with metadata of their
/// own. Its compressed data stay as they are.
enum JPEGMetadata {
    /// Returns a JPEG without metadata. From where its data have not the form of one they stay as they are, because
    /// decoders may show them.
    static func removed(from data: Data) -> Data {
        let parts = rest(of: data)
        var kept = Data(capacity: data.count + 2)
        for part in parts { kept.append(part) }
        return kept
    }

    /// Returns the same in parts, which are not copied.
    static func rest(of data: Data) -> [Data] {
        let (ranges, hasEnd) = data.withUnsafeBytes { keptRanges(in: $0) }
        let parts = ranges.map { data[(data.startIndex + $0.lowerBound)..<(data.startIndex + $0.upperBound)] }
        return hasEnd ? parts : parts + [Data([0xFF, 0xD9])]
    }

    /// Returns what stays, and whether it ends as a picture should.
    private static func keptRanges(in bytes: UnsafeRawBufferPointer) -> (ranges: [Range<Int>], hasEnd: Bool) {
        guard bytes.starts(with: [0xFF, 0xD8]) else { return ([0..<bytes.count], true) }
        var kept = [0..<2]
        func keep(_ range: Range<Int>) {
            if let last = kept.last, last.upperBound == range.lowerBound {
                kept[kept.count - 1] = last.lowerBound..<range.upperBound
            } else {
                kept.append(range)
            }
        }
        var offset = 2
        while let segment = segment(at: offset, in: bytes) {
            if segment.marker == 0xD9 { return (kept, false) }
            if isKept(segment.marker, bytes[segment.range]) { keep(segment.range) }
            offset = segment.range.upperBound
            guard segment.marker == 0xDA else { continue }
            let end = endOfScan(from: offset, in: bytes)
            keep(offset..<end)
            offset = end
        }
        keep(offset..<bytes.count)
        return (kept, bytes[offset...].suffix(2).elementsEqual([0xFF, 0xD9]))
    }

    /// Frames, tables, scans, restarts; JFIF, colour profile, Adobe's colour transform.
    private static func isKept(_ marker: UInt8, _ segment: Slice<UnsafeRawBufferPointer>) -> Bool {
        switch marker {
        case 0xC0...0xCF, 0xDA...0xDF: true
        case 0xE0: segment.dropFirst(4).starts(with: Array("JFIF\0".utf8))
        case 0xE2: segment.dropFirst(4).starts(with: Array("ICC_PROFILE\0".utf8))
        case 0xEE: segment.dropFirst(4).starts(with: Array("Adobe".utf8))
        default: false
        }
    }

    /// Returns the segment that begins at an offset, with its marker; nil if there is none.
    private static func segment(at start: Int, in bytes: UnsafeRawBufferPointer) -> (marker: UInt8, range: Range<Int>)?
    {
        var offset = start
        // Fill bytes (B.1.1.2), and bytes that belong to no segment.
        while offset + 1 < bytes.count, bytes[offset] != 0xFF || [0x00, 0xFF].contains(bytes[offset + 1]) {
            offset += 1
        }
        guard offset + 1 < bytes.count else { return nil }
        let marker = bytes[offset + 1]
        if marker == 0xD9 || marker == 0x01 || (0xD0...0xD7).contains(marker) {
            return (marker, offset..<(offset + 2))
        }
        guard offset + 3 < bytes.count else { return nil }
        let length = Int(bytes[offset + 2]) << 8 | Int(bytes[offset + 3])
        let end = offset + 2 + length
        return length >= 2 && end <= bytes.count ? (marker, offset..<end) : nil
    }

    /// Returns where the data of a scan end: at the next marker other than a restart (B.1.1.5).
    private static func endOfScan(from start: Int, in bytes: UnsafeRawBufferPointer) -> Int {
        var offset = start
        while offset + 1 < bytes.count, let base = bytes.baseAddress,
            let found = memchr(base + offset, 0xFF, bytes.count - 1 - offset)
        {
            offset = base.distance(to: UnsafeRawPointer(found))
            let next = bytes[offset + 1]
            if next != 0x00, next != 0xFF, !(0xD0...0xD7).contains(next) { return offset }
            offset += 1
        }
        return bytes.count
    }
}
