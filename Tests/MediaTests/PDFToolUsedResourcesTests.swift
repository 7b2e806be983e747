import Foundation
import Testing

@testable import Media

/// How the pages of a document share the resources of all of them.
enum SharedResources: String, CaseIterable {
    /// One dictionary for all pages: FPDF, TCPDF, jsPDF.
    case dictionary
    /// The list of pages has it: scanners.
    case inherited
    /// Each page has its own, of shared parts.
    case categories
    /// Parts that pages draw have it: forms, forms without resources, stamps, patterns, glyphs, masks.
    case forms, bareForms, stamps, patterns, glyphs, masks
}

@Suite(.timeLimit(.minutes(5))) struct PDFToolUsedResourcesTests {
    private static let all =
        "/XObject 4 0 R /Font 5 0 R /Pattern \(each { "/P\($0) \($0)6 0 R" }) "
        + "/ExtGState \(each { "/G\($0) \($0)6 0 R" }) /ProcSet [/PDF]"
    private static let shared = "/Resources 3 0 R"

    private static func each(_ entry: (Int) -> String) -> String {
        "<< \((1...3).map(entry).joined(separator: " ")) >>"
    }

    /// Three pages, each of a picture, a font and a text that say which page they belong to. A picture and the font of
    /// another page have the same name.
    private func document(_ sharing: SharedResources, catalog: String = "", page extra: (Int) -> String = { _ in "" })
        -> PDFFixture
    {
        let inherited = sharing == .inherited ? Self.shared : ""
        var pdf = PDFFixture([
            "<< /Type /Catalog /Pages 2 0 R \(catalog) >>",
            "<< /Type /Pages /Kids [10 0 R 20 0 R 30 0 R] /Count 3 \(inherited) >>", "<< \(Self.all) >>",
            Self.each { "/R\($0) \($0)2 0 R /X\($0) \($0)6 0 R" },
            Self.each { "/R\($0 % 3 + 1) \($0)3 0 R /T\($0) \($0)6 0 R" },
        ])
        let resources = [.inherited: "", .categories: "/Resources << \(Self.all) >>"][sharing] ?? Self.shared
        let annotations = sharing == .stamps
        for page in 1...3 {
            pdf.objects += Array(repeating: Array("null".utf8), count: 10 * page - 1 - pdf.objects.count)
            let drawn = "q 90 0 0 90 5 5 cm /R\(page) Do Q BT /R\(page % 3 + 1) 9 Tf 9 9 Td (text-of-\(page)) Tj ET"
            let picture = "/Subtype /Image /Width 19 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8"
            let (first, second) = Self.parts(sharing, page, drawn)
            pdf.objects += [
                Array(
                    ("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 \(100 + page) 100] /Contents \(page)1 0 R "
                        + "\(resources) \(annotations ? "/Annots [\(page)6 0 R]" : "") \(extra(page)) >>").utf8
                ),
                PDFFixture.stream(Array((Self.content(sharing, page) ?? drawn).utf8)),
                PDFFixture.stream(Array("pixels-of-picture-\(page)".utf8), picture),
                Array("<< /Type /Font /Subtype /TrueType /BaseFont /Name\(page) /FontDescriptor \(page)4 0 R >>".utf8),
                Array("<< /Type /FontDescriptor /FontName /Name\(page) /Flags 4 /FontFile2 \(page)5 0 R >>".utf8),
                PDFFixture.stream(Array("program-of-font-\(page)".utf8)), first, second,
            ]
        }
        return pdf
    }

    /// The sixth and seventh object of a page, which draw its picture and its text.
    private static func parts(_ sharing: SharedResources, _ page: Int, _ drawn: String) -> ([UInt8], [UInt8]) {
        func stream(_ content: String, _ entries: String) -> [UInt8] { PDFFixture.stream(Array(content.utf8), entries) }
        let none = Array("null".utf8)
        let box = "/BBox [0 0 110 110]"
        let form = "/Type /XObject /Subtype /Form \(box) /Group << /S /Transparency /CS /DeviceRGB >>"
        let pattern = "/PatternType 1 /PaintType 1 /TilingType 1 /XStep 110 /YStep 110 \(box)"
        let stamp = "/Subtype /Stamp /Rect [0 0 110 110] /F 4 /AS /On /AP << /N << /On \(page)7 0 R >> >>"
        let font =
            "/Type /Font /Subtype /Type3 /FontBBox [0 0 110 110] /FontMatrix [.01 0 0 .01 0 0] /FirstChar 97 /LastChar 97 "
            + "/Widths [100] /Encoding << /Differences [97 /a] >> /CharProcs << /a \(page)7 0 R >> \(shared)"
        return switch sharing {
        case .dictionary, .inherited, .categories: (none, none)
        case .forms: (stream(drawn, "\(form) \(shared)"), none)
        case .bareForms: (stream(drawn, form), none)
        case .stamps: (Array("<< \(stamp) >>".utf8), stream(drawn, "\(box) \(shared)"))
        case .patterns: (stream(drawn, "\(pattern) \(shared)"), none)
        case .glyphs: (Array("<< \(font) >>".utf8), stream("100 0 d0 \(drawn)", ""))
        case .masks:
            (Array("<< /SMask << /S /Luminosity /G \(page)7 0 R >> >>".utf8), stream(drawn, "\(form) \(shared)"))
        }
    }

    private static func content(_ sharing: SharedResources, _ page: Int) -> String? {
        switch sharing {
        case .dictionary, .inherited, .categories: nil
        case .forms, .bareForms: "/X\(page) Do"
        case .stamps: ""
        case .patterns: "/Pattern cs /P\(page) scn 0 0 110 110 re f"
        case .glyphs: "BT /T\(page) 100 Tf (a) Tj ET"
        case .masks: "/G\(page) gs 0 0 110 110 re f"
        }
    }

    /// Expects the marks of these pages, in this file and in its parts that are compressed, and no mark of another.
    private func expect(_ pages: [Int], in file: URL, _ scratch: Scratch, _ message: String) async throws {
        try await scratch.check(file)
        let plain = try await scratch.tool("qpdf", ["--qdf", "--object-streams=disable", file.path, "-"])
        for bytes in try [Data(contentsOf: file), Data(plain)] {
            for page in 1...3 {
                for mark in ["pixels-of-picture-", "program-of-font-", "text-of-", "/Name"] {
                    let isFound = bytes.range(of: Data("\(mark)\(page)".utf8)) != nil
                    #expect(isFound == pages.contains(page), "\(message): \(mark)\(page)")
                }
            }
        }
    }

    @Test(
        "PDF-19 no byte of a picture, font or text is in the file of a document without their page",
        arguments: SharedResources.allCases
    )
    func removed(_ sharing: SharedResources) async throws {
        let scratch = try Scratch()
        let documents = scratch.engine.documents
        let original = try scratch.write(document(sharing).bytes, to: "in.pdf")
        let (whole, out) = (scratch.url("whole.pdf"), scratch.url("out.pdf"))
        _ = try await documents.importDocument(original, to: whole)
        try await expect([1, 2, 3], in: whole, scratch, "import")
        for source in [original, whole] {
            for pages in [[2], [1, 3], [3, 1]] {
                _ = try await documents.keep(pages, of: source, to: out)
                try await expect(pages, in: out, scratch, "\(sharing) \(pages) of \(source.lastPathComponent)")
                for (position, page) in pages.enumerated() {
                    let drawn = try await scratch.drawn(out, page: position + 1)
                    #expect(try await drawn == scratch.drawn(original, page: page), "\(pages): page \(page)")
                }
            }
            let merged = [ComposedPage(source: 1, page: 1), ComposedPage(source: 0, page: 3, rotateBy: 90)]
            _ = try await documents.compose(merged, of: [source, source], to: out)
            try await expect([1, 3], in: out, scratch, "merge")
        }
        _ = try await documents.keep([1], of: out, to: out)
        try await expect([1], in: out, scratch, "deletion from a merge")
    }

    @Test("PDF-19 nor is anything that the document has of such a page: bookmarks, fields, attachments, tags, layers")
    func document() async throws {
        let scratch = try Scratch()
        var pdf = document(
            .dictionary,
            catalog: """
                /Outlines << /First 40 0 R /Last 40 0 R >> /AcroForm << /Fields [41 0 R] /DA (secret) >> \
                /Names << /EmbeddedFiles << /Names [(secret) 43 0 R] >> /Dests << /Names [(secret) [20 0 R /Fit]] >> >> \
                /StructTreeRoot << /K [46 0 R] >> /Threads [45 0 R] /Metadata 42 0 R /PageLabels << /Nums [1 << /P \
                (secret) >>] >> /OCProperties << /OCGs [47 0 R 48 0 R] /D << /OFF [47 0 R 48 0 R] /Order [47 0 R [48 0 \
                R]] >> >>
                """,
            page: { page in
                let properties =
                    "/StructParents 0 /B [45 0 R] /Metadata 42 0 R /Thumb 42 0 R /PieceInfo << /X 42 0 R >>"
                return page == 2 ? "\(properties) /Annots [41 0 R 44 0 R]" : "/Annots [49 0 R]"
            }
        )
        let layers = "/Properties << /Seen 48 0 R /Other 47 0 R >> >>".utf8
        pdf.objects[2] = Array(pdf.objects[2].dropLast(2) + layers)
        pdf.objects[10] = PDFFixture.stream(Array("/OC /Seen BDC 0 0 9 9 re f EMC".utf8))
        pdf.objects += [
            "null", "null", "<< /Title (secret) /Dest [20 0 R /Fit] >>",
            "<< /Subtype /Widget /FT /Tx /T (secret) /V (secret) /Rect [0 0 9 9] /P 20 0 R >>",
            "<< /Length 6 >>\nstream\nsecret\nendstream", "<< /Type /Filespec /F (secret) /EF << /F 42 0 R >> >>",
            "<< /Subtype /Text /Contents (secret) /Rect [0 0 9 9] /Popup 49 0 R >>",
            "<< /Type /Thread /I << /Title (secret) >> /F << /T 45 0 R /P 20 0 R >> >>",
            "<< /S /P /Pg 20 0 R /ActualText (secret) >>", "<< /Type /OCG /Name (secret) >>",
            "<< /Type /OCG /Name (layer) >>",
            "<< /Subtype /Link /Rect [0 0 9 9] /Dest [20 0 R /Fit] /A << /S /GoTo /D [20 0 R /Fit] >> /Parent 41 0 R >>",
        ].map { Array($0.utf8) }
        let (file, out) = (try scratch.write(pdf.bytes, to: "in.pdf"), scratch.url("out.pdf"))
        _ = try await scratch.engine.documents.keep([1, 3], of: file, to: out)
        try await scratch.check(out)
        let text = try await scratch.text(of: "qpdf", ["--qdf", "--object-streams=disable", out.path, "-"])
        #expect(!text.contains("secret"))
        #expect(text.contains("(layer)") && text.contains("/OFF"))
    }

    @Test("PDF-19 what readers look for in the resources around is kept: of forms in forms, of default colours")
    func surroundings() async throws {
        let scratch = try Scratch()
        let form = "/Type /XObject /Subtype /Form /BBox [0 0 200 100]"
        var pdf = PDFFixture(widths: [200], content: "/A Do")
        let resources =
            "/XObject << /A 5 0 R /B 6 0 R /Deep 8 0 R >> /ColorSpace << /DefaultRGB [/CalRGB 9 0 R] /Named 10 0 R >>"
        pdf.objects[2] = Array(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 100] /Contents 4 0 R /Resources << \(resources) >> >>".utf8
        )
        pdf.objects += [
            PDFFixture.stream(Array("/B Do".utf8), "\(form) /Resources << /XObject << /Mid 7 0 R >> >>"),
            PDFFixture.stream(Array("/Mid Do /Deep Do".utf8), form),
            PDFFixture.stream(
                [255, 0, 0],
                "/Subtype /Image /Width 1 /Height 1 /ColorSpace /Named /BitsPerComponent 8"
            ),
            PDFFixture.stream(Array("0 1 0 rg 0 0 50 50 re f BI /W 1 /H 1 /CS /Named /BPC 8 ID abc EI".utf8), form),
            Array("<< /WhitePoint [.95 1 1.09] /Gamma [4 4 4] >>".utf8), Array("[/CalRGB 9 0 R]".utf8),
        ]
        let (file, out) = (try scratch.write(pdf.bytes, to: "in.pdf"), scratch.url("out.pdf"))
        _ = try await scratch.engine.documents.importDocument(file, to: out)
        try await scratch.check(out)
        #expect(try await scratch.drawn(out) == scratch.drawn(file))
        let text = try await scratch.text(of: "qpdf", ["--qdf", out.path, "-"])
        for name in ["/Mid", "/Deep", "/DefaultRGB", "/Named"] { #expect(text.contains(name), "\(name)") }
    }

    /// libqpdf 11.3 writes a number sign in a name without escaping it, which makes it another name.
    @Test("PDF-20 names with number signs, and of bytes that are not UTF-8, stay, however often it is written")
    func names() async throws {
        let scratch = try Scratch()
        for name in ["/G#231", "/F#23ab1", "/#23rbAeZ", "/A#23#23", "/#CB#CE#C3", "/With#20space#2F"] {
            var pdf = PDFFixture(widths: [200], content: "")
            let form = "/Type /XObject /Subtype /Form /BBox [0 0 200 100] /OPI << /X (gone) >>"
            let stamp = "<< /Subtype /Stamp /Rect [0 0 50 50] /F 4 /AS \(name) /AP << /N << \(name) 6 0 R >> >> >>"
            pdf.objects[2] = Array(
                ("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 100] /Contents 4 0 R /Annots [\(stamp)] /Resources "
                    + "<< /XObject << \(name) 5 0 R >> /ColorSpace << /S [/Separation \(name) /DeviceGray 7 0 R] >> >> >>")
                    .utf8
            )
            pdf.objects[3] = PDFFixture.stream(Array("/S cs 1 scn 50 50 150 50 re f \(name) Do".utf8))
            pdf.objects += [
                PDFFixture.stream(Array("1 0 0 rg 0 0 100 100 re f".utf8), form),
                PDFFixture.stream(Array("0 1 0 rg 0 0 30 30 re f".utf8), form),
                Array("<< /FunctionType 2 /Domain [0 1] /C0 [1] /C1 [0] /N 1 >>".utf8),
            ]
            let (file, out) = (try scratch.write(pdf.bytes, to: "in.pdf"), scratch.url("out.pdf"))
            _ = try await scratch.engine.documents.importDocument(file, to: out)
            let drawn = try await scratch.drawn(file)
            #expect(drawn.at(0.02, 0.95).isNear(.green) && drawn.at(0.4, 0.5).isNear(.red), "\(name)")
            for round in 1...3 {
                try await scratch.check(out)
                let bytes = try Data(contentsOf: out)
                #expect(bytes.range(of: Data("gone".utf8)) == nil, "\(name), written \(round) times")
                #expect(try await scratch.drawn(out) == drawn, "\(name), written \(round) times")
                _ = try await scratch.engine.documents.keep([1], of: out, to: out)
            }
        }
    }

    @Test("PDF-12 content that draws itself ends; a missing picture matters if the page draws it") func recursion()
        async throws
    {
        let scratch = try Scratch()
        let form = "/Type /XObject /Subtype /Form /BBox [0 0 9 9]"
        var deep = PDFFixture(widths: [200], content: "/X Do")
        let page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 100] /Contents 4 0 R"
        deep.objects[2] = Array("\(page) /Resources << /XObject << /X 5 0 R /Lost 9999 0 R >> >> >>".utf8)
        func forms(_ count: Int) -> [[UInt8]] {
            (0..<count).map { index in
                let next = index + 1 < count ? 6 + index : 5
                return PDFFixture.stream(Array("/X Do".utf8), "\(form) /Resources << /XObject << /X \(next) 0 R >> >>")
            }
        }
        let (objects, out) = (deep.objects, scratch.url("out.pdf"))
        for count in [1, 2, 90] {
            deep.objects = objects + forms(count)
            _ = try await scratch.engine.documents.importDocument(scratch.write(deep.bytes, to: "in.pdf"), to: out)
            try await scratch.check(out)
        }
        deep.objects = objects + forms(5000)
        await #expect(throws: MediaError.damaged("forms draw each other without end")) {
            try await scratch.engine.documents.importDocument(scratch.write(deep.bytes, to: "in.pdf"), to: out)
        }
        deep.objects = objects + forms(1)
        deep.objects[3] = PDFFixture.stream(Array("/X Do /Lost Do".utf8))
        await #expect(throws: MediaError.damaged("a picture, form, font or pattern is missing or unreadable")) {
            try await scratch.engine.documents.importDocument(scratch.write(deep.bytes, to: "in.pdf"), to: out)
        }
    }
}
