import Foundation
import TestKit
import Testing

@testable import Media

@Suite(.timeLimit(.minutes(10))) struct PictureSourceTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// A strip of squares one below the other, as a file of a page for each.
    private func pages(_ scratch: Scratch, _ colors: [Pixels.Color], _ name: String, _ options: String = "")
        async throws
        -> URL
    {
        let strip = try await scratch.picture(
            Pixels(width: 32, height: 32 * colors.count) { _, y in colors[y / 32] },
            "s.png"
        )
        try await scratch.tool("vips", ["copy", strip.path, "\(scratch.url(name).path)[page-height=32\(options)]"])
        return scratch.url(name)
    }

    @Test(
        "TRUST-12 PDF-02 every page of a TIFF is a page, in order, also of a BigTIFF",
        arguments: [",compression=lzw", ",bigtiff", ",compression=deflate,tile"]
    )
    func everyPage(options: String) async throws {
        let colors: [Pixels.Color] = [.red, .green, .blue, .black]
        let tiff = try await pages(scratch, colors, "in.tif", options)
        let photo = try await scratch.picture(.quadrants(), "a.jpg")
        let out = scratch.url("out.pdf")
        let summary = try await scratch.engine.documents.pages(of: [.file(photo), .file(tiff)], to: out)
        try #require(summary.pages.map(\.width) == [96, 32, 32, 32, 32])
        #expect(summary.notices.isEmpty)
        try await scratch.tool("qpdf", ["--check", out.path])
        for (number, color) in colors.enumerated() {
            let size = summary.pages[number + 1]
            let page = try await scratch.engine.pages.picture(
                of: number + 2,
                in: out,
                size: size,
                width: 16,
                isLossless: true
            )
            let pixels = try await scratch.pixels(of: scratch.write(page.data, to: "p.png"))
            #expect(pixels.at(0.5, 0.5).isNear(color), "page \(number + 2)")
        }
    }

    /// libvips takes such a file for one picture in several sizes, and would show the smallest on all pages.
    @Test("TRUST-12 PDF-02 pages of a TIFF that halve in size stay apart, and the picture of one is its own")
    func halvedPages() async throws {
        let colors: [Pixels.Color] = [.red, .green, .blue]
        let pages = colors.enumerated().map { (width: 256 >> $0.offset, height: 128 >> $0.offset, color: $0.element) }
        let tiff = try scratch.write(PictureFixtures.tiff(pages), to: "in.tif")
        let out = scratch.url("out.pdf")
        let summary = try await scratch.engine.documents.pages(of: [.file(tiff)], to: out)
        try #require(summary.pages.map(\.width) == [256, 128, 64])
        for (number, color) in colors.enumerated() {
            #expect(try await scratch.drawn(out, page: number + 1).at(0.5, 0.5).isNear(color), "page \(number + 1)")
        }
        let scaled = try await scratch.engine.pictures.scale(.file(tiff), width: 32, height: 32, coding: .png)
        #expect(scaled.width == 32)
        #expect(try await scratch.pixels(of: scratch.write(scaled.data, to: "s.png")).at(0.5, 0.5).isNear(.red))
    }

    @Test("PDF-04 pages of a TIFF count for the limit, and an error names the file") func limits() async throws {
        var limits = MediaLimits()
        limits.pdfPages = 3
        let scratch = try Scratch(limits: limits)
        let tiff = try await pages(scratch, [.red, .green, .blue, .black], "in.tif")
        await #expect(throws: MediaError.OfInput(index: 0, error: .tooManyPages(limit: 3))) {
            try await scratch.engine.documents.pages(of: [.file(tiff)], to: scratch.url("out.pdf"))
        }
        // The chain of pages leads back to the first one.
        var bytes = try [UInt8](Data(contentsOf: tiff))
        let first = Array(bytes[4..<8])
        let offset = first.reversed().reduce(0) { $0 << 8 | Int($1) }
        let next = offset + 2 + 12 * (Int(bytes[offset]) | Int(bytes[offset + 1]) << 8)
        bytes.replaceSubrange(next..<(next + 4), with: first)
        let circle = try scratch.write(bytes, to: "circle.tif")
        await #expect(throws: MediaError.OfInput(index: 0, error: .damaged("TIFF pages that form a circle"))) {
            try await scratch.engine.documents.pages(of: [.file(circle)], to: scratch.url("out.pdf"))
        }
    }

    @Test("TRUST-12 an animation gives its first picture, and says so", arguments: ["gif", "webp"])
    func animation(format: String) async throws {
        let moving = try await pages(scratch, [.red, .green], "moving.\(format)")
        let still = try await pages(scratch, [.blue], "still.\(format)")
        let out = scratch.url("out.pdf")
        let summary = try await scratch.engine.documents.pages(of: [.file(still), .file(moving)], to: out)
        #expect(summary.pages.count == 2)
        #expect(summary.notices == [InputNotice(input: 1, kind: .firstPictureOnly)])
        let page = try await scratch.engine.pages.picture(of: 2, in: out, width: 16, isLossless: true)
        #expect(try await scratch.pixels(of: scratch.write(page.data, to: "p.png")).at(0.5, 0.5).isNear(.red, 40))
    }

    @Test("PDF-04 a JPEG without the marker for its end is whole; one without its last lines is damaged") func noEnd()
        async throws
    {
        let photo = try await scratch.picture(
            Pixels(width: 400, height: 300) { x, y in .init(x % 256, y % 256, 90) },
            "a.jpg"
        )
        let bytes = try [UInt8](Data(contentsOf: photo))
        #expect(bytes.suffix(2) == [0xFF, 0xD9])
        let out = scratch.url("out.pdf")
        for complete in [bytes, bytes.dropLast(2), bytes + [0, 0, 0]] {
            let file = try scratch.write(complete, to: "b.jpg")
            #expect(try await scratch.engine.documents.pages(of: [.file(file)], to: out).pages.count == 1)
            try await scratch.tool("qpdf", ["--check", out.path])
        }
        let cut = try scratch.write(bytes.prefix(bytes.count / 2), to: "cut.jpg")
        await #expect {
            try await scratch.engine.documents.pages(of: [.file(cut)], to: out)
        } throws: { error in
            if case .damaged = (error as? MediaError.OfInput)?.error { true } else { false }
        }
    }

    @Test("TRUST-11 the photographer's position stays out of the PDF, in whatever format, and in it if it is wanted")
    func metadata() async throws {
        let plain = try await scratch.picture(.quadrants(), "a.jpg")
        var bytes = try [UInt8](Data(contentsOf: plain))
        let exif = Array("Exif\0\0MM\0*\0\0\0\u{8}\0\0 GPSLatitude 55.7558".utf8)
        bytes.replaceSubrange(2..<2, with: [0xFF, 0xE1, 0, UInt8(exif.count + 2)] + exif)
        let photo = try scratch.write(bytes, to: "gps.jpg")
        let out = scratch.url("out.pdf")
        _ = try await scratch.engine.documents.pages(of: [.file(photo)], to: out)
        #expect(try Data(contentsOf: out).range(of: Data("GPSLatitude".utf8)) == nil)
        let kept = PictureOptions(keepsMetadata: true)
        _ = try await scratch.engine.documents.pages(of: [.file(photo)], options: kept, to: out)
        #expect(try Data(contentsOf: out).range(of: Data("GPSLatitude".utf8)) != nil)
    }

    @Test(
        "PDF-21 bytes between the segments of a JPEG are skipped, as browsers do, and none of them is in the PDF",
        arguments: [[0, 0, 0], [0xFF, 0x00, 0x12, 0xFF, 0xFF, 0x00], [UInt8](repeating: 7, count: 70_000)]
    )
    func strayBytes(stray: [UInt8]) async throws {
        let photo = try await scratch.picture(.gradient(), "a.jpg")
        let bytes = try [UInt8](Data(contentsOf: photo))
        let end = 4 + Int(bytes[4]) << 8 + Int(bytes[5])
        let exif = PictureFixtures.jpeg(bytes, orientation: 1)
        let metadata = exif[2..<(exif.count - bytes.count + 2)]
        let (plain, out) = (scratch.url("plain.pdf"), scratch.url("out.pdf"))
        _ = try await scratch.engine.documents.pages(of: [.file(photo)], to: plain)
        let file = try scratch.write(bytes[..<end] + stray + metadata + stray + bytes[end...], to: "stray.jpg")
        _ = try await scratch.engine.documents.pages(of: [.file(file)], to: out)
        #expect(try Data(contentsOf: out) == Data(contentsOf: plain))
        let cut = try scratch.write(bytes[..<end] + stray, to: "cut.jpg")
        await #expect(throws: MediaError.OfInput(index: 0, error: .damaged("the picture ends too early"))) {
            try await scratch.engine.documents.pages(of: [.file(cut)], to: out)
        }
    }

    @Test(
        "PDF-21 a PNG whose last chunk is missing or cut is whole; one that ends before is damaged",
        arguments: ["a.png", "b.png[interlace]", "alpha.png"]
    )
    func noLastChunk(name: String) async throws {
        var file = try await scratch.picture(.gradient(), name == "alpha.png" ? "a.png" : name)
        if name == "alpha.png" {
            try await scratch.tool("vips", ["bandjoin_const", file.path, scratch.url(name).path, "128"])
            file = scratch.url(name)
        }
        let bytes = try [UInt8](Data(contentsOf: file))
        let (plain, out) = (scratch.url("plain.pdf"), scratch.url("out.pdf"))
        _ = try await scratch.engine.documents.pages(of: [.file(file)], to: plain)
        for missing in [12, 8, 1] {
            let cut = try scratch.write(bytes.dropLast(missing), to: "cut.png")
            _ = try await scratch.engine.documents.pages(of: [.file(cut)], to: out)
            #expect(try Data(contentsOf: out) == Data(contentsOf: plain), "without \(missing) bytes")
        }
        for missing in [20, 200] {
            let cut = try scratch.write(bytes.dropLast(missing), to: "cut.png")
            await #expect {
                try await scratch.engine.documents.pages(of: [.file(cut)], to: out)
            } throws: { error in
                if case .damaged = (error as? MediaError.OfInput)?.error { true } else { false }
            }
        }
    }

    @Test("PDF-21 a PNG that ends between the chunks of its pixels is damaged") func noLastPixels() async throws {
        let pixels = PictureFixtures.deflated([UInt8](repeating: 0, count: 13 * 40))
        let png = PictureFixtures.png(width: 4, height: 40, chunks: [("IDAT", Array(pixels.prefix(9)))])
        let file = try scratch.write(png.dropLast(12), to: "cut.png")
        await #expect(throws: MediaError.OfInput(index: 0, error: .damaged("the PNG cannot be decoded"))) {
            try await scratch.engine.documents.pages(of: [.file(file)], to: scratch.url("out.pdf"))
        }
    }

    @Test(
        "PDF-21 a TIFF of a kind that the decoder lacks is named as such, raw data of a sensor as camera RAW",
        arguments: [
            (259, 34712, MediaError.undecodable("TIFF")), (259, 50002, .undecodable("TIFF")),
            (262, 32803, .unsupported("a camera RAW file")), (259, 8, .damaged("the TIFF cannot be decoded")),
        ]
    )
    func unknownTIFF(tag: Int, value: Int, error: MediaError) async throws {
        var tiff = PictureFixtures.tiff([(8, 8, .red)])
        let little = { (value: Int) in [UInt8(value & 0xFF), UInt8(value >> 8)] }
        let entry = try #require(tiff.ranges(of: little(tag) + [3, 0]).last).lowerBound
        tiff.replaceSubrange((entry + 8)..<(entry + 10), with: little(value))
        let file = try scratch.write(tiff, to: "in.tif")
        await #expect(throws: MediaError.OfInput(index: 0, error: error)) {
            try await scratch.engine.documents.pages(of: [.file(file)], to: scratch.url("out.pdf"))
        }
    }

    @Test("PDF-16 a smaller quality makes smaller files of the same page", arguments: ["a.jpg[Q=95]", "a.tif"])
    func quality(name: String) async throws {
        var random = SeededRandom(seed: 7)
        let noise = Pixels(width: 2400, height: 1600) { x, _ in
            .init(Int.random(in: 0...255, using: &random), x % 256, 128)
        }
        let photo = try await scratch.picture(noise, name)
        var sizes: [Int] = []
        for quality in PictureOptions.Quality.allCases {
            let out = scratch.url("\(quality).pdf")
            let options = PictureOptions(layout: .a4, quality: quality)
            let summary = try await scratch.engine.documents.pages(of: [.file(photo)], options: options, to: out)
            #expect(summary.pages[0].width.rounded() == 842)
            sizes.append(try FileBytes(out).count)
        }
        #expect(sizes[0] > sizes[1] && sizes[1] > sizes[2] && sizes[2] > sizes[3], "\(sizes)")
    }

    @Test(
        "PDF-21 a smaller quality makes no file larger than the original does; scans and drawings stay sharp",
        arguments: [
            "scan.png[bitdepth=1]", "scan.tif[bitdepth=1,compression=ccittfax4]", "scan.tif[compression=deflate]",
            "flat.png[compression=9]", "flat.png[interlace]", "flat.tif[compression=lzw]", "flat.gif",
            "flat.webp[lossless]", "clear.png",
        ]
    )
    func sharp(name: String) async throws {
        let plain = scratch.url("plain.png").path
        if name.hasPrefix("scan") {
            let text = String(repeating: "Every page of a scan is legible. ", count: 60)
            let drawn = scratch.url("drawn.png").path
            try await scratch.tool("vips", ["text", drawn, text, "--width", "1600", "--dpi", "200"])
            try await scratch.tool("vips", ["relational_const", drawn, plain, "less", "128"])
        } else {
            let bars = Pixels(width: 1200, height: 800) { x, y in
                (x / 40 + y / 25) % 7 == 0 ? .black : (x / 300 % 2 == 0 ? .red : .init(240, 240, 200))
            }
            _ = try await scratch.picture(bars, "plain.png")
        }
        let file = scratch.url(String(name.prefix { $0 != "[" }))
        let copy =
            name == "clear.png"
            ? ["bandjoin_const", plain, file.path, "128"] : ["copy", plain, scratch.url(name).path]
        try await scratch.tool("vips", copy)
        var sizes: [Int] = []
        var pages: [Pixels] = []
        for quality in PictureOptions.Quality.allCases {
            let out = scratch.url("\(quality).pdf")
            let options = PictureOptions(layout: .a4, quality: quality)
            _ = try await scratch.engine.documents.pages(of: [.file(file)], options: options, to: out)
            sizes.append(try FileBytes(out).count)
            pages.append(try await scratch.drawn(out))
        }
        #expect(sizes.allSatisfy { $0 <= sizes[0] }, "\(sizes)")
        #expect(pages.allSatisfy { $0 == pages[0] } && pages[0].bytes.contains { $0 < 128 })
    }
}
