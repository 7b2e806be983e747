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
