import Testing

@testable import Media

@Suite struct PictureFormatTests {
    private static func text(_ text: String) -> [UInt8] { Array(text.utf8) }

    /// A box of ISO base media files that tells its length in one byte.
    private static func box(_ length: UInt8, _ content: String) -> [UInt8] {
        var bytes: [UInt8] = [0, 0, 0, length]
        bytes += text(content)
        return bytes
    }

    private static let accepted: [([UInt8], PictureFormat)] = [
        ([0xFF, 0xD8, 0xFF, 0xE0], .jpeg),
        ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], .png),
        (text("GIF87a"), .gif),
        (text("GIF89a"), .gif),
        (text("RIFF\u{1}\u{2}\u{3}\u{4}WEBPVP8 "), .webp),
        ([0x49, 0x49, 0x2A, 0x00], .tiff),
        ([0x4D, 0x4D, 0x00, 0x2A], .tiff),
        (box(24, "ftypheic\0\0\0\0mif1heic"), .heic),
        (box(24, "ftypmif1\0\0\0\0mif1heic"), .heic),
        (box(28, "ftypmif1\0\0\0\0mif1avifmiaf"), .avif),
        (box(20, "ftypavif\0\0\0\0avif"), .avif),
    ]

    private static let foreign: [([UInt8], String)] = [
        (text("BM\u{1}\u{2}"), "BMP"),
        (text("<?xml version=\"1.0\"?><svg xmlns=\"http://www.w3.org/2000/svg\"/>"), "SVG"),
        (text("%PDF-1.7"), "PDF"),
        (text("PK\u{3}\u{4}"), "ZIP or an office document"),
        (box(24, "ftypisom\0\0\0\0mp41"), "a video or another file of the MP4 family"),
        (text("<!DOCTYPE html>"), "HTML"),
        (text("hello"), "an unknown format"),
        ([], "an empty file"),
    ]

    @Test("the first bytes tell the format", arguments: accepted)
    func isAccepted(bytes: [UInt8], format: PictureFormat) {
        #expect(PictureFormat(signature: bytes) == format)
    }

    @Test("what is not accepted is named", arguments: foreign)
    func isForeign(bytes: [UInt8], name: String) {
        #expect(PictureFormat(signature: bytes) == nil)
        #expect(throws: PictureHeaderError.unsupported(name)) { try PictureHeader(of: bytes) }
    }

    /// A little-endian TIFF of one directory, whose entries have a tag, a type, a count and a value.
    private static func tiff(_ entries: [[Int]], head: String = "II*\0\u{8}\0\0\0") -> [UInt8] {
        func little(_ value: Int, _ bytes: Int) -> [UInt8] { (0..<bytes).map { UInt8(value >> (8 * $0) & 0xFF) } }
        return text(head) + little(entries.count, 2)
            + entries.flatMap { little($0[0], 2) + little($0[1], 2) + little($0[2], 4) + little($0[3], 4) }
            + little(0, 4)
    }

    @Test("PDF-21 camera RAW is named, not taken for the thumbnail that it begins with") func cameraRaw() throws {
        let reduced = [[254, 4, 1, 1], [256, 4, 1, 160], [257, 4, 1, 120]]
        let canon = Self.tiff(Array(reduced.dropFirst()), head: "II*\0\u{10}\0\0\0CR\u{2}\0\0\0\0\0")
        for file in [
            Self.tiff(reduced + [[330, 4, 1, 8]]),
            Self.tiff([[254, 4, 1, 0]] + reduced.dropFirst() + [[50706, 1, 4, 1025]]),
            canon,
        ] {
            #expect(throws: PictureHeaderError.unsupported("a camera RAW file")) { try PictureHeader(of: file) }
        }
        #expect(try PictureHeader(of: Self.tiff(reduced)).width == 160)
        #expect(try PictureHeader(of: Self.tiff(Array(reduced.dropFirst()) + [[330, 4, 1, 8]])).width == 160)
    }

    @Test("PDF-21 densities of a TIFF say the shape of its pixels; senseless ones say nothing") func densities() throws
    {
        func aspect(_ across: Int, _ down: Int, orientation: Int = 1, at place: Int = 74) throws -> Double {
            let size = [[256, 4, 1, 1728], [257, 4, 1, 1145], [274, 3, 1, orientation]]
            let file = Self.tiff(size + [[282, 5, 1, place], [283, 5, 1, place + 8]])
            let numbers = [across, 1, down, 1].flatMap { number in (0..<4).map { UInt8(number >> (8 * $0) & 0xFF) } }
            return try PictureHeader(of: file + numbers).pixelAspect
        }
        #expect(try aspect(204, 98) == 204.0 / 98)
        #expect(try aspect(204, 98, orientation: 6) == 98.0 / 204)
        #expect(try aspect(300, 300) == 1)
        for senseless in [try aspect(0, 98), try aspect(1, 98), try aspect(204, 98, at: 1_000_000)] {
            #expect(senseless == 1)
        }
    }

    @Test("a signature behind other bytes does not count: a file is what it begins with") func polyglot() {
        let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0]
        #expect(PictureFormat(signature: [0x0A] + jpeg) == nil)
        #expect(PictureFormat(signature: Array("%PDF-1.7\n".utf8) + jpeg) == nil)
    }

    @Test("brands outside their box do not count") func brandsOutside() {
        #expect(PictureFormat(signature: Self.box(16, "ftypisom\0\0\0\0heic")) == nil)
    }
}

