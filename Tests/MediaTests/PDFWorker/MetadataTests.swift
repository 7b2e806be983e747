import Foundation
import Testing

@testable import PDFWorker

@Suite struct JPEGMetadataTests {
    private func segment(_ marker: UInt8, _ content: String) -> [UInt8] {
        [0xFF, marker, UInt8((content.utf8.count + 2) >> 8), UInt8((content.utf8.count + 2) & 0xFF)]
            + Array(content.utf8)
    }

    @Test("TRUST-11 positions, cameras, comments and what follows the picture go; what decoders need stays")
    func segments() {
        let scan: [UInt8] = [0xFF, 0xDA, 0, 4, 1, 2, 0x12, 0xFF, 0x00, 0x34, 0xFF, 0xD0, 0x56]
        let second: [UInt8] = [0xFF, 0xC4, 0, 3, 9] + [0xFF, 0xDA, 0, 3, 7, 0x99]
        let kept =
            segment(0xE0, "JFIF\0rest") + segment(0xE2, "ICC_PROFILE\0profile") + segment(0xEE, "Adobe12345")
            + segment(0xDB, "table") + segment(0xC0, "frame") + scan + second
        var photo: [UInt8] = [0xFF, 0xD8] + segment(0xE0, "JFIF\0rest") + segment(0xE0, "JFXX\0thumbnail")
        photo += segment(0xE1, "Exif\0\0GPS") + segment(0xE1, "http://ns.adobe.com/xap/1.0/\0GPS")
        photo += segment(0xE2, "ICC_PROFILE\0profile") + segment(0xE2, "MPF\0more pictures")
        photo += segment(0xED, "Photoshop 3.0\0IPTC") + segment(0xFE, "comment") + [0xFF]
        photo += segment(0xEE, "Adobe12345") + segment(0xDB, "table") + segment(0xC0, "frame") + scan + second
        photo += [0xFF, 0xD9] + Array("another picture with GPS".utf8)
        #expect(Array(JPEGMetadata.removed(from: Data(photo))) == [0xFF, 0xD8] + kept + [0xFF, 0xD9])
    }

    @Test("what is cut loses nothing from there on; bytes between segments go; what is no JPEG stays as it is")
    func cut() {
        let photo: [UInt8] = [0xFF, 0xD8] + segment(0xDB, "table") + [0xFF, 0xDA, 0, 4, 1, 2, 0x12, 0x34]
        for length in 2...photo.count {
            let kept = Array(JPEGMetadata.removed(from: Data(photo.prefix(length))))
            #expect(kept.starts(with: [0xFF, 0xD8]) && kept.suffix(2) == [0xFF, 0xD9])
        }
        #expect(Array(JPEGMetadata.removed(from: Data(photo))) == photo + [0xFF, 0xD9])
        // Stray bytes between segments, which decoders pass over.
        let stray = [0xFF, 0xD8] + segment(0xFE, "comment") + [0, 0xFF, 0, 0] + segment(0xFE, "GPS")
        #expect(
            Array(JPEGMetadata.removed(from: Data(stray + photo.dropFirst(2) + [0xFF, 0xD9]))) == photo + [0xFF, 0xD9]
        )
        for other in [[], [0xFF], Array("GIF89a".utf8)] as [[UInt8]] {
            #expect(Array(JPEGMetadata.removed(from: Data(other))) == other)
        }
    }
}

@Suite struct ExifOrientationTests {
    private func exif(_ order: String, _ body: [UInt8]) -> [UInt8] { Array("Exif\0\0".utf8) + Array(order.utf8) + body }

    @Test("orientation in both byte orders") func orientation() {
        let big = exif("MM", [0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0])
        #expect(ExifOrientation.read(fromSegment: big) == .turnedRight)
        let little = exif(
            "II",
            [
                42, 0, 8, 0, 0, 0, 2, 0, 0x0F, 0x01, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0x12, 0x01, 3, 0, 1, 0, 0, 0, 8, 0,
                0, 0,
            ]
        )
        #expect(ExifOrientation.read(fromSegment: little) == .turnedLeft)
    }

    @Test(
        "what tells no orientation is upright",
        arguments: [
            [], [0, 42, 0xFF, 0xFF, 0xFF, 0xFF], [0, 42, 0, 0, 0, 8, 0xFF, 0xFF],
            [0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 9, 0, 0],
            [0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 4, 0, 0, 0, 1, 0, 0, 0, 6],
        ] as [[UInt8]]
    )
    func noOrientation(body: [UInt8]) {
        #expect(ExifOrientation.read(fromSegment: exif("MM", body)) == nil)
        #expect(ExifOrientation.read(fromSegment: Array("http://ns.adobe.com/xap".utf8) + body) == nil)
    }
}
