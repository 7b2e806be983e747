import Testing

@testable import Screens

@Suite struct PictureTypeTests {
    @Test("A picture is detected by its first bytes")
    func known() {
        #expect(PictureType(of: [0xFF, 0xD8, 0xFF, 0xE0, 0, 0]) == .jpeg)
        #expect(PictureType(of: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0]) == .png)
        #expect(PictureType(of: Array("GIF89a...".utf8)) == .gif)
        #expect(PictureType(of: Array("RIFF\u{1}\u{2}\u{3}\u{4}WEBPVP8 ".utf8)) == .webp)
    }

    @Test(
        "What is none is none",
        arguments: ["", "G", "<html>", "<svg xmlns=", "RIFF....WAVE", "%PDF-1.4", "BM", "\u{89}PNG"]
    )
    func unknown(text: String) {
        #expect(PictureType(of: Array(text.utf8)) == nil)
    }
}
