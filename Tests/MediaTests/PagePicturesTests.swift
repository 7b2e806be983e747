import Foundation
import Testing

@testable import Media

@Suite(.timeLimit(.minutes(3))) struct PagePicturesTests {
    @Test("a picture of a page: width, number, turn") func pictures() async throws {
        let scratch = try Scratch()
        let picture = try await scratch.picture(.quadrants(), "a.png")
        _ = try await scratch.engine.documents.pages(of: [.file(picture), .file(picture)], to: scratch.url("a.pdf"))
        let turned = try await scratch.engine.documents.compose(
            [ComposedPage(page: 1), ComposedPage(page: 2, rotateBy: 180)],
            of: [scratch.url("a.pdf")],
            to: scratch.url("b.pdf")
        )
        let jpeg = try await scratch.engine.pages.picture(
            of: 1,
            in: scratch.url("b.pdf"),
            size: turned.pages[0],
            width: 192
        )
        #expect((jpeg.width, jpeg.height, jpeg.format) == (192, 128, .jpeg))
        let png = try await scratch.engine.pages.picture(of: 2, in: scratch.url("b.pdf"), width: 96, isLossless: true)
        #expect((png.width, png.height, png.format) == (96, 64, .png))
        let pixels = try await scratch.pixels(of: scratch.write(png.data, to: "p.png"))
        #expect(pixels.at(0.2, 0.2).isNear(.white) && pixels.at(0.8, 0.8).isNear(.red))
        let widest = try await scratch.engine.pages.picture(of: 1, in: scratch.url("b.pdf"), width: 100_000)
        #expect(widest.width == 2000)
        await #expect(throws: MediaError.self) {
            try await scratch.engine.pages.picture(of: 3, in: scratch.url("b.pdf"), width: 10)
        }
        await #expect(throws: MediaError.damaged("page 1 cannot be drawn")) {
            try await scratch.engine.pages.picture(
                of: 1,
                in: scratch.write(Array("no PDF".utf8), to: "c.pdf"),
                width: 10
            )
        }
        #expect(scratch.leftovers.isEmpty)
    }

    @Test(
        "a page so long that a picture of the wanted width would have too many lines gets a narrower one of its proportions"
    ) func longPage() async throws {
        let scratch = try Scratch()
        let strip = try await scratch.picture(Pixels(width: 20, height: 2000) { _, _ in .red }, "strip.png")
        let page = try await scratch.engine.documents.pages(of: [.file(strip)], to: scratch.url("a.pdf")).pages[0]
        let picture = try await scratch.engine.pages.picture(of: 1, in: scratch.url("a.pdf"), size: page, width: 2000)
        #expect((picture.width, picture.height) == (320, 32_000))
        let narrow = try await scratch.engine.pages.picture(of: 1, in: scratch.url("a.pdf"), size: page, width: 40)
        #expect((narrow.width, narrow.height) == (40, 4000))
    }
}
