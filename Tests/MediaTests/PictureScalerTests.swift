import Foundation
import Testing

@testable import Media

@Suite(.timeLimit(.minutes(10))) struct PictureScalerTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    @Test("a picture fits into the box, keeps its proportions, and is never enlarged") func fits() async throws {
        let file = try await scratch.picture(.quadrants(400, 300), "a.jpg[Q=95]")
        let small = try await scratch.engine.pictures.scale(.file(file), width: 100, height: 100)
        #expect((small.width, small.height, small.format, small.mediaType) == (100, 75, .jpeg, "image/jpeg"))
        let high = try await scratch.engine.pictures.scale(.file(file), width: 1000, height: 30)
        #expect((high.width, high.height) == (40, 30))
        let large = try await scratch.engine.pictures.scale(
            .bytes(try Data(contentsOf: file)),
            width: 4000,
            height: 4000
        )
        #expect((large.width, large.height) == (400, 300))
        let pixels = try await scratch.pixels(of: scratch.write(small.data, to: "small.jpg"))
        #expect(
            pixels.at(0.25, 0.25).isNear(.red) && pixels.at(0.75, 0.25).isNear(.green)
                && pixels.at(0.25, 0.75).isNear(.blue)
                && pixels.at(0.75, 0.75).isNear(.white)
        )
        #expect(scratch.leftovers.isEmpty)
    }

    @Test(
        "colours of a profile become those of sRGB; colours without one stay as they are",
        arguments: ["jpg", "png", "webp[Q=100]", "tif", "heic[Q=95]"]
    )
    func profiles(format: String) async throws {
        let plain = try await scratch.picture(.quadrants(), "a.png")
        let colored = scratch.url("colored.tif")
        try await scratch.tool("vips", ["icc_transform", plain.path, colored.path, "p3", "--input-profile", "srgb"])
        let source = try await scratch.copy(colored, to: "p3.\(format)")
        #expect(try scratch.engine.pictures.header(of: .file(source)).hasProfile)
        #expect(try !scratch.engine.pictures.header(of: .file(plain)).hasProfile)
        let small = try await scratch.engine.pictures.scale(.file(source), width: 48, height: 48, coding: .png)
        let pixels = try await scratch.pixels(of: scratch.write(small.data, to: "small.png"))
        #expect(
            pixels.at(0.2, 0.2).isNear(.red, 25) && pixels.at(0.8, 0.2).isNear(.green, 25)
                && pixels.at(0.2, 0.8).isNear(.blue, 25),
            "\(pixels.at(0.2, 0.2))"
        )
    }

    @Test("EXIF turns it upright, and metadata stay behind", arguments: [6, 8, 3]) func upright(orientation: Int)
        async throws
    {
        let plain = Array(try Data(contentsOf: try await scratch.picture(.quadrants(96, 64), "a.jpg[Q=95]")))
        let turned = PictureFixtures.jpeg(plain, orientation: orientation)
        let small = try await scratch.engine.pictures.scale(.bytes(Data(turned)), width: 48, height: 48, coding: .png)
        #expect((small.width, small.height) == (orientation == 3 ? (48, 32) : (32, 48)))
        let corner = try await scratch.pixels(of: scratch.write(small.data, to: "small.png")).at(0.2, 0.2)
        #expect(corner.isNear(orientation == 6 ? .blue : orientation == 8 ? .green : .white), "\(corner)")
        #expect(small.data.range(of: Data("Exif".utf8)) == nil)
    }

    @Test("transparent stays transparent as PNG and becomes white as JPEG") func transparency() async throws {
        let opaque = try await scratch.picture(.quadrants(), "a.png")
        try await scratch.tool("vips", ["bandjoin_const", opaque.path, scratch.url("clear.png").path, "0"])
        let automatic = try await scratch.engine.pictures.scale(.file(scratch.url("clear.png")), width: 48, height: 48)
        #expect(automatic.format == .png)
        #expect(try PictureHeader(of: Array(automatic.data)).mayBeTransparent)
        let jpeg = try await scratch.engine.pictures.scale(
            .file(scratch.url("clear.png")),
            width: 48,
            height: 48,
            coding: .jpeg
        )
        #expect(try await scratch.pixels(of: scratch.write(jpeg.data, to: "a.jpg")).at(0.25, 0.25).isNear(.white))
    }

    @Test(
        "every accepted format is decoded",
        arguments: [
            "a.jpg", "a.jpg[interlace]", "a.png", "a.png[interlace]", "a.png[palette]", "a.webp[Q=95]",
            "a.webp[lossless]", "a.tif", "a.heic[Q=90]",
            "a.avif[Q=90,effort=0]", "a.gif",
        ]
    )
    func formats(name: String) async throws {
        let file = try await scratch.picture(.quadrants(), name)
        let small = try await scratch.engine.pictures.scale(.file(file), width: 48, height: 48, coding: .png)
        let pixels = try await scratch.pixels(of: scratch.write(small.data, to: "small.png"))
        #expect(
            pixels.at(0.2, 0.2).isNear(.red, 40) && pixels.at(0.8, 0.2).isNear(.green, 40)
                && pixels.at(0.2, 0.8).isNear(.blue, 40),
            "\(pixels.at(0.2, 0.2))"
        )
    }

    @Test("names with option syntax are names") func names() async throws {
        _ = try await scratch.picture(.quadrants(), "a.jpg")
        let odd = scratch.url("-a[shrink=8,access=random].jpg")
        try FileManager.default.moveItem(at: scratch.url("a.jpg"), to: odd)
        let small = try await scratch.engine.pictures.scale(.file(odd), width: 2000, height: 2000)
        #expect((small.width, small.height) == (96, 64))
    }

    @Test("PDF-18 a photo of an iPhone with iOS 18, whose gain map belongs to two items, is a picture and a page")
    func iOS18() async throws {
        let file = try scratch.write(SampleHEIC.iOS18, to: "IMG_0876.HEIC")
        let small = try await scratch.engine.pictures.scale(.file(file), width: 100, height: 100, coding: .png)
        #expect((small.width, small.height) == (16, 16))
        let pixels = try await scratch.pixels(of: scratch.write(small.data, to: "small.png"))
        #expect(pixels.at(0.1, 0.9).isNear(Pixels.Color(16, 224, 128), 60), "\(pixels.at(0.1, 0.9))")
        for quality in [PictureOptions.Quality.original, .low] {
            let out = scratch.url("out.pdf")
            let options = PictureOptions(quality: quality)
            let summary = try await scratch.engine.documents.pages(of: [.file(file)], options: options, to: out)
            #expect(summary.pages == [PDFPage(width: 16, height: 16, rotation: 0)])
        }
    }

    @Test("PDF-18 a photo whose small picture has another size than the file states, as Sony's, is scaled all the same")
    func sony() async throws {
        let file = try scratch.write(PictureFixtures.heicOfSony, to: "DSC0001.HIF")
        for width in [100, 48, 20] {
            let small = try await scratch.engine.pictures.scale(.file(file), width: width, height: width)
            #expect(small.width == min(width, 64) && small.height == small.width)
        }
    }

    @Test(
        "PDF-18 a decoder that is too old for a kind of HEIC is at fault, and not the file",
        arguments: [
            ("heif: Invalid input: Unspecified: Too many auxiliary image references (2.0)", true),
            ("heif: Unsupported feature: Unsupported codec (4.3000)", true),
            ("VipsForeignLoad: \"in\" is not a known file format", true), ("heif: Invalid input (2.100)", false),
        ]
    )
    func tooOld(words: String, isTooOld: Bool) async throws {
        let making = try Scratch()
        let vips = try making.write("#!/bin/sh\necho '\(words)' >&2; exit 1\n".utf8, to: "vips")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: vips.path)
        let scratch = try Scratch(tools: MediaTools(paths: making.tools.paths.merging([.vips: vips.path]) { $1 }))
        let error: MediaError = isTooOld ? .undecodable("HEIC") : .damaged("the HEIC cannot be decoded")
        await #expect(throws: error) {
            _ = try await scratch.engine.pictures.scale(.bytes(SampleHEIC.iOS18), width: 8, height: 8)
        }
        let check = try #require(await scratch.engine.selfTest().first { $0.ability == "HEIC-iOS-18" })
        #expect(check.works == false && check.install.contains("backports"))
        #expect(check.detail.contains("cannot read this kind of HEIC; install libheif 1.18") == isTooOld)
    }

    @Test(
        "what is cut short is damaged",
        arguments: ["a.jpg", "a.jpg[interlace]", "a.png", "a.webp", "a.heic", "a.tif"]
    ) func truncated(name: String)
        async throws
    {
        let whole = try Data(contentsOf: try await scratch.picture(.gradient(300, 200), name))
        // A TIFF's directory is at its end: without it there is no head either.
        await #expect {
            _ = try await scratch.engine.pictures.scale(
                .bytes(whole.prefix(whole.count * 3 / 4)),
                width: 10,
                height: 10
            )
        } throws: { error in
            if case MediaError.damaged = error { true } else { false }
        }
        #expect(scratch.leftovers.isEmpty)
    }

    @Test("limits hold before any tool runs: none is installed here") func limitsFirst() async throws {
        var limits = MediaLimits()
        limits.pictureBytes = 100_000
        let scratch = try Scratch(tools: MediaTools(paths: [:]), limits: limits)
        func refusal(_ bytes: [UInt8]) async -> MediaError? {
            do {
                _ = try await scratch.engine.pictures.scale(.bytes(Data(bytes)), width: 10, height: 10)
                return nil
            } catch { return error as? MediaError }
        }
        let huge = PictureFixtures.png(width: 100_000, height: 100_000, chunks: [("IDAT", [])])
        #expect(await refusal(huge) == .tooLarge(.pixels(limit: 100_000_000)))
        let overflow = PictureFixtures.png(width: 0x7FFF_FFFF, height: 0x7FFF_FFFF, chunks: [("IDAT", [])])
        #expect(await refusal(overflow) == .tooLarge(.pixels(limit: 100_000_000)))
        #expect(await refusal([UInt8](repeating: 0xFF, count: 100_001)) == .tooLarge(.bytes(limit: 100_000)))
        #expect(await refusal(Array("<svg xmlns=\"http://www.w3.org/2000/svg\"/>".utf8)) == .unsupported("SVG"))
        #expect(await refusal(Array("BM".utf8) + [UInt8](repeating: 0, count: 100)) == .unsupported("BMP"))
        #expect(await refusal([]) == .unsupported("an empty file"))
        let fine = PictureFixtures.png(width: 1, height: 1, chunks: [("IDAT", [])])
        #expect(await refusal(fine) == .toolMissing(.prlimit))
    }

    @Test("loaders that libvips does not trust stay shut, whatever a file claims to be") func untrusted() async throws {
        // A head that passes for a PNG, followed by bytes of another format: the decoder fails, and no other is tried.
        let bytes = PictureFixtures.png(width: 4, height: 4, chunks: [("IDAT", Array("<svg/>".utf8))])
        await #expect(throws: MediaError.damaged("the PNG cannot be decoded")) {
            _ = try await scratch.engine.pictures.scale(.bytes(Data(bytes)), width: 10, height: 10)
        }
    }

    @Test("a decoder that wants more memory than it may have ends with a typed error") func memory() async throws {
        var limits = MediaLimits()
        limits.vips.memory = 200 << 20
        let scratch = try Scratch(limits: limits)
        // Interlaced pixels must be held as a whole: 10 000 × 10 000 of them are 300 MB.
        let rows = PictureFixtures.deflated([UInt8](repeating: 0, count: 10_000 * 30_001 + 40_000))
        let png = PictureFixtures.png(width: 10_000, height: 10_000, interlaced: true, chunks: [("IDAT", rows)])
        do {
            _ = try await scratch.engine.pictures.scale(.bytes(Data(png)), width: 10, height: 10)
            Issue.record("it had the memory")
        } catch let error as MediaError {
            switch error {
            case .tooLarge(.memory), .damaged, .crashed, .timedOut: break
            default: Issue.record("\(error)")
            }
        }
        #expect(scratch.leftovers.isEmpty)
    }
}
