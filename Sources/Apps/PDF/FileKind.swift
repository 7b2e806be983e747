public import Foundation

/// What an uploaded file is, told by its first bytes at offset 0: what it is called, or declared to be, decides
/// nothing.
public enum FileKind: String, Sendable, CaseIterable {
    case jpeg = "image/jpeg"
    case png = "image/png"
    case heic = "image/heic"
    case webp = "image/webp"
    case gif = "image/gif"
    case tiff = "image/tiff"
    case avif = "image/avif"
    case pdf = "application/pdf"

    /// Looks at the beginning of a file; 12 bytes and more are enough.
    public init?(of beginning: Data) {
        let bytes = [UInt8](beginning.prefix(64))
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else if bytes.starts(with: Array("GIF87a".utf8)) || bytes.starts(with: Array("GIF89a".utf8)) {
            self = .gif
        } else if bytes.starts(with: Array("RIFF".utf8)), bytes.dropFirst(8).starts(with: Array("WEBP".utf8)) {
            self = .webp
        } else if bytes.starts(with: [0x49, 0x49, 0x2A, 0x00]) || bytes.starts(with: [0x4D, 0x4D, 0x00, 0x2A]) {
            self = .tiff
        } else if bytes.starts(with: Array("%PDF-".utf8)) {
            self = .pdf
        } else if let kind = Self.ofBrands(bytes) {
            self = kind
        } else {
            return nil
        }
    }

    /// HEIF and AVIF are ISO base media files (ISO/IEC 14496-12 §4.3): a box `ftyp` with a major brand and compatible
    /// ones.
    private static func ofBrands(_ bytes: [UInt8]) -> FileKind? {
        guard bytes.count >= 12, bytes[4..<8].elementsEqual("ftyp".utf8) else { return nil }
        let size = bytes[0..<4].reduce(0) { $0 << 8 | Int($1) }
        let brands = stride(from: 8, to: min(size, bytes.count) - 3, by: 4).filter { $0 != 12 }.map {
            String(decoding: bytes[$0..<$0 + 4], as: UTF8.self)
        }
        if brands.contains(where: ["avif", "avis"].contains) { return .avif }
        if brands.contains(where: ["heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1"].contains) {
            return .heic
        }
        return nil
    }

    /// What is accepted, for a message.
    static let accepted = allCases.map(\.rawValue).joined(separator: ", ")
}
