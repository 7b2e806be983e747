import Foundation
import Testing

@testable import Media

@Suite(.timeLimit(.minutes(5))) struct PDFToolFieldsTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// A page of 200 × 200 points with a form. Objects 5 and 6 are appearances, green and blue.
    private func document(_ form: String, _ fields: [String]) -> PDFFixture {
        let widgets = fields.indices.map { "\(7 + $0) 0 R" }.joined(separator: " ")
        var pdf = PDFFixture([
            "<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [\(widgets)] \(form) >> >>",
            "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents 4 0 R /Annots [\(widgets)] >>",
        ])
        let box = "/Type /XObject /Subtype /Form /BBox [0 0 10 10]"
        pdf.objects += [
            PDFFixture.stream([]), PDFFixture.stream(Array("0 1 0 rg 0 0 10 10 re f".utf8), box),
            PDFFixture.stream(Array("0 0 1 rg 0 0 10 10 re f".utf8), box),
        ]
        pdf.objects += fields.map { Array("<< /Subtype /Widget /F 4 \($0) >>".utf8) }
        return pdf
    }

    private func imported(_ pdf: PDFFixture, _ scratch: Scratch) async throws -> [InputNotice.Kind] {
        let file = try scratch.write(pdf.bytes, to: "in.pdf")
        let summary = try await scratch.engine.documents.importDocument(file, to: scratch.url("out.pdf"))
        try await scratch.check(scratch.url("out.pdf"))
        let text = try await scratch.text(of: "qpdf", ["--qdf", scratch.url("out.pdf").path, "-"])
        #expect(!text.contains("/FT") && !text.contains("AcroForm"))
        return summary.notices.map(\.kind)
    }

    @Test("PDF-20 values without an appearance, or with an outdated one, are drawn in any script, and a notice says so")
    func values() async throws {
        let fields = [
            "/FT /Tx /Rect [10 170 190 190] /V <FEFF041F04400438043204350442> /DA (/F 0 Tf 0 g) /AP << /N 5 0 R >>",
            "/FT /Tx /Ff 4096 /Rect [10 120 190 160] /V (first line\\nsecond line) /Q 2 /MK << /BG [1 0 0] >>",
            "/FT /Tx /Ff 16777216 /MaxLen 6 /Rect [10 100 190 115] /V (COMB42) /DA (0 0 1 rg /F 9 Tf)",
            "/FT /Ch /Ff 131072 /Rect [10 80 90 95] /V (b) /Opt [[(a) (Apple)] [(b) (Banana)]]",
            "/FT /Ch /Rect [100 50 190 95] /V (Oak) /Opt [(Elm) (Oak) (Fir)]",
            "/FT /Tx /Ff 8192 /Rect [10 60 90 75] /V (secret)",
            "/FT /Btn /Ff 65536 /Rect [10 40 90 55] /MK << /CA (Send) >>",
            "/FT /Sig /Rect [10 20 90 30] /V << /Type /Sig >>", "/FT /Tx /Rect [0 0 0 0] /V (hidden)",
            "/FT /Btn /V /Off /AS /Off /Rect [120 10 190 30] /AP << /N << /On << >> >> >> /MK << /BG [1 0 0] >>",
        ]
        let notices = try await imported(document("/NeedAppearances true", fields), scratch)
        #expect(notices == [.fieldsRemoved, .signaturesRemoved, .fieldsDrawn])
        let out = scratch.url("out.pdf")
        let text = try await scratch.text(of: "pdftotext", ["-layout", out.path, "-"])
        for part in ["Привет", "first line", "second line", "Banana", "Elm", "Oak", "Fir", "Send", "******"] {
            #expect(text.contains(part), "\(part)")
        }
        #expect(text.filter { !$0.isWhitespace }.contains("COMB42") && !text.contains("secret"))
        let drawn = try await scratch.drawn(out)
        #expect(drawn.at(0.5, 0.225).isNear(.red), "the background")
        #expect(drawn.at(0.8, 0.9).isNear(.red), "a state that is no appearance")
        // The old appearance was green all over.
        #expect(!drawn.at(0.9, 0.07).isNear(.green))
        _ = try await scratch.engine.documents.keep([1], of: out, to: scratch.url("again.pdf"))
        #expect(try await scratch.drawn(scratch.url("again.pdf")) == drawn)
    }

    @Test("PDF-20 buttons have the state of their value if appearances are outdated or it is not said") func buttons()
        async throws
    {
        let states = "/AP << /N << /One 5 0 R /Off 6 0 R >> >>"
        let radio = "/FT /Btn /Ff 32768 /Parent << /FT /Btn /Ff 32768 /V /One >>"
        func fields(_ state: String) -> [String] {
            [
                "\(radio) /Rect [0 100 100 200] \(state) \(states)",
                "/FT /Btn /V /Other /Rect [100 100 200 200] /AS /One \(states)",
            ]
        }
        for (form, state, isChanged) in [
            ("/NeedAppearances true", "/AS /Off", true), ("/NeedAppearances false", "", true), ("", "/AS /One", false),
        ] {
            let notices = try await imported(document(form, fields(state)), scratch)
            #expect(notices == [.fieldsRemoved] + (isChanged ? [.fieldsDrawn] : []), "\(form) \(state)")
            let drawn = try await scratch.drawn(scratch.url("out.pdf"))
            #expect(drawn.at(0.25, 0.25).isNear(.green), "\(form) \(state)")
            #expect(drawn.at(0.75, 0.25).isNear(form.contains("true") ? .blue : .green), "\(form) \(state)")
        }
    }

    @Test("PDF-20 fields whose appearance is up to date look as before; only that they are no fields is reported")
    func upToDate() async throws {
        let fields = ["/FT /Tx /Rect [10 170 190 190] /V (value) /AP << /N 5 0 R >>"]
        #expect(try await imported(document("/DA (/F 9 Tf)", fields), scratch) == [.fieldsRemoved])
        #expect(try await scratch.drawn(scratch.url("out.pdf")) == scratch.drawn(scratch.url("in.pdf")))
    }

    @Test("PDF-20 fields that contradict themselves end in a document or a typed error") func odd() async throws {
        let odd = [
            "/FT /Tx /Rect [0 0 100 100] /Parent 7 0 R", "/FT /Tx /Rect [0 0 999999999 5] /V (x) /MK << /R 90 >>",
            "/FT (Tx) /Rect 5 /V 7 0 R",
            "/FT /Ch /Rect [0 0 100 9] /Opt 7 0 R /V [[] 5 (x)] /TI -3 /Q 99 /MK [] /BS 3 /DA (Tf rg 9 /x [ k)",
            "/FT /Tx /Ff 16777216 /MaxLen 999999 /Rect [0 0 100 9] /V (\(String(repeating: "word ", count: 2000)))",
            "/FT /Tx /Ff 4096 /Rect [0 0 3 3] /V <FEFFD800> /MK << /BG [9 9] /BC [1 2 3 4] /R 45 >> /AP << /N null >>",
        ]
        let notices = try await imported(document("/NeedAppearances true /DA 5 /DR []", odd), scratch)
        #expect(notices == [.fieldsRemoved, .fieldsDrawn])
    }

    @Test("PDF-20 bookmarks and attached files that are left behind are reported") func losses() async throws {
        var pdf = document("", ["/Subtype /FileAttachment /Rect [0 0 9 9]"])
        pdf.objects[0] = Array("<< /Type /Catalog /Pages 2 0 R /Outlines << /First 8 0 R >> >>".utf8)
        pdf.objects.append(Array("<< /Title (x) >>".utf8))
        pdf.objects[6] = Array("<< /Subtype /FileAttachment /Rect [0 0 9 9] >>".utf8)
        #expect(try await imported(pdf, scratch) == [.bookmarksRemoved, .attachmentsRemoved])
    }

    @Test(
        "PDF-20 labels of pages, links within, multimedia and signatures that are left behind are reported",
        arguments: [
            ("/PageLabels << /Nums [0 << /S /r >> 4 << /S /D >>] >>", "", [.pageLabelsRemoved]),
            ("/PageLabels << /Nums [0 << /P (A-) /S /D >>] >>", "", [.pageLabelsRemoved]),
            ("/PageLabels << /Nums [0 << /S /D >>] >>", "", []),
            ("/PageLabels << /Nums 7 >>", "", [.pageLabelsRemoved]),
            ("", "/Subtype /Link /Dest [3 0 R /Fit]", [.linksRemoved]),
            ("", "/Subtype /Link /A << /S /GoTo /D (chapter) >>", [.linksRemoved]),
            ("", "/Subtype /Link /A << /S /URI /URI (file:///etc/passwd) >>", [.linksRemoved]),
            ("", "/Subtype /Link /A << /S /URI /URI (https://example.org) >>", []), ("", "/Subtype /Link", []),
            ("", "/Subtype /RichMedia", [.multimediaRemoved]), ("", "/Subtype /Highlight", []),
            ("/AcroForm << /Fields [<< /FT /Sig /V << /Type /Sig >> >>] >>", "", [.signaturesRemoved]),
            ("/AcroForm << /Fields [8 0 R] >>", "", [.signaturesRemoved]),
            ("", "/Subtype /Widget /Parent << /FT /Sig /V << /Type /Sig >> >>", [.signaturesRemoved]),
            ("", "/Subtype /Widget /FT /Sig", []), ("/AcroForm << /Fields [1 0 R 7 0 R 7 0 R] >>", "", []),
            ("/AcroForm << /Fields 5 >>", "/Subtype /Widget /FT /Tx /AP << /N 5 0 R >>", [.fieldsRemoved]),
        ] as [(String, String, [InputNotice.Kind])]
    )
    func losses(catalog: String, annotation: String, kinds: [InputNotice.Kind]) async throws {
        var pdf = document("", [""])
        pdf.objects[0] = Array("<< /Type /Catalog /Pages 2 0 R \(catalog) >>".utf8)
        pdf.objects[6] = Array("<< /Rect [0 0 9 9] \(annotation) >>".utf8)
        // A signature that is on no page.
        pdf.objects.append(Array("<< /FT /Sig /Kids [9 0 R] >>".utf8))
        pdf.objects.append(Array("<< /Parent 8 0 R /V << /Type /Sig >> >>".utf8))
        #expect(try await imported(pdf, scratch) == kinds)
    }
}
