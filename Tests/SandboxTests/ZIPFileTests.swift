import Testing

@testable import Sandbox

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
