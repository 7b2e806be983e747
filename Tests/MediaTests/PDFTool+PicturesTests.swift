import Foundation
import Testing

@testable import Media

@Suite(.timeLimit(.minutes(10))) struct PDFToolPicturesTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func document(_ scratch: Scratch, _ pictures: [URL], layout: PageLayout = .fit, title: String? = nil)
        async throws -> PDFDocumentSummary
    {
        let summary = try await scratch.engine.documents.pages(
            of: pictures.map { .file($0) },
            options: PictureOptions(layout: layout),
            title: title,
            to: scratch.url("out.pdf")
        )
        try await scratch.check(scratch.url("out.pdf"))
        #expect(scratch.leftovers.isEmpty)
        return summary
    }

    @Test("PDF-01 ten photos become a document by one program, and without vips, which decodes what is not JPEG or PNG")
    func oneProgram() async throws {
        let making = try Scratch()
        let files = [
            try await making.picture(.gradient(), "a.jpg"), try await making.picture(.gradient(), "b.jpg[interlace]"),
            try await making.picture(.gradient(), "c.png"),
        ]
        let log = making.url("programs")
        let limits = making.url("prlimit")
        let original = try making.tools.path(of: .prlimit)
        try Data("#!/bin/sh\necho begun >> '\(log.path)'\nexec '\(original)' \"$@\"\n".utf8).write(to: limits)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: limits.path)
        var paths = making.tools.paths
        paths[.prlimit] = limits.path
        paths[.vips] = nil
        let scratch = try Scratch(tools: MediaTools(paths: paths))
        let summary = try await document(scratch, (0..<10).map { files[$0 % files.count] })
        #expect(summary.pages.count == 10)
        #expect(try String(contentsOf: log, encoding: .utf8) == "begun\n")
    }

    @Test("PDF-02 pictures of all formats become one document, a page each, in order") func allFormats() async throws {
        let names = ["a.jpg[Q=95]", "b.png", "c.heic[Q=90]", "d.webp[Q=95]", "e.gif", "f.tif", "g.avif[Q=90,effort=0]"]
        var files: [URL] = []
        for (index, name) in names.enumerated() {
            files.append(try await scratch.picture(.quadrants(96 + 2 * index, 64), name))
        }
        let summary = try await document(scratch, files, title: "Отпуск 2025 😀")
        #expect(summary.pages == names.indices.map { PDFPage(width: Double(96 + 2 * $0), height: 64, rotation: 0) })
        #expect(summary.title == "Отпуск 2025 😀")
        for page in 1...names.count {
            let drawn = try await scratch.drawn(scratch.url("out.pdf"), page: page)
            #expect(
                drawn.at(0.2, 0.2).isNear(.red, 40) && drawn.at(0.8, 0.2).isNear(.green, 40)
                    && drawn.at(0.2, 0.8).isNear(.blue, 40),
                "\(names[page - 1]) \(drawn.at(0.2, 0.2))"
            )
        }
        let information = try await scratch.text(of: "pdfinfo", [scratch.url("out.pdf").path])
        #expect(information.contains("Title:           Отпуск 2025 😀\n"))
    }

    @Test(
        "PDF-03 the data of a JPEG are found again byte for byte, without its metadata",
        arguments: ["a.jpg", "a.jpg[interlace]", "grey.jpg", "cmyk.jpg", "profile.jpg", "bare.jpg"]
    )
    func identicalData(name: String) async throws {
        let file = scratch.url(String(name.prefix { $0 != "[" }))
        let plain = try await scratch.picture(.gradient(), "plain.png")
        switch name {
        case "grey.jpg": try await scratch.tool("vips", ["colourspace", plain.path, file.path, "b-w"])
        case "cmyk.jpg": try await scratch.tool("vips", ["colourspace", plain.path, file.path, "cmyk"])
        case "profile.jpg":
            try await scratch.tool("vips", ["icc_transform", plain.path, file.path, "p3", "--input-profile", "srgb"])
        default: _ = try await scratch.picture(.gradient(), name)
        }
        let kept = PictureFixtures.withoutMetadata(Array(try Data(contentsOf: file)))
        if name == "bare.jpg" { _ = try scratch.write(kept, to: name) }
        _ = try await document(scratch, [file])
        try await scratch.tool("pdfimages", ["-all", scratch.url("out.pdf").path, scratch.url("found").path])
        #expect(try Data(contentsOf: scratch.url("found-000.jpg")) == Data(kept))
    }

    @Test(
        "PDF-03 the eight EXIF orientations are shown upright, their data unchanged but for the metadata",
        arguments: 1...8,
        [PageLayout.fit, .a4]
    )
    func orientations(orientation: Int, layout: PageLayout) async throws {
        let plain = Array(try Data(contentsOf: try await scratch.picture(.quadrants(), "plain.jpg[Q=95]")))
        let file = try scratch.write(
            PictureFixtures.jpeg(plain, orientation: orientation, littleEndian: orientation.isMultiple(of: 2)),
            to: "turned.jpg"
        )
        let summary = try await document(scratch, [file], layout: layout)
        // libvips's rendering of the same photo is the reference.
        let expected = try await scratch.pixels(of: file)
        let page = summary.pages[0]
        #expect((page.width > page.height) == (expected.width > expected.height))
        let drawn = try await scratch.drawn(scratch.url("out.pdf"))
        let (left, top) = layout == .fit ? (0.0, 0.0) : pictureMargins(expected, page)
        for (x, y) in [(0.2, 0.2), (0.8, 0.2), (0.2, 0.8), (0.8, 0.8)] {
            let shown = drawn.at(left + x * (1 - 2 * left), top + y * (1 - 2 * top))
            #expect(shown.isNear(expected.at(x, y), 20), "\(orientation) at \(x), \(y): \(shown)")
        }
        if layout == .a4 { #expect(drawn.at(left > top ? left / 2 : 0.5, left > top ? 0.5 : top / 2).isNear(.white)) }
        try await scratch.tool("pdfimages", ["-all", scratch.url("out.pdf").path, scratch.url("found").path])
        let kept = PictureFixtures.withoutMetadata(Array(try Data(contentsOf: file)))
        #expect(kept == PictureFixtures.withoutMetadata(plain))
        #expect(try Data(contentsOf: scratch.url("found-000.jpg")) == Data(kept))
    }

    /// Margins of a picture on A4, in parts of the page.
    private func pictureMargins(_ picture: Pixels, _ page: PDFPage) -> (Double, Double) {
        let scale = min(page.width / Double(picture.width), page.height / Double(picture.height))
        return (
            (1 - Double(picture.width) * scale / page.width) / 2, (1 - Double(picture.height) * scale / page.height) / 2
        )
    }

    @Test(
        "PDF-03 pictures of every kind look as libvips decodes them",
        arguments: [
            "progressive.jpg", "cmyk.jpg", "grey.jpg", "p3.jpg", "plain.png", "interlaced.png", "palette.png",
            "grey.png", "deep.png", "deepgrey.png",
            "bits.png", "p3.png", "cmyk.tif", "deep.tif", "lossless.webp",
        ]
    )
    func looks(name: String) async throws {
        let plain = try await scratch.picture(.gradient(), "source.png").path
        let file = scratch.url(name).path
        switch name {
        case "progressive.jpg": try await scratch.tool("vips", ["copy", plain, file + "[interlace,Q=95]"])
        case "cmyk.jpg", "cmyk.tif": try await scratch.tool("vips", ["colourspace", plain, file, "cmyk"])
        case "grey.jpg", "grey.png": try await scratch.tool("vips", ["colourspace", plain, file, "b-w"])
        case "p3.jpg", "p3.png":
            try await scratch.tool("vips", ["icc_transform", plain, file, "p3", "--input-profile", "srgb"])
        case "interlaced.png": try await scratch.tool("vips", ["copy", plain, file + "[interlace]"])
        case "palette.png":
            let palette: [UInt8] = [200, 30, 30, 30, 200, 30, 30, 30, 200, 240, 240, 100]
            _ = try scratch.write(PictureFixtures.bars(colorType: 3, chunks: [("PLTE", palette)]), to: name)
        case "bits.png":
            _ = try scratch.write(PictureFixtures.bars(colorType: 0, chunks: []), to: name)
        case "deep.png", "deep.tif": try await scratch.tool("vips", ["colourspace", plain, file, "rgb16"])
        case "deepgrey.png": try await scratch.tool("vips", ["colourspace", plain, file, "grey16"])
        case "lossless.webp": try await scratch.tool("vips", ["copy", plain, file + "[lossless]"])
        default: try await scratch.tool("vips", ["copy", plain, file])
        }
        _ = try await document(scratch, [scratch.url(name)])
        let drawn = try await scratch.drawn(scratch.url("out.pdf"))
        let expected = try await scratch.pixels(of: scratch.url(name), hasProfile: name.hasPrefix("p3"))
        // CMYK without a profile has no one meaning: only that it is not inverted can be said.
        #expect(
            drawn.difference(from: expected) < (name == "cmyk.jpg" ? 40 : 3),
            "\(name): \(drawn.difference(from: expected))"
        )
        #expect(drawn.at(0.9, 0.9) != drawn.at(0.1, 0.1))
    }

    @Test(
        "PDF-03 transparent becomes white, half transparent half white, never black",
        arguments: ["alpha.png", "deepalpha.png", "alpha.webp", "alpha.tif", "clear.gif", "trns.png"]
    )
    func transparency(name: String) async throws {
        let red = try await scratch.picture(Pixels(width: 64, height: 64) { _, _ in .red }, "red.png").path
        let file = scratch.url(name).path
        let isClear = name == "clear.gif" || name == "trns.png"
        switch name {
        case "deepalpha.png":
            try await scratch.tool("vips", ["colourspace", red, scratch.url("deep.png").path, "rgb16"])
            try await scratch.tool("vips", ["bandjoin_const", scratch.url("deep.png").path, file, "32768"])
        case "clear.gif": try await scratch.tool("vips", ["bandjoin_const", red, file, "0"])
        case "trns.png":
            let rows = (0..<64).flatMap { _ in [UInt8](repeating: 0, count: 65) }
            let png = PictureFixtures.png(
                width: 64,
                height: 64,
                colorType: 3,
                chunks: [("PLTE", [255, 0, 0]), ("tRNS", [0]), ("IDAT", PictureFixtures.deflated(rows))]
            )
            _ = try scratch.write(png, to: name)
        default: try await scratch.tool("vips", ["bandjoin_const", red, file, "128"])
        }
        _ = try await document(scratch, [scratch.url(name)])
        let color = try await scratch.drawn(scratch.url("out.pdf")).at(0.5, 0.5)
        #expect(color.isNear(isClear ? .white : .init(255, 127, 127), 10), "\(color)")
    }

    @Test(
        "PDF-02 PDF-03 a GIF without transparency, as other programs than vips write it, keeps its colours",
        arguments: [Pixels.Color(200, 30, 60), .init(90, 90, 90)]
    )
    func opaqueGIF(color: Pixels.Color) async throws {
        let palette = [color.red, color.green, color.blue].map { UInt8($0) } + [UInt8](repeating: 0, count: 9)
        let head = Array("GIF87a".utf8) + [8, 0, 8, 0, 0x81, 0, 0]
        // 8 × 8 pixels of the first colour.
        let image: [UInt8] = [
            0x2C, 0, 0, 0, 0, 8, 0, 8, 0, 0, 8, 15, 0, 1, 8, 28, 72, 176, 160, 193, 131, 8, 19, 42, 76, 24, 16, 0, 0x3B,
        ]
        let file = try scratch.write(head + palette + image, to: "opaque.gif")
        _ = try await document(scratch, [file])
        #expect(try await scratch.drawn(scratch.url("out.pdf")).at(0.5, 0.5).isNear(color, 3))
    }

    @Test(
        "PDF-03 what the first frame of a GIF leaves out is white, never black, in pages and in previews",
        arguments: [true, false]
    )
    func partialFrame(isAnimation: Bool) async throws {
        let head = Array("GIF89a".utf8) + [16, 0, 16, 0, 0x81, 0, 0] + [200, 30, 60, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        func frame(at place: UInt8) -> [UInt8] {
            [0x2C, place, 0, place, 0, 8, 0, 8, 0, 0]
                + [8, 15, 0, 1, 8, 28, 72, 176, 160, 193, 131, 8, 19, 42, 76, 24, 16, 0]
        }
        let frames = frame(at: 4) + (isAnimation ? frame(at: 0) : [])
        let file = try scratch.write(head + frames + [0x3B], to: "partial.gif")
        let summary = try await document(scratch, [file])
        #expect(summary.notices.map(\.kind) == (isAnimation ? [.firstPictureOnly] : []))
        let preview = try await scratch.engine.pictures.scale(.file(file), width: 16, height: 16, coding: .jpeg)
        let pictures = [
            try await scratch.drawn(scratch.url("out.pdf")),
            try await scratch.pixels(of: scratch.write(preview.data, to: "preview.jpg")),
        ]
        for picture in pictures {
            #expect(picture.at(0.5, 0.5).isNear(.init(200, 30, 60), 12))
            #expect(picture.at(0.05, 0.05).isNear(.white) && picture.at(0.95, 0.95).isNear(.white))
        }
        for length in [head.count + 14, head.count + 26] {
            let cut = try scratch.write((head + frames).prefix(length), to: "cut.gif")
            await #expect(throws: MediaError.OfInput.self) {
                try await scratch.engine.documents.pages(of: [.file(cut)], to: scratch.url("none.pdf"))
            }
        }
    }

    @Test(
        "PDF-03 a PNG with a gamma of its own has its brightness, unless a chunk says that it is sRGB",
        arguments: [(0, false), (2, false), (3, false), (2, true), (6, false)] as [(UInt8, Bool)],
        [100_000, 45_455]
    )
    func gamma(kind: (colorType: UInt8, isInterlaced: Bool), gamma: Int) async throws {
        let number = (0..<4).map { UInt8(truncatingIfNeeded: gamma >> (24 - 8 * $0)) }
        let pixel: [UInt8] = [0: [128], 2: [128, 128, 128], 3: [1], 6: [128, 128, 128, 255]][kind.colorType] ?? []
        let passes = kind.isInterlaced ? [(1, 1), (1, 1), (2, 1), (2, 2), (4, 2), (4, 4), (8, 4)] : [(8, 8)]
        var rows: [UInt8] = []
        for (width, height) in passes {
            for _ in 0..<height { rows += [0] + [[UInt8]](repeating: pixel, count: width).joined() }
        }
        let palette: [UInt8] = [0, 0, 0, 128, 128, 128]
        for (standard, expected) in [([], gamma == 100_000 ? 188 : 128), ([("sRGB", [0])], 128)]
            as [([(String, [UInt8])], Int)]
        {
            let png = PictureFixtures.png(
                width: 8,
                height: 8,
                colorType: kind.colorType,
                interlaced: kind.isInterlaced,
                chunks: standard + [("gAMA", number)] + (kind.colorType == 3 ? [("PLTE", palette)] : [])
                    + [("IDAT", PictureFixtures.deflated(rows))]
            )
            _ = try await document(scratch, [scratch.write(png, to: "a.png")])
            let color = try await scratch.drawn(scratch.url("out.pdf")).at(0.5, 0.5)
            #expect(color.isNear(.init(expected, expected, expected), 3), "\(color)")
        }
    }

    @Test("PDF-21 a fax has the shape of its sheet, in each quality") func fax() async throws {
        let fax = try await scratch.picture(.quadrants(), "fax.tif[xres=8,yres=4]")
        for quality in [PictureOptions.Quality.original, .medium] {
            let pages = try await scratch.engine.documents.pages(
                of: [.file(fax)],
                options: PictureOptions(quality: quality),
                to: scratch.url("out.pdf")
            ).pages
            #expect(pages == [PDFPage(width: 96, height: 128, rotation: 0)])
        }
    }

    @Test("PNG pixels go in as they are; the compressed data are the file's own") func pngData() async throws {
        let file = try await scratch.picture(.gradient(), "a.png")
        _ = try await document(scratch, [file])
        let png = try Data(contentsOf: file)
        let start = try #require(png.range(of: Data("IDAT".utf8)))
        let length = png[(start.lowerBound - 4)..<start.lowerBound].reduce(0) { $0 << 8 | Int($1) }
        #expect(
            try Data(contentsOf: scratch.url("out.pdf")).range(of: png[start.upperBound..<(start.upperBound + length)])
                != nil
        )
    }

    @Test("the same pictures give the same bytes") func deterministic() async throws {
        let files = [
            try await scratch.picture(.gradient(), "a.jpg"), try await scratch.picture(.quadrants(), "b.heic"),
        ]
        _ = try await document(scratch, files, title: "Same")
        let first = try Data(contentsOf: scratch.url("out.pdf"))
        _ = try await document(scratch, files, title: "Same")
        #expect(try Data(contentsOf: scratch.url("out.pdf")) == first)
    }

    @Test("PDF-04 what is wrong with a picture names it, and nothing is written") func wrongPictures() async throws {
        let good = try await scratch.picture(.gradient(400, 300), "good.jpg")
        let whole = try Data(contentsOf: good)
        let cases: [([UInt8], MediaError)] = [
            (Array(whole.prefix(whole.count / 2)), .damaged("data of the JPEG are missing or broken")),
            (Array(whole.prefix(whole.count / 2)) + [0xFF, 0xD9], .damaged("data of the JPEG are missing or broken")),
            (Array(whole.prefix(30)), .damaged("the picture ends too early")),
            (Array("<svg xmlns=\"http://www.w3.org/2000/svg\"/>".utf8), .unsupported("SVG")),
            (Array("BM".utf8) + [0, 0, 0, 0], .unsupported("BMP")),
            (
                PictureFixtures.png(width: 100_000, height: 100_000, chunks: [("IDAT", [])]),
                .tooLarge(.pixels(limit: 100_000_000))
            ),
            (
                PictureFixtures.png(width: 10, height: 10, chunks: [("IDAT", PictureFixtures.deflated([0, 1, 2]))]),
                .damaged("the PNG cannot be decoded")
            ),
        ]
        for (bytes, error) in cases {
            let bad = try scratch.write(bytes, to: "bad")
            await #expect(throws: MediaError.OfInput(index: 1, error: error)) {
                try await scratch.engine.documents.pages(
                    of: [.file(good), .file(bad), .file(good)],
                    to: scratch.url("none.pdf")
                )
            }
            await #expect(throws: MediaError.OfInput(index: 0, error: error)) {
                try await scratch.engine.documents.pages(of: [.file(bad)], to: scratch.url("none.pdf"))
            }
        }
        #expect(!FileManager.default.fileExists(atPath: scratch.url("none.pdf").path))
        #expect(scratch.leftovers.isEmpty)
    }

    @Test("progress comes in steps that end with all") func progress() async throws {
        let file = try await scratch.picture(.gradient(), "a.jpg")
        let steps = ProgressLog()
        _ = try await scratch.engine.documents.pages(
            of: [.file(file), .file(file), .file(file)],
            to: scratch.url("out.pdf")
        ) { steps.add($0) }
        #expect(steps.all == (1...4).map { JobProgress(done: $0, total: 4) })
    }

    @Test("a PNG's iCCP bomb is not blown up, nor taken along") func profileBomb() async throws {
        let rows = PictureFixtures.deflated([UInt8](repeating: 0, count: 4 * 13))
        let bomb = Array("p\0\0".utf8) + PictureFixtures.deflated([UInt8](repeating: 0, count: 64 << 20))
        let file = try scratch.write(
            PictureFixtures.png(width: 4, height: 4, chunks: [("iCCP", bomb), ("IDAT", rows)]),
            to: "bomb.png"
        )
        _ = try await document(scratch, [file])
        #expect(try Data(contentsOf: scratch.url("out.pdf")).count < 6000)
    }
}
