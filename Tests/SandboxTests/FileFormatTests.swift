import NIOCore
import Testing

@testable import Sandbox

@Suite struct FileFormatTests {
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

    @Test(
        "a body is the same in memory and in a file",
        arguments: [0, 1, ReceivedBody.inMemory, ReceivedBody.inMemory + 1, 3_000_000]
    )
    func received(size: Int) async throws {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 / 7) }
        let (stream, continuation) = AsyncThrowingStream<ByteBuffer, any Error>.makeStream()
        for start in stride(from: 0, to: size, by: 100_000) {
            continuation.yield(ByteBuffer(bytes: bytes[start..<min(size, start + 100_000)]))
        }
        continuation.finish()
        let body = try await ReceivedBody.receive(stream)
        #expect(body.count == size && body.sha256 == ReceivedBody(bytes).sha256 && body.md5 == ReceivedBody(bytes).md5)
        #expect(try body.source.bytes(in: 0..<size) == bytes)
        if size > 10 { #expect(try body.source.bytes(in: size - 3..<size) == bytes.suffix(3)) }
    }
}
