import Testing

@testable import Screens

/// The matrices are those of the Python package qrcode 8.2 with the same mask, and zbarimg reads them.
struct QRCodeTests {
    private static let hello = """
        #######.##.#..#######
        #.....#..##.#.#.....#
        #.###.#..####.#.###.#
        #.###.#.#..#..#.###.#
        #.###.#.#...#.#.###.#
        #.....#.#.##..#.....#
        #######.#.#.#.#######
        ........#####........
        #...#.######.#####..#
        ...###..#.###..#.####
        #.##..#.#.##..###..#.
        ###..#...#...##.#....
        ..#.###..#..###...##.
        ........###.###..#.##
        #######.##..##...#.#.
        #.....#....##..#...#.
        #.###.#.#..#..###.#.#
        #.###.#....##....#.##
        #.###.#..###..####...
        #.....#..#...##......
        #######.#...#####.#.#
        """
    private static let seventh = """
        #######..#....#.##.#...#...#..#.##..#.#######
        #.....#.....#.#...##.#..#.#.#......#..#.....#
        #.###.#.###.#.#.###..#.######.#.##.#..#.###.#
        #.###.#.#....###.######.#.##..##...##.#.###.#
        #.###.#.##.#....##..#######..###..###.#.###.#
        #.....#.#....#....#.#...#..#...###....#.....#
        #######.#.#.#.#.#.#.#.#.#.#.#.#.#.#.#.#######
        ........#....#...##.#...#####.###.#..........
        #.#####..#....#.#.#.#####.##.#.#.#.#..#####..
        ##..##.###....#####.##..##...##....##...#.###
        ##.#..#..#.#...##.#...##..#......##..###.###.
        ##.#.#.....##.....###......#..#.#.#.#.#####..
        .##.#.###......##.#.####...#.##......##.....#
        .#..#..#.#.##.##...###...#.#####.#..#....##.#
        #####.#....##....##.#..####.##....##########.
        .####...##.#.#.##.##.#.##..###.###.#...####.#
        ##.##.###.#..##...#........#...#..#....#...#.
        #......#..#.....#...####.#.#####...###..###.#
        .#...##.###..##.#.#.#######.#..#.###.###.###.
        ##.###.###.#.#.###.#.#..#..##.#.#.##.###.##.#
        .##########.....#.#.######...###.##.######.##
        .#.##...#..##..##...#...#..#.##.#..##...###.#
        ..###.#.#...###..#..#.#.##.#.....####.#.#.##.
        ##..#...##.##......##...#..####.##..#...###..
        ..########....#..#.#######...##.....######...
        .#####....####..#.##..#..#...##.#...###.....#
        .####.#....#...#.#...#...##.##.##.#..#..####.
        .#.###.#.##....####..#.###.####..#.#..##.####
        ...####....#.#.####.#...#.....##.##...#.##.##
        #.####.##..##.##.##...#.##..###.#.....#..####
        ....#.######.###.#..#####.#.#..#....#..#.###.
        .#.#.#.#..##..#.#....#..##.##...###...##.##..
        ...####...##.####....#.####...##.....#.##....
        ...###...#..##.###.####.##...##.....###...#.#
        ....#.###.#..#####....#...#....#.##.##..#..#.
        .####.....###.#####..#########.##..###.#.##..
        #..##.####.#.#......#####.##...#.##.######...
        ........###...#..##.#...####.####..##...#####
        #######..#...##..####.#.#......######.#.#.##.
        #.....#.#####.....###...#..####.##.##...#####
        #.###.#.#.##.#......#####.#....#.#########.##
        #.###.#.##..#..####...#.##..#####....#..#.#.#
        #.###.#.#.##.###.###.#...##.#..####.#.#....#.
        #.....#.....####.#.#####.#.##..#.##..#.#..#..
        #######.#..#..##.##..#.###...###.#.#..#....#.
        """

