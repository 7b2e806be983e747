import Foundation
import MediaFormats
import Testing

@testable import PDFWorker

@Suite struct PicturePlacementTests {
    @Test("fit: a pixel is a point, and no side is longer than that of A4") func fit() {
        let small = PicturePlacement(width: 300, height: 200, layout: .fit)
        #expect(
            (small.pageWidth, small.pageHeight, small.x, small.y, small.width, small.height) == (
                300, 200, 0, 0, 300, 200
            )
        )
        let large = PicturePlacement(width: 4000, height: 3000, layout: .fit)
        #expect(large.pageWidth == 841.89)
        #expect(abs(large.pageHeight - 631.4175) < 0.001)
        #expect((large.x, large.y) == (0, 0))
    }

    @Test("PDF-21 pixels that are not square keep the shape of the picture") func fax() {
        let fax = PicturePlacement(width: 1728, height: 1145, pixelAspect: 204.0 / 98, layout: .fit)
        #expect(fax.pageHeight == 841.89)
        #expect(abs(fax.pageWidth - 610.4) < 0.1)
        let wide = PicturePlacement(width: 100, height: 100, pixelAspect: 0.5, layout: .fit)
        #expect((wide.pageWidth, wide.pageHeight) == (200, 100))
    }

    @Test("fit: a page is never thinner than PDF allows") func thin() {
        let line = PicturePlacement(width: 10_000, height: 1, layout: .fit)
        #expect(line.pageHeight == 3)
        #expect(line.height < 0.1)
        #expect(abs(line.y + line.height / 2 - 1.5) < 1e-9)
    }

    @Test("A4: upright or across as the picture is, as large as fits, in the middle") func a4() {
        let across = PicturePlacement(width: 4000, height: 1000, layout: .a4)
        #expect((across.pageWidth, across.pageHeight) == (841.89, 595.276))
        #expect(across.width == 841.89 && across.x == 0)
        #expect(abs(across.y - (595.276 - across.height) / 2) < 1e-9)
        let upright = PicturePlacement(width: 10, height: 40, layout: .a4)
        #expect((upright.pageWidth, upright.pageHeight) == (595.276, 841.89))
        #expect(abs(upright.height - 841.89) < 1e-9)
        let square = PicturePlacement(width: 10, height: 10, layout: .a4)
        #expect(square.pageWidth == 595.276)
    }

    @Test("numbers are written without exponent") func notation() {
        #expect(
            [0, 1, -1, 0.5, -0.25, 841.89, 1e-7, 1.0000004, 0.000_001, 12_345_678].map(PicturePlacement.notation) == [
                "0", "1", "-1", "0.5", "-0.25", "841.89", "0", "1", "0.000001", "12345678",
            ]
        )
    }

    @Test(
        "the eight orientations put the stored upper left corner where EXIF says",
        arguments: ExifOrientation.allCases
    )
    func corners(orientation: ExifOrientation) {
        // Stored: first line above, first column left. Told by EXIF: (first line, first column) are these sides of the
        // shown picture.
        let sides = [
            "top left", "top right", "bottom right", "bottom left", "left top", "right top", "right bottom",
            "left bottom",
        ]
        let told = sides[orientation.rawValue - 1].split(separator: " ").map(String.init)
        let m = orientation.matrix
        func shown(_ x: Double, _ y: Double) -> (x: Double, y: Double) {
            (m.a * x + m.c * y + m.e, m.b * x + m.d * y + m.f)
        }
        func side(_ one: (x: Double, y: Double), _ other: (x: Double, y: Double)) -> String {
            one.x == other.x ? (one.x == 0 ? "left" : "right") : (one.y == 0 ? "bottom" : "top")
        }
        #expect(side(shown(0, 1), shown(1, 1)) == told[0])
        #expect(side(shown(0, 0), shown(0, 1)) == told[1])
        #expect(orientation.swapsSides == ["left", "right"].contains(told[0]))
    }

    @Test("pictures are written in parts of bounded size, none without a file") func parts() {
        #expect(PictureDocument.parts([1, 2, 3], atMost: 10) == [0..<3])
        #expect(PictureDocument.parts([5, 5, 5], atMost: 10) == [0..<2, 2..<3])
        #expect(PictureDocument.parts([50, 1, 50], atMost: 10) == [0..<1, 1..<2, 2..<3])
        #expect(PictureDocument.parts([50], atMost: 10) == [0..<1])
    }

    @Test(
        "PDF-16 a photo is centred on its paper, upright or across as it is, within the margins",
        arguments: [
            (PageLayout.Paper.a4, 595.276, 841.89), (.a5, 419.528, 595.276), (.a3, 841.89, 1190.551),
            (.letter, 612, 792),
            (.legal, 612, 1008),
        ]
    )
    func papers(paper: PageLayout.Paper, width: Double, height: Double) {
        let upright = PicturePlacement(width: 1000, height: 2000, layout: PageLayout(paper, margin: 20))
        #expect((upright.pageWidth, upright.pageHeight) == (width, height))
        #expect(upright.height <= height - 40 + 0.001 && upright.width <= width - 40 + 0.001)
        #expect((upright.x - (width - upright.width) / 2).magnitude < 0.001)
        #expect((upright.y - (height - upright.height) / 2).magnitude < 0.001)
        let lying = PicturePlacement(width: 2000, height: 1000, layout: PageLayout(paper, margin: 20))
        #expect((lying.pageWidth, lying.pageHeight) == (height, width))
        let fit = PicturePlacement(width: 100, height: 50, layout: PageLayout(.fit, margin: 20))
        #expect((fit.pageWidth, fit.pageHeight, fit.x, fit.width) == (140, 90, 20, 100))
    }
}

