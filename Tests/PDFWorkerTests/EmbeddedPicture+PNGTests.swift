import MediaFormats
import Testing

@testable import PDFWorker

@Suite struct EmbeddedPicturePNGTests {
    @Test("PDF-21 chunks of a PNG, ends that come too early, and ends behind the pixels") func chunks() throws {
        func chunk(_ type: String, _ count: UInt8) -> [UInt8] {
            var bytes: [UInt8] = [0, 0, 0, count]
            bytes += Array(type.utf8)
            bytes += [UInt8](repeating: 7, count: Int(count) + 4)
            return bytes
        }
        var whole = [UInt8](repeating: 0, count: 8)
        for (type, count) in [("IHDR", 13), ("IDAT", 2), ("IDAT", 0), ("IEND", 0)] as [(String, UInt8)] {
            whole += chunk(type, count)
        }
        let chunks = try PNGChunks(HeaderReader(source: whole)).all()
        #expect(chunks.map(\.type) == ["IHDR", "IDAT", "IDAT"])
        #expect(chunks.map(\.content) == [16..<29, 41..<43, 55..<55])
        for length in 8..<47 {
            #expect(throws: PictureHeaderError.truncated) {
                try PNGChunks(HeaderReader(source: Array(whole[..<length]))).all()
            }
        }
        // What is left is too short for a chunk with content.
        for length in 47..<whole.count {
            let chunks = try PNGChunks(HeaderReader(source: Array(whole[..<length]))).all()
            #expect(chunks.count == (length < 59 ? 2 : 3))
        }
    }
}
