/// An accepted picture format, detected by the first bytes of a file; its name and declared type are ignored. This is
/// the only table of their signatures.
package enum PictureFormat: String, Sendable, CaseIterable, Codable {
    case jpeg, png, heic, webp, gif, tiff, avif

    package var mediaType: String { "image/\(rawValue)" }

    /// Bytes that ``init(signature:)`` reads.
    package static let signatureLength = 64

    /// Reads the format from the first bytes of a file. The signature must be at offset 0, so that a file that is valid
    /// in two formats has the one that it begins with.
    ///
    /// - Returns: nil for every other format, BMP and SVG included.
    package init?(signature bytes: some Sequence<UInt8>) {
        let head = Array(bytes.prefix(Self.signatureLength))
        func has(_ signature: [UInt8], at offset: Int = 0) -> Bool { head.dropFirst(offset).starts(with: signature) }
        switch true {
        case has([0xFF, 0xD8, 0xFF]): self = .jpeg
        case has([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]): self = .png
        case has(Array("GIF87a".utf8)), has(Array("GIF89a".utf8)): self = .gif
        case has(Array("RIFF".utf8)) && has(Array("WEBP".utf8), at: 8): self = .webp
        case has([0x49, 0x49, 0x2A, 0x00]), has([0x4D, 0x4D, 0x00, 0x2A]): self = .tiff
        // BigTIFF: offsets of 8 bytes.
        case has([0x49, 0x49, 0x2B, 0x00, 0x08, 0x00, 0x00, 0x00]),
            has([0x4D, 0x4D, 0x00, 0x2B, 0x00, 0x08, 0x00, 0x00]):
            self = .tiff
        case has(Array("ftyp".utf8), at: 4):
            guard let format = Self.highEfficiency(head) else { return nil }
            self = format
        default: return nil
        }
    }

    /// HEIC or AVIF by the brands of the `ftyp` box (ISO/IEC 23008-12 annex B, AV1 Image File Format 1.1 section 6).
    private static func highEfficiency(_ head: [UInt8]) -> PictureFormat? {
        let length = head.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        guard head.count >= 12, length >= 12 else { return nil }
        let end = min(length, head.count)
        var brands = [Array(head[8..<12])]
        // The major brand is followed by four bytes of version, then by the compatible brands.
        for offset in stride(from: 16, through: end - 4, by: 4) { brands.append(Array(head[offset..<(offset + 4)])) }
        for brand in brands.map({ String(decoding: $0, as: UTF8.self) }) {
            if ["avif", "avis"].contains(brand) { return .avif }
            if ["heic", "heix", "heim", "heis", "hevc", "hevx"].contains(brand) { return .heic }
        }
        return nil
    }
}

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

/// Names of formats that are not accepted, for the details of problems.
enum ForeignFormat {
    static func name(of head: [UInt8]) -> String {
        if head.isEmpty { return "an empty file" }
        let signatures: [(bytes: [UInt8], name: String)] = [
            (Array("BM".utf8), "BMP"),
            (PDFSignature.bytes, "PDF"),
            (Array("%!PS".utf8), "PostScript"),
            (Array("PK\u{3}\u{4}".utf8), "ZIP or an office document"),
            ([0xFF, 0x0A], "JPEG XL"),
            ([0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20], "JPEG XL"),
            ([0, 0, 0, 0x0C, 0x6A, 0x50, 0x20, 0x20], "JPEG 2000"),
            ([0, 0, 1, 0], "ICO"),
            (Array("8BPS".utf8), "Photoshop"),
        ]
        if let found = signatures.first(where: { head.starts(with: $0.bytes) }) { return found.name }
        if head.dropFirst(4).starts(with: Array("ftyp".utf8)) { return "a video or another file of the MP4 family" }
        let text = String(decoding: head, as: UTF8.self).lowercased()
        if text.contains("<svg") { return "SVG" }
        if text.contains("<html") || text.contains("<!doctype html") { return "HTML" }
        return "an unknown format"
    }
}
