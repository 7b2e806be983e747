import Testing

@testable import PDFWorker

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