    @Test(
        "a text has the modules that decoders read, with the patterns of its version",
        arguments: [
            ("HELLO", hello),
            (
                "https://larder.home.arpa:8080/pair#K7QM-2XVA and a text that needs version seven, which has version "
                    + "information", seventh
            ),
        ]
    )
    func modules(text: String, picture: String) throws {
        let code = try #require(QRCode(text))
        let rows = (0..<code.size).map { y in (0..<code.size).map { code[$0, y] ? "#" : "." }.joined() }
        #expect(rows.joined(separator: "\n") == picture)
    }

    @Test("SRV-17 an address with a code fits; what is too long has no code")
    func sizes() throws {
        let code = try #require(QRCode("https://larder.test:8080/pair#K7QM-2XVA"))
        #expect(code.size == 29 && code[0, 0] && !code[7, 7])
        #expect(QRCode(String(repeating: "x", count: 214)) == nil)
        #expect(QRCode(String(repeating: "x", count: 213))?.size == 57)
        #expect(QRCode(String(repeating: "é", count: 107)) == nil, "bytes count")
        #expect(QRCode("")?.size == 21)
    }

    @Test("all that is drawn can be read back: the codewords of each block are those of its data")
    func codewords() throws {
        for length in 0...213 {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ length) }
            let version = try #require(QRVersion.holding(bytes: length))
            let codewords = QRCodewords.codewords(of: bytes, version)
            var modules = QRModules(version)
            let empty = modules
            modules.draw(codewords)
            let total = version.capacity + version.blocks.count * version.correction
            #expect(codewords.count == total)
            // At most seven modules are left of a symbol.
            let drawn = (0..<modules.dark.count).count { modules.dark[$0] != empty.dark[$0] }
            #expect(drawn == codewords.reduce(0) { $0 + $1.nonzeroBitCount })
        }
    }

    @Test("a terminal shows two rows in a line, with a margin, dark on light whatever its colours are")
    func terminal() throws {
        let code = try #require(QRCode("HELLO"))
        let lines = code.terminalText.split(separator: "\n")
        #expect(lines.count == 15)
        #expect(lines.allSatisfy { $0.hasPrefix("\u{1B}[30;107m") && $0.hasSuffix("\u{1B}[0m") })
        let cells = lines.map { $0.dropFirst(9).dropLast(4) }
        #expect(cells.allSatisfy { $0.count == 29 } && cells[0].allSatisfy { $0 == " " })
        #expect(cells[2].hasPrefix("    █▀▀▀▀▀█"))
    }

    @Test("a picture has each dark module once")
    func picture() throws {
        let code = try #require(QRCode("HELLO"))
        #expect(code.svg.hasPrefix(#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 29 29""#))
        let runs = code.svg.matches(of: /h(\d+)v1h-/).compactMap { Int($0.1) }
        let dark = (0..<21 * 21).count { code[$0 % 21, $0 / 21] }
        #expect(runs.reduce(0, +) == dark && code.svg.contains("M4 4h7v1h-7z"))
    }
}

struct ReedSolomonTests {
    @Test("the codewords of a block are those of the example of ISO/IEC 18004 with the text HELLO WORLD")
    func example() {
        let data: [UInt8] = [32, 91, 11, 120, 209, 114, 220, 77, 67, 64, 236, 17, 236, 17, 236, 17]
        let correction: [UInt8] = [196, 35, 39, 119, 235, 215, 231, 226, 93, 23]
        #expect(ReedSolomon.correction(of: data, count: 10) == correction)
    }

    @Test("a block with its codewords is zero at each root of the generator")
    func roots() {
        for count in [10, 16, 18, 22, 24, 26] {
            let data = (0..<40).map { UInt8(truncatingIfNeeded: $0 * $0 + count) }
            let block = data + ReedSolomon.correction(of: data, count: count)
            var root: UInt8 = 1
            for _ in 0..<count {
                let value = block.reduce(UInt8(0)) { ReedSolomon.product($0, root) ^ $1 }
                #expect(value == 0)
                root = ReedSolomon.product(root, 2)
            }
        }
    }
}
