import Foundation

/// Removes metadata from a JPEG: of the segments (ITU-T T.81 annex B) those stay that decoders need, the colour profile
/// included, and nothing that follows the picture, such as previews with metadata of their own. Its compressed data
/// stay as they are.
enum JPEGMetadata {
    /// Returns a JPEG without metadata. From where its data have not the form of one they stay as they are, because
    /// decoders may show them.
    static func removed(from data: Data) -> Data {
        data.withUnsafeBytes { bytes in
            guard bytes.starts(with: [0xFF, 0xD8]) else { return data }
            var kept = Data([0xFF, 0xD8])
            kept.reserveCapacity(bytes.count)
            var offset = 2
            while true {
                guard let segment = segment(at: offset, in: bytes) else { return kept + ending(of: bytes[offset...]) }
                if segment.marker == 0xD9 { break }
                if isKept(segment.marker, bytes[segment.range]) { kept.append(contentsOf: bytes[segment.range]) }
                offset = segment.range.upperBound
                guard segment.marker == 0xDA else { continue }
                let end = endOfScan(from: offset, in: bytes)
                kept.append(contentsOf: bytes[offset..<end])
                offset = end
            }
            return kept + [0xFF, 0xD9]
        }
    }

    /// Returns bytes with the marker for the end of the picture behind them.
    private static func ending(of bytes: Slice<UnsafeRawBufferPointer>) -> Data {
        let end: [UInt8] = [0xFF, 0xD9]
        return bytes.suffix(2).elementsEqual(end) ? Data(bytes) : Data(bytes) + end
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
        // Fill bytes (B.1.1.2).
        while offset + 1 < bytes.count, bytes[offset] == 0xFF, bytes[offset + 1] == 0xFF { offset += 1 }
        guard offset + 1 < bytes.count, bytes[offset] == 0xFF else { return nil }
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
