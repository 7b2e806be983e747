import Foundation
import MediaFormats
import Testing

@testable import PDFWorker

@Suite struct PDFJobTests {
    @Test("jobs and messages survive their JSON") func roundTrip() throws {
        let jobs: [PDFJob] = [
            .pictures(
                .init(
                    files: [.init(path: "a \"b\" [c].jpg", origin: .client), .init(path: "b", origin: .decoder)],
                    layout: .a4,
                    title: "Ünïcode 😀",
                    output: "o.pdf"
                )
            ),
            .compose(
                .init(
                    sources: ["a", "b"],
                    pages: [ComposedPage(source: 1, page: 2, rotateBy: -90)],
                    title: nil,
                    output: "o",
                    maximumPages: 5000
                )
            ),
            .text(.init(text: "a\nb\u{0}", locale: "ja", title: nil, output: "o", maximumPages: 500)),
            .inspect(.init(file: "f", maximumPages: 1)),
            .glyphs(text: "x"),
        ]
        for job in jobs { #expect(try JSONDecoder().decode(PDFJob.self, from: JSONEncoder().encode(job)) == job) }
        let messages: [PDFWorkerMessage] = [
            .progress(done: 1, total: 2),
            .done(
                PDFDocumentSummary(
                    pages: [PDFPage(width: 1, height: 2.5, rotation: 90)],
                    title: "t\n",
                    wasEncrypted: true,
                    missingGlyphs: ["ᚠ"]
                )
            ),
            .failed(.damaged("x\ny"), input: 3), .failed(.encrypted, input: nil),
            .failed(.tooManyPages(limit: 1), input: nil),
            .failed(.noSuchPage(0), input: 0), .failed(.timedOut, input: 1),
        ]
        for message in messages {
            let line = try JSONEncoder().encode(message)
            #expect(!line.contains(0x0A))
            #expect(try JSONDecoder().decode(PDFWorkerMessage.self, from: line) == message)
        }
    }
}

@Suite struct JobErrorTests {
    @Test("an error names the file that it is about, unless the machine is at fault") func naming() {
        #expect(throws: JobError(.encrypted, input: 2)) { try JobError.naming(2) { throw JobError(.encrypted) } }
        #expect(throws: JobError(.encrypted, input: 1)) {
            try JobError.naming(2) { throw JobError(.encrypted, input: 1) }
        }
        #expect(throws: JobError(.other("disk"))) { try JobError.naming(2) { throw JobError(.other("disk")) } }
        #expect(throws: JobError(.damaged("the picture ends too early"), input: 0)) {
            try JobError.naming(0) { throw PictureHeaderError.truncated }
        }
    }
}

@Suite struct PlainTextTests {
    @Test("line breaks of all kinds are one; control characters go") func cleaned() {
        #expect(PlainText.cleaned("a\r\nb\rc\u{2028}d\u{85}e\u{0}f\u{1B}[0m\tg") == "a\nb\nc\nd\nef[0m\tg")
        #expect(PlainText.cleaned("👩‍👩‍👧 e\u{301} \u{200F}א") == "👩‍👩‍👧 e\u{301} \u{200F}א")
    }

    @Test("PDF-09 Korean as macOS writes it is composed; an ideograph of its own code stays") func composed() {
        let text = PlainText.cleaned("\u{1112}\u{1161}\u{11AB}\u{FA19}e\u{301}\r\n")
        #expect(text.unicodeScalars.elementsEqual("\u{D55C}\u{FA19}\u{E9}\n".unicodeScalars))
    }

    @Test("paragraphs and pages") func paragraphs() {
        #expect(PlainText.paragraphs(of: "a\n\nb") == [.text("a"), .text(""), .text("b")])
        #expect(PlainText.paragraphs(of: "a\n") == [.text("a")])
        #expect(PlainText.paragraphs(of: "a\n\u{0C}b\u{0C}\n\n") == [.text("a"), .pageBreak, .text("b")])
        #expect(PlainText.paragraphs(of: "\n\n") == [])
    }

    @Test("each character once, combined ones whole") func alphabet() {
        #expect(PlainText.alphabet(of: "aba e\u{301}\n b") == "a\nb\ne\u{301}")
    }
}

@Suite struct FieldLookTests {
    @Test(
        "a default appearance has the size and the colour of the text",
        arguments: [
            ("0 0 1 rg /Helv 12 Tf", 12, [0, 0, 1]), ("/Helv 0 Tf 0.5 g", nil, [0.5]),
            ("/F 9.5 Tf 0 0 0 1 k 1 Tz", 9.5, [0, 0, 0, 1]), ("", nil, [0]), ("Tf rg 9 /x -3 Tf 1 2 g", nil, [0]),
        ] as [(String, Double?, [Double])]
    )
    func style(operators: String, size: Double?, color: [Double]) {
        var look = FieldLook(width: 1, height: 1)
        look.style(by: operators)
        #expect(look.fontSize == size)
        #expect(look.color == color)
    }

    @Test("colours of gray, RGB and CMYK are red, green and blue") func colors() {
        #expect(FieldLook.rgb([0.5]) == (0.5, 0.5, 0.5))
        #expect(FieldLook.rgb([0.1, 0.2, 0.3]) == (0.1, 0.2, 0.3))
        #expect(FieldLook.rgb([1, 0, 0, 0]) == (0, 1, 1))
        #expect(FieldLook.rgb([]) == (0, 0, 0))
    }
}
