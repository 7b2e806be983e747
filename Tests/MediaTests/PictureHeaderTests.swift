import Foundation
import Testing

@testable import Media

@Suite(.timeLimit(.minutes(10))) struct PictureHeaderTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    @Test(
        "sizes as libvips wrote them",
        arguments: [
            ("a.jpg", PictureFormat.jpeg), ("a.jpg[interlace]", .jpeg), ("a.png", .png), ("a.png[interlace]", .png),
            ("a.webp", .webp),
            ("a.webp[lossless]", .webp), ("a.tif", .tiff), ("a.tif[bigtiff=false,tile]", .tiff),
            ("a.heic[Q=30]", .heic), ("a.avif[Q=30,effort=0]", .avif),
            ("a.gif", .gif),
        ]
    )
    func sizes(name: String, format: PictureFormat) async throws {
        let file = try await scratch.picture(.gradient(98, 66), name)
        let header = try PictureHeader(of: FileBytes(file))
        #expect(header.format == format)
        #expect((header.width, header.height) == (98, 66))
        #expect(header.mayBeTransparent == (format == .gif))
        #expect(header.isLossless == name.contains("lossless"))
        #expect(header.isInterlaced == name.contains("png[interlace"))
    }

    @Test(
        "a cut head is told as such; no cut makes the reading go wrong",
        arguments: ["a.jpg", "a.png", "a.webp", "a.tif", "a.heic[Q=30]", "a.gif"]
    )
    func everyCut(name: String) async throws {
        let whole = Array(try Data(contentsOf: try await scratch.picture(.gradient(24, 16), name)))
        for length in 0..<min(whole.count, 2000) {
            let cut = Array(whole[..<length])
            do {
                let header = try PictureHeader(of: cut)
                // HEVC knows no picture of less than 64 pixels a side; a crop follows.
                #expect((header.width, header.height) == (name.contains("heic") ? (64, 64) : (24, 16)))
            } catch let error as PictureHeaderError {
                if case .malformed(let reason) = error { #expect(!reason.isEmpty) }
            }
        }
    }

    @Test(
        "any byte of a head may be anything, and so may any number of four bytes, and any two",
        arguments: ["a.jpg", "a.png", "a.webp", "a.tif", "a.heic[Q=30]", "a.gif"]
    )
    func anyByte(name: String) async throws {
        let whole = Array(try Data(contentsOf: try await scratch.picture(.gradient(24, 16), name)))
        for position in 0..<min(whole.count, 600) {
            for value: UInt8 in [0x00, 0x01, 0x7F, 0x80, 0xFF] {
                // The two sides of a HEIF picture, each the largest that there is, overflowed when they were
                // multiplied.
                for run in [1, 4, 8] {
                    var changed = whole
                    for place in position..<min(position + run, whole.count) { changed[place] = value }
                    if let header = try? PictureHeader(of: changed) {
                        #expect(header.width > 0 && header.height > 0 && header.pixels > 0)
                    }
                }
            }
        }
    }

    @Test("transparency is seen: alpha, tRNS, WebP") func transparency() async throws {
        let opaque = try await scratch.picture(.gradient(), "a.png")
        try await scratch.tool("vips", ["bandjoin_const", opaque.path, scratch.url("alpha.png").path, "128"])
        try await scratch.tool("vips", ["copy", scratch.url("alpha.png").path, scratch.url("alpha.webp").path])
        try await scratch.tool("vips", ["copy", scratch.url("alpha.png").path, scratch.url("alpha.tif").path])
        for name in ["alpha.png", "alpha.webp", "alpha.tif"] {
            #expect(try PictureHeader(of: FileBytes(scratch.url(name))).mayBeTransparent, "\(name)")
        }
        #expect(try !PictureHeader(of: FileBytes(opaque)).mayBeTransparent)
        let palette = PictureFixtures.png(
            width: 1,
            height: 1,
            colorType: 3,
            chunks: [("PLTE", [1, 2, 3]), ("tRNS", [0]), ("IDAT", [])]
        )
        #expect(try PictureHeader(of: palette).mayBeTransparent)
    }

    @Test("16 bits are seen in PNG and TIFF") func depth() async throws {
        let file = try await scratch.picture(.gradient(), "a.png")
        try await scratch.tool("vips", ["colourspace", file.path, scratch.url("deep.png").path, "rgb16"])
        try await scratch.tool("vips", ["colourspace", file.path, scratch.url("deep.tif").path, "rgb16"])
        #expect(try PictureHeader(of: FileBytes(scratch.url("deep.png"))).bitsPerSample == 16)
        #expect(try PictureHeader(of: FileBytes(scratch.url("deep.tif"))).bitsPerSample == 16)
        #expect(try PictureHeader(of: FileBytes(file)).bitsPerSample == 8)
    }

    @Test("how a JPEG is coded") func jpegFrames() async throws {
        let baseline = try PictureHeader(of: FileBytes(try await scratch.picture(.gradient(), "a.jpg"))).jpeg
        #expect(
            baseline?.process == 0 && baseline?.precision == 8 && baseline?.components == 3
                && baseline?.adobeTransform == nil
        )
        let progressive = try PictureHeader(of: FileBytes(try await scratch.picture(.gradient(), "b.jpg[interlace]")))
            .jpeg
        #expect(progressive?.process == 2)
        #expect(progressive?.isEmbeddable == true)
        var arithmetic = Array(try Data(contentsOf: scratch.url("a.jpg")))
        let marker = try #require(arithmetic.indices.first { arithmetic[$0] == 0xFF && arithmetic[$0 + 1] == 0xC0 })
        arithmetic[marker + 1] = 0xC9
        #expect(try PictureHeader(of: arithmetic).jpeg?.process == 9)
        #expect(try PictureHeader(of: arithmetic).jpeg?.isEmbeddable == false)
    }

    @Test("a JPEG without Huffman tables, as in a film, is not one that every PDF reader decodes") func filmFrames()
        async throws
    {
        var bytes = Array(try Data(contentsOf: try await scratch.picture(.gradient(), "a.jpg")))
        #expect(try PictureHeader(of: bytes).jpeg?.isEmbeddable == true)
        for segment in try JPEGSegments(bytes).all() where segment.marker == 0xC4 {
            bytes[segment.content.lowerBound - 3] = 0xFE  // a comment of the same length
        }
        #expect(try PictureHeader(of: bytes).jpeg?.hasTables == false)
        #expect(try PictureHeader(of: bytes).jpeg?.isEmbeddable == false)
    }

    @Test("endless segments and boxes end") func endless() {
        let fill: [UInt8] = [0xFF, 0xD8] + [UInt8](repeating: 0xFF, count: 100_000)
        #expect(throws: PictureHeaderError.malformed("more than 4096 JPEG segments")) { try PictureHeader(of: fill) }
        var empty: [UInt8] = [0, 0, 0, 16] + Array("ftypheic".utf8) + [0, 0, 0, 0]
        for _ in 0..<10_000 { empty += [0, 0, 0, 8] + Array("free".utf8) }
        #expect(throws: PictureHeaderError.malformed("a HEIF file of more than 8192 boxes")) {
            try PictureHeader(of: empty)
        }
        let chunks = PictureFixtures.png(width: 1, height: 1, chunks: (0..<1200).map { _ in ("tEXt", []) })
        #expect(throws: PictureHeaderError.malformed("a PNG of more than 1000 chunks before its pixels")) {
            try PictureHeader(of: chunks)
        }
    }
}
