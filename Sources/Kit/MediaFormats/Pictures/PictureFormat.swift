/// An accepted picture format, detected by the first bytes of a file; its name and declared type are ignored. This is
/// the only table of their signatures.
package enum PictureFormat: String, Sendable, CaseIterable, Codable {
    case jpeg, png, heic, webp, gif, tiff, avif

    /// Its media type (IANA).
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
