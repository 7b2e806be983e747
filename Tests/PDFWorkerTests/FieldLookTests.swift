import Testing

@testable import PDFWorker

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
