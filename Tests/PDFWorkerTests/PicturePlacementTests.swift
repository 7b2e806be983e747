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
