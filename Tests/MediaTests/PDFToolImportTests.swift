import Foundation
import TestKit
import Testing

@testable import Media

/// Number of mutated files; script/check-pdf asks for 2,000.
private let mutations = ProcessInfo.processInfo.environment["PDF_MUTATIONS"].flatMap { Int($0) } ?? 60

@Suite(.timeLimit(.minutes(mutations > 60 ? 60 : 5))) struct PDFToolImportTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// A page with these entries, and further objects from number 5 on.
    private func document(
        page: String,
        _ objects: [String] = [],
        catalog: String = "",
        content: String = "0 0 10 10 re f"
    ) -> PDFFixture {
        PDFFixture(
            [
                "<< /Type /Catalog /Pages 2 0 R \(catalog) >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 100] /Contents 4 0 R \(page) >>",
                "<< /Length \(content.utf8.count) >>\nstream\n\(content)\nendstream",
            ] + objects
        )
    }

    /// The text of the imported document, uncompressed by qpdf.
    private func imported(_ pdf: PDFFixture, _ scratch: Scratch) async throws -> String {
        let file = try scratch.write(pdf.bytes, to: "in.pdf")
        _ = try await scratch.engine.documents.importDocument(file, to: scratch.url("out.pdf"))
        try await scratch.tool("qpdf", ["--check", scratch.url("out.pdf").path])
        let bytes = try await scratch.tool(
            "qpdf",
            ["--qdf", "--object-streams=disable", scratch.url("out.pdf").path, "-"]
        )
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("TRUST-11 actions, scripts, launches, attachments and other files are dropped, wherever they are")
    func activeContent() async throws {
        let pdf = document(
            page: """
                /AA << /O << /S /JavaScript /JS (app.alert\\(1\\)) >> >> /Metadata 11 0 R /PieceInfo << /X 11 0 R >>
                /AF [9 0 R] /Annots [5 0 R 6 0 R 7 0 R 8 0 R 12 0 R 13 0 R]
                /Resources << /XObject << /A 10 0 R /P 14 0 R >> /Properties << /M << /AF 9 0 R /MCID 1 >> >> >>
                """,
            [
                "<< /Type /Annot /Subtype /Link /Rect [0 0 9 9] /A << /S /Launch /F (calc.exe) >> >>",
                "<< /Type /Annot /Subtype /Link /Rect [0 0 9 9] /A << /S /JavaScript /JS (app.alert\\(2\\)) >> >>",
                "<< /Type /Annot /Subtype /FileAttachment /Rect [0 0 9 9] /FS 9 0 R >>",
                "<< /Type /Annot /Subtype /RichMedia /Rect [0 0 9 9] /RichMediaContent << /Assets 9 0 R >> >>",
                "<< /Type /Filespec /F (evil.exe) /EF << /F 11 0 R >> >>",
                """
                << /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Length 0 /Ref << /F (other.pdf) >> /AF [9 0 R]
                /OPI << /x 9 0 R >> >>
                stream

                endstream
                """,
                "<< /Type /EmbeddedFile /Length 8 >>\nstream\nMZ\u{1}\u{2}EVIL\nendstream",
                """
                << /Type /Annot /Subtype /Widget /FT /Tx /T (name) /V (text) /Rect [0 0 9 9] /AP << /N 10 0 R >>
                /AA << /K << /S /JavaScript /JS (app.alert\\(3\\)) >> >> /Parent 15 0 R >>
                """,
                "<< /Type /Annot /Subtype /Link /Rect [0 0 9 9] /A << /S /URI /URI (javascript:alert\\(4\\)) >> >>",
                "<< /Type /XObject /Subtype /PS /Length 4 >>\nstream\nquit\nendstream",
                "<< /Kids [12 0 R] /AA << /K << /S /JavaScript /JS (app.alert\\(5\\)) >> >> >>",
            ],
            catalog:
                "/OpenAction << /S /JavaScript /JS (app.alert\\(6\\)) >> "
                + "/Names << /EmbeddedFiles << /Names [(a) 9 0 R] >> >>",
            content: "/M /M BDC /A Do /P Do EMC"
        )
        let text = try await imported(pdf, scratch)
        for active in [
            "JavaScript", "/JS", "/AA", "alert", "Launch", "calc.exe", "Filespec", "EmbeddedFile", "EVIL", "/EF", "/AF",
            "RichMedia", "FileAttachment", "/Ref", "/OPI", "Metadata", "PieceInfo", "OpenAction", "/Subtype /PS", "/FT",
            "other.pdf",
        ] {
            #expect(!text.contains(active), "\(active)")
        }
        #expect(text.contains("/Widget") && text.contains("/AP"), "the field looks as before")
    }

    /// A PDF of photos is the files of a camera with a few bytes around them.
    @Test("TRUST-11 photos in an imported PDF lose the position of the photographer, and nothing that is shown")
    func photos() async throws {
        var photo = try [UInt8](Data(contentsOf: try await scratch.picture(.quadrants(), "a.jpg")))
        let exif = Array("Exif\0\0MM\0*\0\0\0\u{8}\0\0 GPSLatitude 55.7558".utf8)
        photo.replaceSubrange(2..<2, with: [0xFF, 0xE1, 0, UInt8(exif.count + 2)] + exif)
        let hexadecimal = photo.flatMap { [UInt8]((($0 < 16 ? "0" : "") + String($0, radix: 16)).utf8) }
        let picture = "/Type /XObject /Subtype /Image /Width 96 /Height 64 /ColorSpace /DeviceRGB /BitsPerComponent 8"
        for (filter, data) in [
            ("/Filter /DCTDecode", photo), ("/Filter [/DCTDecode] /DecodeParms [null]", photo),
            (
                "/Filter [/FlateDecode /DCTDecode] /DecodeParms [null << /ColorTransform 1 >>]",
                PictureFixtures.deflated(photo)
            ),
            ("/Filter [/ASCIIHexDecode /DCTDecode]", hexadecimal + Array(">".utf8)),
        ] {
            var pdf = document(page: "/Resources << /XObject << /P 5 0 R >> >>")
            pdf.objects[3] = PDFFixture.stream(Array("200 0 0 100 0 0 cm /P Do".utf8))
            pdf.objects.append(PDFFixture.stream(data, "\(picture) \(filter)"))
            let file = try scratch.write(pdf.bytes, to: "in.pdf")
            let (out, kept) = (scratch.url("out.pdf"), scratch.url("kept.pdf"))
            let documents = scratch.engine.documents
            _ = try await documents.compose(nil, of: [file], isImport: true, keepsMetadata: true, to: kept)
            _ = try await documents.importDocument(file, to: out)
            try await scratch.check(out)
            #expect(try await streams(of: out, scratch).contains("/DCTDecode"), "\(filter)")
            #expect(try await !streams(of: out, scratch).contains("GPSLatitude"), "\(filter)")
            #expect(try Data(contentsOf: kept).range(of: Data(data)) != nil, "\(filter)")
            #expect(try await scratch.drawn(out) == scratch.drawn(file), "\(filter)")
            // A document that an earlier version has imported loses the position with its next change.
            _ = try await documents.keep([1], of: kept, to: out)
            #expect(try await !streams(of: out, scratch).contains("GPSLatitude"), "\(filter)")
        }
    }

    /// The text of a document, all filters but those of pictures undone.
    private func streams(of file: URL, _ scratch: Scratch) async throws -> String {
        let bytes = try await scratch.tool("qpdf", ["--qdf", "--decode-level=generalized", file.path, "-"])
        return String(decoding: bytes.map { $0 < 0x80 ? $0 : 0x2E }, as: UTF8.self)
    }

    @Test("what is shown stays: marks, drawings, web links, fonts, patterns, layers") func shown() async throws {
        let pdf = document(
            page: """
                /Rotate 90 /CropBox [0 0 150 100] /UserUnit 2 /Annots [5 0 R 6 0 R]
                /Resources << /Font << /Body 7 0 R >> /Pattern << /Dots 8 0 R >> /ExtGState << /Half << /ca .5 >> >>
                /ColorSpace << /Spot [/Separation /Gold /DeviceRGB 9 0 R] >> /Properties << /L 10 0 R >> >>
                """,
            [
                "<< /Type /Annot /Subtype /Link /Rect [0 0 9 9] "
                    + "/A << /S /URI /URI (https://example.com/a) /Next 5 0 R >> >>",
                "<< /Type /Annot /Subtype /Highlight /Rect [0 0 9 9] /QuadPoints [0 0 9 0 0 9 9 9] /C [1 1 0] /F 4 >>",
                "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding << /Differences [65 /A] >> >>",
                """
                << /Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 2 2] /XStep 2 /YStep 2
                /Resources << >> /Length 10 >>
                stream
                0 0 1 1 re
                endstream
                """,
                "<< /FunctionType 2 /Domain [0 1] /C0 [1 1 1] /C1 [1 .8 0] /N 1 >>",
                "<< /Type /OCG /Name (Layer) /Usage << /Print << /PrintState /ON >> >> >>",
            ],
            catalog: "/OCProperties << /OCGs [10 0 R] /D << /OFF [10 0 R] /Order [10 0 R] >> >>",
            content: "/Half gs /Spot cs 1 scn /Pattern cs /Dots scn /OC /L BDC BT /Body 9 Tf (A) Tj ET EMC"
        )
        let text = try await imported(pdf, scratch)
        for part in [
            "/Rotate 90", "/CropBox", "/UserUnit 2", "https://example.com/a", "/Highlight", "/QuadPoints", "/F 4",
            "/Body", "/Helvetica", "/Differences", "/Dots", "/XStep 2", "/Half", "/ca", "/Spot", "/Gold", "/C1", "/OCG",
            "(Layer)", "/PrintState", "/OFF",
        ] {
            #expect(text.contains(part), "\(part)")
        }
        #expect(!text.contains("/Next"))
    }

    @Test(
        "PDF-12 a PDF that is readable only in part is damaged: pages, parts of pages or data are missing or broken",
        arguments: [
            "lost page", "lost content", "lost picture", "lost font of a form", "broken data", "broken operators",
            "cut data",
        ]
    )
    func inPart(kind: String) async throws {
        var pdf = document(page: "")
        let data = PictureFixtures.deflated(Array(String(repeating: "0 0 10 10 re f ", count: 400).utf8))
        switch kind {
        case "lost page": pdf.objects[1] = Array("<< /Type /Pages /Kids [3 0 R 9 0 R] /Count 2 >>".utf8)
        case "lost content": pdf = document(page: "/Contents [4 0 R 9 0 R]")
        case "lost picture": pdf = document(page: "/Resources << /XObject << /P 9 0 R >> >>", content: "/P Do")
        case "lost font of a form":
            pdf = document(page: "/Resources << /XObject << /P 5 0 R >> >>", content: "/P Do")
            let resources = "/Resources << /Font << /F 9 0 R >> >>"
            pdf.objects.append(
                PDFFixture.stream(Array("/F 9 Tf".utf8), "/Type /XObject /Subtype /Form /BBox [0 0 1 1] \(resources)")
            )
        case "broken data":
            let broken = data.prefix(12) + [0xFF, 0xFF, 0xFF, 0xFF] + data.dropFirst(16)
            pdf.objects[3] = PDFFixture.stream(Array(broken), "/Filter /FlateDecode")
        case "broken operators": pdf.objects[3] = PDFFixture.stream(Array("0 0 << ] ) > 10 re f".utf8))
        default: pdf.objects[3] = PDFFixture.stream(Array(data.prefix(data.count / 2)), "/Filter /FlateDecode")
        }
        let file = try scratch.write(pdf.bytes, to: "in.pdf")
        await #expect {
            try await scratch.engine.documents.importDocument(file, to: scratch.url("out.pdf"))
        } throws: { error in
            if case MediaError.damaged = error { true } else { false }
        }
        #expect(!FileManager.default.fileExists(atPath: scratch.url("out.pdf").path))
    }

    @Test("PDF-12 a PDF whose forms draw each other, or whose resources are null or absent, is whole") func whole()
        async throws
    {
        var pdf = document(
            page: "/Resources << /XObject << /P 5 0 R >> /Font << /F null >> /Pattern null >>",
            content: "/P Do /F 9 Tf"
        )
        let form = "/Type /XObject /Subtype /Form /BBox [0 0 1 1]"
        pdf.objects.append(
            PDFFixture.stream(Array("/P Do /Q Do".utf8), "\(form) /Resources << /XObject << /P 5 0 R /Q 6 0 R >> >>")
        )
        pdf.objects.append(PDFFixture.stream([], form))
        #expect(try await imported(pdf, scratch).contains("/Q"))
    }

    @Test("PDF-12 a page whose crop box is outside of it is shown whole") func senselessCropBox() async throws {
        let text = try await imported(document(page: "/CropBox [500 500 600 600]"), scratch)
        #expect(!text.contains("/CropBox"))
        let drawn = try await scratch.drawn(scratch.url("out.pdf"))
        #expect((drawn.width, drawn.height) == (200, 100) && drawn.at(0.02, 0.95).isNear(.black))
    }

    @Test("PDF-12 a PDF may follow other bytes, within 1,024; one that begins later is none") func preamble()
        async throws
    {
        let pdf = PDFFixture(widths: [200]).bytes
        for junk in [[0xEF, 0xBB, 0xBF], Array("\r\n".utf8), [UInt8](repeating: 0x20, count: 1023)] {
            let file = try scratch.write(junk + pdf, to: "in.pdf")
            let summary = try await scratch.engine.documents.importDocument(file, to: scratch.url("out.pdf"))
            #expect(summary.pages.count == 1)
            try await scratch.tool("qpdf", ["--check", scratch.url("out.pdf").path])
        }
        let late = try scratch.write([UInt8](repeating: 0x20, count: 1024) + pdf, to: "late.pdf")
        await #expect(throws: MediaError.unsupported("a file that does not begin as a PDF does")) {
            try await scratch.engine.documents.importDocument(late, to: scratch.url("out.pdf"))
        }
    }

    @Test("PDF-12 restrictions by an owner password are reported; one without restrictions is not") func restricted()
        async throws
    {
        let plain = try scratch.write(PDFFixture(widths: [200]).bytes, to: "plain.pdf")
        for (options, notices) in [
            (["--print=none"], [InputNotice(input: 0, kind: .restrictionsRemoved)]), ([], [InputNotice]()),
        ] {
            try await scratch.tool(
                "qpdf",
                ["--encrypt", "", "owner", "256"] + options + ["--", plain.path, scratch.url("open.pdf").path]
            )
            let summary = try await scratch.engine.documents.importDocument(
                scratch.url("open.pdf"),
                to: scratch.url("out.pdf")
            )
            #expect(summary.notices == notices)
        }
    }

    @Test("TRUST-11 every PDF that is made of a mutated file passes qpdf --check and has pictures of all pages")
    func mutated() async throws {
        let picture = try await scratch.picture(.quadrants(), "a.jpg")
        _ = try await scratch.engine.documents.pages(of: [.file(picture)], to: scratch.url("picture.pdf"))
        _ = try await scratch.engine.documents.textPages("Some text\nof two lines", to: scratch.url("text.pdf"))
        let sources = try [
            Array(Data(contentsOf: scratch.url("picture.pdf"))), Array(Data(contentsOf: scratch.url("text.pdf"))),
            PDFFixture(widths: [200, 300], content: "0 0 10 10 re f").bytes,
        ]
        var random = SeededRandom(seed: 2026)
        var accepted = 0
        for number in 0..<mutations {
            var bytes = sources[number % sources.count]
            mutate(&bytes, &random)
            let (file, out) = (try scratch.write(bytes, to: "m.pdf"), scratch.url("out.pdf"))
            do {
                let summary = try await scratch.engine.documents.importDocument(file, to: out)
                accepted += 1
                try await scratch.tool("qpdf", ["--check", out.path])
                for page in summary.pages.indices {
                    _ = try await scratch.engine.pages.picture(
                        of: page + 1,
                        in: out,
                        size: summary.pages[page],
                        width: 32
                    )
                }
            } catch let error as MediaError {
                switch error {
                case .damaged, .encrypted, .tooLarge, .tooManyPages, .unsupported, .timedOut: break
                default: Issue.record("file \(number): \(error)")
                }
            }
        }
        #expect(accepted > 0)
        print("\(accepted) of \(mutations) mutated PDFs were accepted")
    }

    private func mutate(_ bytes: inout [UInt8], _ random: inout SeededRandom) {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes.removeLast(Int.random(in: 1..<bytes.count, using: &random))
        case 1:
            let start = Int.random(in: 0..<bytes.count, using: &random)
            bytes.removeSubrange(start..<min(bytes.count, start + Int.random(in: 1...64, using: &random)))
        default:
            for _ in 0..<Int.random(in: 1...24, using: &random) {
                bytes[Int.random(in: 5..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
        }
    }
}
