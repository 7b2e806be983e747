import Testing

@testable import PDFWorker

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
