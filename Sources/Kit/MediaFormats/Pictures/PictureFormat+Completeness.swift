extension PictureFormat {
    /// Whether bytes are a whole picture: with a header, without an early end, and in a PNG with the right checksums.
    /// Nothing is decoded, so pixels that are coded wrongly are not noticed.
    package static func isComplete(_ bytes: [UInt8]) -> Bool {
        guard let format = PictureFormat(signature: bytes), (try? PictureHeader(of: bytes)) != nil else { return false }
        return switch format {
        case .png: isCompletePNG(bytes)
        case .jpeg: isCompleteJPEG(bytes)
        case .gif: isCompleteGIF(bytes)
        case .webp: isCompleteWebP(bytes)
        case .tiff, .heic, .avif: true
        }
    }

    /// PNG (third edition) section 5.3: chunks with a checksum, the last of which is IEND.
    private static func isCompletePNG(_ bytes: [UInt8]) -> Bool {
        var offset = 8
        var hasPixels = false
        while offset + 12 <= bytes.count {
            let length = number(bytes, at: offset)
            guard length <= bytes.count - offset - 12 else { return false }
            let type = bytes[(offset + 4)..<(offset + 8)]
            let end = offset + 8 + length
            guard CRC32.checksum(of: bytes[(offset + 4)..<end]) == UInt32(number(bytes, at: end)) else { return false }
            if type.elementsEqual("IDAT".utf8) { hasPixels = true }
            if type.elementsEqual("IEND".utf8) { return hasPixels }
            offset = end + 4
        }
        return false
    }

    /// ITU-T T.81 annex B: an end-of-image marker follows the first scan. In scans, each byte FF is stuffed.
    private static func isCompleteJPEG(_ bytes: [UInt8]) -> Bool {
        guard let scan = try? JPEGSegments(bytes).all().last, scan.marker == 0xDA else { return false }
        var offset = scan.content.upperBound
        while offset + 1 < bytes.count {
            if bytes[offset] == 0xFF, bytes[offset + 1] == 0xD9 { return true }
            offset += 1
        }
        return false
    }

    /// GIF89a section 17: blocks up to the trailer, with at least one image.
    private static func isCompleteGIF(_ bytes: [UInt8]) -> Bool {
        var offset = 13
        guard bytes.count > offset else { return false }
        offset += colorTableLength(bytes[10])
        var hasImage = false
        while offset < bytes.count {
            switch bytes[offset] {
            case 0x3B:
                return hasImage
            case 0x21:
                offset += 2
            case 0x2C:
                guard offset + 10 < bytes.count else { return false }
                offset += 11 + colorTableLength(bytes[offset + 9])
                hasImage = true
            default:
                return false
            }
            // Sub-blocks, the last of which is empty.
            while offset < bytes.count, bytes[offset] > 0 { offset += 1 + Int(bytes[offset]) }
            offset += 1
        }
        return false
    }

    private static func colorTableLength(_ flags: UInt8) -> Int { flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1) }

    /// RFC 9649 section 2.3: the length of the RIFF container.
    private static func isCompleteWebP(_ bytes: [UInt8]) -> Bool {
        let length = (4..<8).reduce(0) { $0 | Int(bytes[$1]) << (8 * ($1 - 4)) }
        return length > 12 && length + 8 <= bytes.count
    }

    private static func number(_ bytes: [UInt8], at offset: Int) -> Int {
        bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) }
    }
}

/// The checksum of PNG chunks (ISO 3309, PNG annex D).
enum CRC32 {
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
    }

    static func checksum(of bytes: ArraySlice<UInt8>) -> UInt32 {
        let table = self.table
        return ~bytes.reduce(0xFFFF_FFFF) { table[Int(($0 ^ UInt32($1)) & 0xFF)] ^ ($0 >> 8) }
    }
}
