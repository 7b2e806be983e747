import Foundation
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
        // The remaining bytes are too few for another chunk with content.
        for length in 47..<whole.count {
            let chunks = try PNGChunks(HeaderReader(source: Array(whole[..<length]))).all()
            #expect(chunks.count == (length < 59 ? 2 : 3))
        }
    }
}

@Suite struct ICCProfileTests {
    private func profile(_ space: String, size: Int = 200) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: size)
        bytes.replaceSubrange(0..<4, with: [0, 0, UInt8(size >> 8), UInt8(size & 0xFF)])
        bytes.replaceSubrange(16..<20, with: Array(space.utf8))
        bytes.replaceSubrange(36..<40, with: Array("acsp".utf8))
        return bytes
    }

    @Test("a profile must fit the picture") func profiles() {
        #expect(ICCProfile(Data(profile("RGB ")), components: 3) != nil)
        #expect(ICCProfile(Data(profile("RGB ")), components: 1) == nil)
        #expect(ICCProfile(Data(profile("GRAY")), components: 1) != nil)
        #expect(ICCProfile(Data(profile("CMYK")), components: 4) != nil)
        #expect(ICCProfile(Data(profile("RGB ")) + [0], components: 3) == nil)
        #expect(ICCProfile(Data(profile("RGB ").prefix(100)), components: 3) == nil)
    }

    @Test("PDF-23 a profile whose table names data outside of it makes no PDF/A") func table() throws {
        let whole = try #require(ICCProfile.sRGB)
        #expect(whole.isOfDevice)
        // The number of tags, the place of the first one's data, and their length.
        for place in [128, 136, 140] {
            var bytes = whole.bytes
            bytes[bytes.startIndex + place] = 0x7F
            let damaged = try #require(ICCProfile(bytes, components: 3))
            #expect(!damaged.isOfDevice, "\(place)")
        }
    }

    @Test("a profile of a gamma has as many curves as the picture has colours; there is none of CMYK") func gamma() {
        for (components, tags) in [(1, ["kTRC"]), (3, ["rTRC", "gTRC", "bTRC", "rXYZ", "gXYZ", "bXYZ"])] {
            let bytes = Array(ICCProfile(gamma: 1.5, components: components)?.bytes ?? Data())
            #expect(
                bytes.count % 4 == 0 && (tags + ["desc", "cprt", "wtpt"]).allSatisfy { bytes.contains(Array($0.utf8)) }
            )
            #expect(bytes.contains(Array("curv".utf8) + [0, 0, 0, 0, 0, 0, 0, 1, 1, 0x80]))
        }
        #expect(ICCProfile(gamma: 1.5, components: 4) == nil)
    }

    @Test("a profile in parts is joined in the order of their numbers, or not at all") func joined() {
        func part(_ number: UInt8, of count: UInt8, _ bytes: [UInt8]) -> [UInt8] {
            Array("ICC_PROFILE\0".utf8) + [number, count] + bytes
        }
        #expect(ICCProfile.joined([part(2, of: 2, [3, 4]), part(1, of: 2, [1, 2])]) == Data([1, 2, 3, 4]))
        #expect(ICCProfile.joined([part(1, of: 2, [1, 2])]) == nil)
        #expect(ICCProfile.joined([part(1, of: 2, [1]), part(1, of: 2, [1])]) == nil)
        #expect(ICCProfile.joined([Array("MPF\0".utf8)]) == nil)
    }
}

@Suite struct InflationTests {
    @Test("decompression ends at its limit") func inflation() {
        // zlib's own stored blocks: 78 01, final block, length, complement, bytes, Adler-32.
        let stored: [UInt8] = [0x78, 0x01, 0x01, 0x03, 0x00, 0xFC, 0xFF, 0x61, 0x62, 0x63, 0x02, 0x4D, 0x01, 0x27]
        #expect(Inflation.inflate(Data(stored), atMost: 100) == Data("abc".utf8))
        #expect(Inflation.inflate(Data(stored), atMost: 2) == nil)
        #expect(Inflation.inflate(Data(stored.dropLast(5)), atMost: 100) == nil)
        #expect(Inflation.inflate(Data("no zlib".utf8), atMost: 100) == nil)
        #expect(Inflation.inflate(Data(), atMost: 100) == nil)
    }
}
