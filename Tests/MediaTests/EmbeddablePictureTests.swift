import Foundation
import TestKit
import Testing

@testable import Media

@Suite(.timeLimit(.minutes(3))) struct EmbeddablePictureTests {
    /// Bytes of a document around its picture: the profile of sRGB and the metadata of PDF/A are most of them.
    private static let around = 5000

    /// A photo-like picture: noise of few pixels, enlarged softly.
    private func photo(_ scratch: Scratch) async throws -> URL {
        var random = SeededRandom(seed: 98)
        let noise = Pixels(width: 16, height: 12) { _, _ in
            Pixels.Color(
                Int.random(in: 0..<256, using: &random),
                Int.random(in: 0..<256, using: &random),
                Int.random(in: 0..<256, using: &random)
            )
        }
        let small = try await scratch.picture(noise, "small.png")
        try await scratch.tool("vips", ["resize", small.path, scratch.url("photo.png").path, "16"])
        return scratch.url("photo.png")
    }

    /// Makes a document of a picture, and returns its bytes and the picture in it.
    private func embedded(_ file: URL, _ scratch: Scratch) async throws -> (bytes: Int, picture: Pixels, list: String) {
        let output = scratch.url("out.pdf")
        _ = try await scratch.engine.documents.pages(of: [.file(file)], to: output)
        try await scratch.check(output)
        try await scratch.tool("pdfimages", ["-png", output.path, scratch.url("found").path])
        let list = try await scratch.text(of: "pdfimages", ["-list", output.path])
        let picture = try await scratch.pixels(of: scratch.url("found-000.png"))
        return (try Data(contentsOf: output).count, picture, list)
    }

    @Test(
        "PDF-03 a lossless picture that is decoded on its way is no larger than as a PNG, and keeps every pixel",
        arguments: ["a.png[interlace]", "grey.png[interlace]", "a.tif", "grey.tif", "a.webp[lossless]"]
    )
    func photos(name: String) async throws {
        let scratch = try Scratch()
        let photo = try await photo(scratch).path
        let file = scratch.url(String(name.prefix { $0 != "[" }))
        var source = photo
        if name.hasPrefix("grey") {
            source = scratch.url("source.png").path
            try await scratch.tool("vips", ["colourspace", photo, source, "b-w"])
        }
        try await scratch.tool("vips", ["copy", source, scratch.url(name).path])
        let plain = scratch.url("plain.png")
        // All filters, of which libpng chooses one for each line.
        try await scratch.tool("vips", ["copy", source, plain.path + "[compression=6,filter=all]"])
        let expected = try await scratch.pixels(of: file)
        let found = try await embedded(file, scratch)
        #expect(found.bytes <= (try Data(contentsOf: plain).count) + Self.around)
        #expect(found.picture == expected)
    }

    /// Draws the page of the document. Pixels are enlarged, because poppler mixes them if they are not, and then
    /// reduced.
    private func shown(_ scratch: Scratch) async throws -> Pixels {
        let (page, pixels) = (scratch.url("page").path, scratch.url("pixels.png"))
        try await scratch.tool("pdftoppm", ["-png", "-singlefile", "-r", "360", scratch.url("out.pdf").path, page])
        try await scratch.tool("vips", ["subsample", page + ".png", pixels.path, "5", "5"])
        return try await scratch.pixels(of: pixels)
    }

    @Test(
        "PDF-03 a picture of few colours, or of two greys, takes few bits a pixel, and keeps every pixel",
        arguments: [
            ("two.gif", 2, "index 1 1"), ("four.tif", 4, "index 1 2"), ("many.png[interlace]", 200, "index 1 8"),
            ("bilevel.tif", 0, "gray 1 1"),
        ]
    )
    func fewColors(name: String, colors: Int, kind: String) async throws {
        let scratch = try Scratch()
        // Scattered: of colours in their order, filters would leave next to nothing, and no palette be smaller.
        var random = SeededRandom(seed: 98)
        let numbers = (0..<90 * 70).map { _ in Int.random(in: 0..<max(2, colors), using: &random) }
        let block = colors > 16 ? 1 : 5
        let pixels = Pixels(width: 90, height: 70) { x, y in
            let number = numbers[x / block + 90 * (y / block)]
            return colors == 0 ? (number == 0 ? .black : .white) : .init(number, 255 - number, number * 7 % 256)
        }
        var file = try await scratch.picture(pixels, name)
        if colors == 0 {
            try await scratch.tool("vips", ["colourspace", file.path, scratch.url("grey.tif").path, "b-w"])
            file = scratch.url("grey.tif")
        }
        let expected = try await scratch.pixels(of: file)
        let found = try await embedded(file, scratch)
        // pdfimages takes every picture of one bit for black and white.
        let picture = colors == 2 ? try await shown(scratch) : found.picture
        #expect(picture == expected)
        let words = found.list.split(separator: "\n").last.map { $0.split(separator: " ").map(String.init) } ?? []
        #expect(words.count > 8 && Array(words[5...7]) == kind.split(separator: " ").map(String.init), "\(found.list)")
    }

    @Test("PDF-04 a PNG that goes in as it is is read to its end: each damage is refused")
    func damagedPNG() async throws {
        let scratch = try Scratch()
        let whole = Array(try Data(contentsOf: try await scratch.picture(.gradient(), "a.png[compression=0]")))
        let pixels = try #require(whole.firstRange(of: Array("IDAT".utf8))).lowerBound
        func png(_ rows: [UInt8]) -> [UInt8] {
            PictureFixtures.png(width: 4, height: 2, chunks: [("IDAT", PictureFixtures.deflated(rows))])
        }
        var flipped = whole
        flipped[pixels + 400] ^= 1
        let wrongFilter: [UInt8] = [0] + [UInt8](repeating: 9, count: 12) + [5] + [UInt8](repeating: 9, count: 12)
        let right: [UInt8] = [0] + [UInt8](repeating: 9, count: 12) + [4] + [UInt8](repeating: 9, count: 12)
        for (name, bytes) in [
            ("a flipped bit", flipped), ("a wrong filter", png(wrongFilter)), ("a short line", png(right.dropLast())),
        ] {
            let file = try scratch.write(bytes, to: "bad.png")
            let error = MediaError.OfInput(index: 0, error: .damaged("the PNG cannot be decoded"))
            await #expect(throws: error, "\(name)") {
                try await scratch.engine.documents.pages(of: [.file(file)], to: scratch.url("none.pdf"))
            }
        }
        let file = try scratch.write(png(right), to: "good.png")
        _ = try await scratch.engine.documents.pages(of: [.file(file)], to: scratch.url("good.pdf"))
    }
}
