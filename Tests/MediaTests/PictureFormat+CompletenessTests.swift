import Testing

@testable import Media

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
