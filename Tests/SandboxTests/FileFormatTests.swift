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

@Suite struct JPEGTests {
    @Test("a JPEG reads back as the blocks that it was made of", arguments: [(8, 8), (17, 9), (64, 40)])
    func jpeg(width: Int, height: Int) throws {
        let colors = { (column: Int, row: Int) in
            PNG.Color(
                red: UInt8(column * 37 % 256),
                green: UInt8((row * 91 + column) % 256),
                blue: column % 2 == 0 ? 255 : 0
            )
        }
        let picture = try DecodedJPEG(JPEG.encode(width: width, height: height, comment: "x", color: colors))
        #expect(picture.width == width && picture.height == height)
        let columns = (width + 7) / 8
        for (index, block) in picture.blocks.enumerated() {
            let color = colors(index % columns, index / columns)
            let luma = 0.299 * Double(color.red) + 0.587 * Double(color.green) + 0.114 * Double(color.blue)
            #expect(abs(Double(block[0]) - luma) < 1.5)
            #expect(abs(Double(block[1]) - (128 + 0.564 * (Double(color.blue) - luma))) < 2.5)
            #expect(abs(Double(block[2]) - (128 + 0.713 * (Double(color.red) - luma))) < 2.5)
        }
    }
}

@Suite struct PDFFileTests {
    @Test("a PDF's table leads to every object, and it has the pages that it says")
    func pdf() throws {
        let bytes = PDFFile.encode(pages: [["one (1)", "back\\slash"], ["two"]])
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.hasPrefix("%PDF-1.4\n") && text.hasSuffix("%%EOF\n") && text.contains("/Count 2"))
        let table = try #require(text.firstMatch(of: /startxref\n(\d+)\n/).flatMap { Int($0.1) })
        #expect(String(decoding: bytes[table..<table + 4], as: UTF8.self) == "xref")
        let places = text.matches(of: /(\d{10}) 00000 n \n/).compactMap { Int($0.1) }
        #expect(places.count == 7)
        for (index, place) in places.enumerated() {
            #expect(String(decoding: bytes[place..<place + 7], as: UTF8.self) == "\(index + 1) 0 obj")
        }
        for match in text.matches(of: /\/Length (\d+) >>\nstream\n(.*)\nendstream/) {
            #expect(Int(match.1) == match.2.utf8.count)
        }
        #expect(text.contains(#"(one \(1\)) Tj"#) && text.contains(#"(back\\slash) Tj"#))
    }
}

@Suite struct OfficeFileTests {
    @Test("office documents have the parts that they name, with text that is escaped")
    func office() {
        let docx = String(decoding: OfficeFile.docx(paragraphs: ["Привет & <пока>"]), as: UTF8.self)
        #expect(
            docx.contains("[Content_Types].xml") && docx.contains("word/document.xml")
                && docx.contains("Привет &amp; &lt;пока&gt;")
        )
        let xlsx = String(decoding: OfficeFile.xlsx(sheet: "Лист", rows: [["а", "1.5"]]), as: UTF8.self)
        #expect(
            xlsx.contains("xl/worksheets/sheet1.xml") && xlsx.contains("<c><v>1.5</v></c>")
                && xlsx.contains("<is><t>а</t></is>")
        )
    }
}

@Suite struct ZIPFileTests {
    @Test("a zip's directory leads to every file, whose checksum is right")
    func zip() throws {
        let entries = [
            ZIPFile.Entry(name: "Прочти.txt", content: Array("да".utf8)), .init(name: "a/b", content: []),
            .init(name: "c", content: [1, 2, 3]),
        ]
        let bytes = ZIPFile.encode(entries)
        let number = { (place: Int, count: Int) in (0..<count).reduce(0) { $0 | Int(bytes[place + $1]) << (8 * $1) } }
        let end = bytes.count - 22
        #expect(number(end, 4) == 0x0605_4B50 && number(end + 10, 2) == 3)
        var record = number(end + 16, 4)
        #expect(record + number(end + 12, 4) == end)
        for entry in entries {
            #expect(number(record, 4) == 0x0201_4B50)
            let (size, name, place) = (number(record + 24, 4), number(record + 28, 2), number(record + 42, 4))
            #expect(
                number(place, 4) == 0x0403_4B50 && number(place + 8, 2) == 0 && number(place + 26, 2) == name
                    && number(place + 22, 4) == size
            )
            let start = place + 30 + name
            #expect(
                Array(bytes[start..<start + size]) == entry.content
                    && number(place + 14, 4) == Int(PNG.crc32(entry.content))
            )
            #expect(String(decoding: bytes[record + 46..<record + 46 + name], as: UTF8.self) == entry.name)
            record += 46 + name
        }
        #expect(record == end)
    }
}