@Suite("Whether a picture is whole")
struct PictureFormatCompletenessTests {
    /// A GIF of one pixel.
    private static let gif: [UInt8] =
        Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255] + [0x21, 0xF9, 4, 0, 0, 0, 0, 0]
        + [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0, 0x3B]
    /// The structure of a JPEG of one pixel, with a thumbnail's end before the scan.
    private static let jpeg: [UInt8] =
        [0xFF, 0xD8, 0xFF, 0xE1, 0, 6, 0xFF, 0xD8, 0xFF, 0xD9]
        + [0xFF, 0xC0, 0, 0x0B, 8, 0, 1, 0, 1, 1, 1, 0x11, 0, 0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 0x3F, 0, 0, 0xFF, 0xD9]
    /// A grey pixel.
    private static let png: [UInt8] = [
        0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00,
        0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x00, 0x00, 0x00, 0x3A, 0x7E, 0x9B, 0x55, 0x00, 0x00, 0x00,
        0x0A, 0x49, 0x44, 0x41, 0x54, 0x78, 0xDA, 0x63, 0x68, 0x00, 0x00, 0x00, 0x82, 0x00, 0x81, 0xDA, 0x45, 0x08,
        0x3B, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82,
    ]

    @Test(
        "SHOP-11 a whole picture is whole, with bytes behind its end, too, and none of its beginnings is",
        arguments: [png, jpeg, gif]
    )
    func beginnings(bytes: [UInt8]) {
        #expect(PictureFormat.isComplete(bytes) && PictureFormat.isComplete(bytes + [1, 2, 3]))
        for length in bytes.indices { #expect(!PictureFormat.isComplete(Array(bytes.prefix(length))), "\(length)") }
    }

    @Test("SHOP-11 every changed byte of a PNG is noticed")
    func checksums() {
        for index in Self.png.indices {
            var changed = Self.png
            changed[index] ^= 0x10
            #expect(!PictureFormat.isComplete(changed), "\(index)")
        }
    }

    @Test("what is no picture is no whole one", arguments: ["", "<html>", "GIF89a", "RIFF\u{4}\u{0}\u{0}\u{0}WEBP"])
    func none(text: String) {
        #expect(!PictureFormat.isComplete(Array(text.utf8)))
    }
}
