import Foundation
import Testing

@testable import Media

@Suite(.timeLimit(.minutes(10))) struct PagePicturesTests {
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
        "a picture of a page too long for its width has fewer columns and the proportions of the page"
    ) func longPage() async throws {
        let scratch = try Scratch()
        let strip = try await scratch.picture(Pixels(width: 20, height: 2000) { _, _ in .red }, "strip.png")
        let page = try await scratch.engine.documents.pages(of: [.file(strip)], to: scratch.url("a.pdf")).pages[0]
        let picture = try await scratch.engine.pages.picture(of: 1, in: scratch.url("a.pdf"), size: page, width: 2000)
        #expect((picture.width, picture.height) == (320, 32_000))
        let narrow = try await scratch.engine.pages.picture(of: 1, in: scratch.url("a.pdf"), size: page, width: 40)
        #expect((narrow.width, narrow.height) == (40, 4000))
    }

    /// The corners of a page of quadrants: upper left, upper right, lower right, lower left.
    private func corners(_ pixels: Pixels) -> [Pixels.Color] {
        [pixels.at(0.1, 0.1), pixels.at(0.9, 0.1), pixels.at(0.9, 0.9), pixels.at(0.1, 0.9)]
    }

    @Test(
        "TRUST-12 pictures of turned pages have the page's shape and all of its content, at every width",
        arguments: [0, 90, 180, 270],
        [40, 320, 1000]
    )
    func turned(degrees: Int, width: Int) async throws {
        let scratch = try Scratch()
        let photo = try await scratch.picture(.quadrants(), "a.png")
        let upright = try await scratch.engine.documents.pages(of: [.file(photo)], to: scratch.url("a.pdf"))
        let page = ComposedPage(page: 1, rotateBy: degrees)
        let turned = try await scratch.engine.documents.compose(
            [page],
            of: [scratch.url("a.pdf")],
            to: scratch.url("b.pdf")
        )
        let shown = turned.pages[0]
        let isLying = degrees % 180 == 0
        #expect(shown.width == (isLying ? 96 : 64) && shown.height == (isLying ? 64 : 96))
        let first = try await picture(of: scratch.url("a.pdf"), upright.pages[0], width: 320, scratch)
        let colors = corners(first)
        #expect(Set(colors.map(\.description)).count >= 3, "the corners differ")
        let steps = degrees / 90
        let expected = (0..<4).map { colors[($0 - steps + 4) % 4] }
        // With and without a size that is known before.
        for size in [shown, nil] {
            let pixels = try await picture(of: scratch.url("b.pdf"), size, width: width, scratch)
            #expect(pixels.width == width)
            #expect(abs(Double(pixels.height) - Double(width) * shown.height / shown.width) <= 1)
            for (corner, color) in zip(corners(pixels), expected) { #expect(corner.isNear(color, 40)) }
        }
    }

    private func picture(of file: URL, _ size: PDFPage?, width: Int, _ scratch: Scratch) async throws -> Pixels {
        let picture = try await scratch.engine.pages.picture(
            of: 1,
            in: file,
            size: size,
            width: width,
            isLossless: true
        )
        return try await scratch.pixels(of: scratch.write(picture.data, to: "p.png"))
    }
}

@Suite struct RenderedPictureTests {
    @Test("a file that a tool has cut is no picture, whatever the tool reported") func cut() async throws {
        let scratch = try Scratch()
        for name in ["a.png", "a.jpg"] {
            let file = try await scratch.picture(.quadrants(), name)
            let whole = try RenderedPicture(file: file.path)
            for length in [whole.data.count - 1, whole.data.count / 2] {
                let cut = try scratch.write(Array(whole.data.prefix(length)), to: "cut-\(length)-\(name)")
                #expect(throws: (any Error).self, "\(name), \(length) bytes") { try RenderedPicture(file: cut.path) }
            }
        }
    }
}