@Suite struct PictureCheckTests {
    /// A grey JPEG in one scan, whose blocks have random values; a source of random numbers that repeats itself.
    private struct Sample {
        private var state: UInt64
        private var bytes: [UInt8] = []
        private var (bits, count) = (UInt32(0), 0)
        /// Symbols of the values that follow the first of a block: end, sixteen zeros, run and size.
        private static let symbols: [UInt8] = [0x01, 0x02, 0x00, 0x11, 0x03, 0x21, 0xF0, 0x14, 0xA5, 0x1A]

        init(seed: UInt64) { state = seed }

        mutating func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }

        /// Returns a picture of blocks in one line, with a restart marker after each `interval` of them.
        mutating func picture(blocks: Int, interval: Int) -> [UInt8] {
            bytes = [0xFF, 0xD8, 0xFF, 0xDB, 0, 67, 0] + [UInt8](repeating: 1, count: 64)
            let width = 8 * blocks
            bytes += [0xFF, 0xC0, 0, 11, 8, 0, 8, UInt8(width >> 8), UInt8(width & 0xFF), 1, 1, 0x11, 0]
            // Codes of 2 to 4 bits for the first values, of 2 to 11 bits for the others.
            bytes += [0xFF, 0xC4, 0, 23, 0, 0, 2, 1, 1] + [UInt8](repeating: 0, count: 12) + [0, 3, 6, 11]
            bytes += [0xFF, 0xC4, 0, 29, 0x10, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0] + Self.symbols
            if interval > 0 { bytes += [0xFF, 0xDD, 0, 4, 0, UInt8(interval)] }
            bytes += [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0]
            for block in 0..<blocks {
                if interval > 0, block > 0, block % interval == 0 {
                    align()
                    bytes += [0xFF, 0xD0 + UInt8((block / interval - 1) % 8)]
                }
                addBlock()
            }
            align()
            return bytes + [0xFF, 0xD9]
        }

        private mutating func addBlock() {
            let first = random(4)
            let (code, length) = [(0, 2), (1, 2), (4, 3), (10, 4)][first]
            add(code, length)
            add(random(1 << 11), [0, 3, 6, 11][first])
            var index = 1
            while index < 64 {
                let choice = random(Self.symbols.count)
                let symbol = Self.symbols[choice]
                let next = symbol == 0 ? 64 : index + Int(symbol >> 4) + 1
                guard next <= 64 else { continue }
                index = next
                // A zero, as many ones as symbols come before, and a zero.
                add((1 << (choice + 1)) - 2, choice + 2)
                add(random(1 << 10), Int(symbol & 15))
            }
        }

        private mutating func add(_ value: Int, _ length: Int) {
            bits = bits << UInt32(length) | UInt32(value) & (1 << UInt32(length) - 1)
            count += length
            while count >= 8 {
                count -= 8
                let byte = UInt8(truncatingIfNeeded: bits >> UInt32(count))
                bytes.append(byte)
                if byte == 0xFF { bytes.append(0) }
            }
        }

        private mutating func align() { add(0x7F, (8 - count) % 8) }
    }

    /// Whether a JPEG is whole.
    private func isWhole(_ picture: [UInt8], isByLibraryOnly: Bool) throws -> Bool {
        do {
            try PictureCheck.checkJPEG(Data(picture), 60, isByLibraryOnly: isByLibraryOnly)
            return true
        } catch let error as JobError {
            guard case .damaged(_) = error.failure else { throw error }
            return false
        }
    }

    @Test("what is found whole by its codes alone, libjpeg finds whole; what one refuses, the other does")
    func agreement() throws {
        var sample = Sample(seed: 1)
        var found = (whole: 0, broken: 0)
        for round in 0..<60 {
            let picture = sample.picture(blocks: 1 + sample.random(60), interval: [0, 1, 3][round % 3])
            #expect(try isWhole(picture, isByLibraryOnly: false) && isWhole(picture, isByLibraryOnly: true))
            for change in 0..<20 {
                var changed = picture
                let place = 2 + sample.random(picture.count - 4)
                switch change % 4 {
                case 0: changed[place] ^= UInt8(1 << sample.random(8))
                case 1: changed = Array(picture[..<place]) + [0xFF, 0xD9]
                case 2: changed.remove(at: place)
                default: changed.insert([0xFF, 0x00, 0xD0, 0xA5][sample.random(4)], at: place)
                }
                let isWhole = try isWhole(changed, isByLibraryOnly: true)
                #expect(try self.isWhole(changed, isByLibraryOnly: false) == isWhole, "round \(round), \(change)")
                if isWhole { found.whole += 1 } else { found.broken += 1 }
            }
        }
        #expect(found.whole > 100 && found.broken > 100, "\(found)")
    }
}
