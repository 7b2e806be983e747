import Testing

@testable import Sandbox

@Suite struct PNGTests {
    private struct Chunk {
        let type: String
        let data: [UInt8]
    }

    private func number(_ bytes: some Collection<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }

    private func chunks(of png: [UInt8]) throws -> [Chunk] {
        try #require(Array(png.prefix(8)) == [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        var chunks: [Chunk] = []
        var rest = png[8...]
        while !rest.isEmpty {
            let length = number(rest.prefix(4))
            let content = Array(rest.dropFirst(4).prefix(4 + length))
            let checksum = rest.dropFirst(8 + length).prefix(4)
            #expect(number(checksum) == Int(PNG.crc32(content)))
            chunks.append(
                Chunk(type: String(decoding: content.prefix(4), as: UTF8.self), data: Array(content.dropFirst(4)))
            )
            rest = rest.dropFirst(12 + length)
        }
        return chunks
    }

    private func inflateStored(_ stream: [UInt8]) throws -> [UInt8] {
        try #require((Int(stream[0]) << 8 | Int(stream[1])) % 31 == 0, "zlib header check")
        var data: [UInt8] = []
        var position = 2
        var isLast = false
        while !isLast {
            try #require(stream[position] <= 1, "a stored block")
            isLast = stream[position] == 1
            let length = Int(stream[position + 1]) | Int(stream[position + 2]) << 8
            #expect(Int(stream[position + 3]) | Int(stream[position + 4]) << 8 == ~length & 0xFFFF)
            data += stream[position + 5..<position + 5 + length]
            position += 5 + length
        }
        #expect(number(stream[position...]) == Int(PNG.adler32(data)))
        return data
    }

    @Test("the checksums have their published check values")
    func checksums() {
        #expect(PNG.crc32(Array("123456789".utf8)) == 0xCBF4_3926)
        #expect(PNG.crc32(Array("IEND".utf8)) == 0xAE42_6082)
        #expect(PNG.adler32(Array("Wikipedia".utf8)) == 0x11E6_0398)
    }

    @Test("a picture comes out as it went in, over several stored blocks", arguments: [(1, 1), (3, 2), (400, 300)])
    func roundTrip(width: Int, height: Int) throws {
        let palette = [PNG.Color(red: 1, green: 2, blue: 3), PNG.Color(red: 250, green: 128, blue: 0)]
        let pixels = (0..<width * height).map { UInt8($0 * 7 % 2) }
        let chunks = try chunks(of: PNG.encode(width: width, height: height, palette: palette, pixels: pixels))
        #expect(chunks.map(\.type) == ["IHDR", "PLTE", "IDAT", "IEND"])
        #expect(number(chunks[0].data[0..<4]) == width && number(chunks[0].data[4..<8]) == height)
        #expect(Array(chunks[0].data[8...]) == [8, 3, 0, 0, 0])
        #expect(chunks[1].data == [1, 2, 3, 250, 128, 0])
        let scanlines = try inflateStored(chunks[2].data)
        let rows = (0..<height).map { scanlines[$0 * (width + 1)..<($0 + 1) * (width + 1)] }
        #expect(rows.allSatisfy { $0.first == 0 })
        #expect(rows.flatMap { $0.dropFirst() } == pixels)
    }

    @Test("a ship's picture follows from its name and the seed")
    func determinism() throws {
        let picture = ShipPicture.png(name: "osprey.png", seed: 1)
        #expect(try chunks(of: picture).count == 4)
        #expect(picture == ShipPicture.png(name: "osprey.png", seed: 1))
        #expect(picture != ShipPicture.png(name: "osprey.png", seed: 2))
        #expect(picture != ShipPicture.png(name: "judith.png", seed: 1))
    }

    @Test("pictures are drawn without leaving the canvas, whatever the draw")
    func manySeeds() {
        for seed in 0..<100 as Range<UInt64> {
            #expect(ShipPicture.png(name: "a.png", seed: seed).count > ShipPicture.width * ShipPicture.height)
        }
    }
}
