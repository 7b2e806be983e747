import Foundation
import Testing

@testable import PDFWorker

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
