import Foundation
import Testing

@testable import Media

@Suite("PDF/A-2b", .timeLimit(.minutes(10))) struct PDFToolArchivalTests {
    private static let text = "Hello office fi — Привет! Ελληνικά\nשלום עולם 123\nالسلام عليكم\n我能吞下玻璃 😀"

    private func faults(_ scratch: Scratch, _ name: String) async throws -> [String] {
        try await scratch.check(scratch.url(name))
        return ArchivalCheck(try await ReadDocument(scratch.url(name), scratch)).faults
    }

    /// Whether a document says that it is PDF/A.
    private func claims(_ scratch: Scratch, _ name: String) async throws -> Bool {
        let document = try await ReadDocument(scratch.url(name), scratch)
        return document.catalog["/Metadata"] != nil || document.catalog["/OutputIntents"] != nil
    }

    private func pages(_ scratch: Scratch, _ files: [URL], _ options: PictureOptions = .init(), to name: String)
        async throws
    {
        let sources = files.map { PictureSource.file($0) }
        let title = "Fish & <chips> “é” 😀"
        _ = try await scratch.engine.documents.pages(of: sources, options: options, title: title, to: scratch.url(name))
    }

    private func transformed(_ scratch: Scratch, _ picture: URL, to profile: String, _ name: String) async throws -> URL
    {
        let arguments = ["icc_transform", picture.path, scratch.url(name).path, profile, "--input-profile", "srgb"]
        try await scratch.tool("vips", arguments)
        return scratch.url(String(name.prefix { $0 != "[" }))
    }

    @Test("PDF-23 Documents of photos are PDF/A-2b, whatever the photos: colours, depth, profiles, sizes")
    func photos() async throws {
        let scratch = try Scratch()
        var files: [URL] = []
        let names = [
            "a.jpg", "b.jpg[Q=50,interlace]", "c.png", "d.webp", "e.gif", "f.tif", "g.heic", "h.avif[effort=0]",
        ]
        for name in names { files.append(try await scratch.picture(.quadrants(), name)) }
        for (name, steps) in [("grey.jpg", ["colourspace", "b-w"]), ("deep.png", ["colourspace", "rgb16"])] {
            try await scratch.tool("vips", [steps[0], files[2].path, scratch.url(name).path, steps[1]])
            files.append(scratch.url(name))
        }
        files.append(try await transformed(scratch, files[2], to: "p3", "p3.jpg"))
        files.append(try await scratch.picture(.quadrants(2, 900), "thin.png"))
        try await pages(scratch, files, to: "fit.pdf")
        #expect(try await faults(scratch, "fit.pdf") == [])
        try await pages(scratch, files, PictureOptions(layout: .a4, quality: .low), to: "a4.pdf")
        #expect(try await faults(scratch, "a4.pdf") == [])
    }

    @Test("PDF-23 Documents of text are PDF/A-2b, in all scripts, with fonts whose letters have a meaning")
    func typeset() async throws {
        let scratch = try Scratch()
        _ = try await scratch.engine.documents.textPages(Self.text, title: "Текст", to: scratch.url("text.pdf"))
        #expect(try await faults(scratch, "text.pdf") == [])
        let fonts = try await scratch.text(of: "pdffonts", [scratch.url("text.pdf").path])
        for font in fonts.split(separator: "\n").dropFirst(2) where !font.contains("Type 3") {
            #expect(font.contains("yes yes yes"), "embedded, a subset, with Unicode: \(font)")
        }
    }

    @Test("PDF-23 Changed, extracted and merged documents stay PDF/A-2b; with an imported page they say nothing")
    func changed() async throws {
        let scratch = try Scratch()
        let documents = scratch.engine.documents
        try await pages(scratch, [try await scratch.picture(.quadrants(), "a.jpg")], to: "photo.pdf")
        _ = try await documents.textPages(Self.text, to: scratch.url("text.pdf"))
        let (photo, text) = (scratch.url("photo.pdf"), scratch.url("text.pdf"))
        let order = [
            ComposedPage(source: 1, page: 1), ComposedPage(source: 0, page: 1, rotateBy: 90),
            ComposedPage(source: 0, page: 1),
        ]
        _ = try await documents.compose(order, of: [photo, text], title: "Both", to: scratch.url("both.pdf"))
        #expect(try await faults(scratch, "both.pdf") == [])
        _ = try await documents.keep([2], of: scratch.url("both.pdf"), title: "Page", to: scratch.url("page.pdf"))
        #expect(try await faults(scratch, "page.pdf") == [])

        _ = try await documents.importDocument(photo, to: scratch.url("imported.pdf"))
        _ = try await documents.merge([photo, scratch.url("imported.pdf")], title: "x", to: scratch.url("mixed.pdf"))
        for name in ["imported.pdf", "mixed.pdf"] {
            #expect(try await !claims(scratch, name), "\(name) may be anything")
            #expect(try await faults(scratch, name).contains { $0.hasPrefix("6.6.4 part") })
        }
    }

    @Test("PDF-23 A photo of printing colours without a profile makes a document that does not say that it is PDF/A")
    func printingColors() async throws {
        let scratch = try Scratch()
        let png = try await scratch.picture(.quadrants(), "a.png")
        let plain = try await transformed(scratch, png, to: "cmyk", "plain.jpg[strip]")
        try await pages(scratch, [png, plain], to: "out.pdf")
        #expect(try await !claims(scratch, "out.pdf"))
        #expect(try await faults(scratch, "out.pdf").contains { $0.hasPrefix("6.2.4.3") })
        let profiled = try await transformed(scratch, png, to: "cmyk", "profiled.jpg")
        try await pages(scratch, [png, profiled], to: "profile.pdf")
        #expect(try await faults(scratch, "profile.pdf") == [])
    }
}
