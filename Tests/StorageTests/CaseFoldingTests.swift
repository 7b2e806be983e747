import Storage
import Testing

@Suite struct CaseFoldingTests {
    @Test(
        "texts that differ in case, or in how accents are composed, are one",
        arguments: [
            ("ЛАМПА", "лампа"), ("Étoile", "E\u{301}TOILE"), ("ΣΊΣΥΦΟΣ", "σίσυφος"), ("MUG", "mug"), ("\u{212A}", "k"),
            ("ſ", "S"), ("Ё", "ё"),
        ]
    )
    func same(a: String, b: String) {
        #expect(a.caseFolded == b.caseFolded)
    }

    @Test(
        "what is not the same stays apart",
        arguments: [("ß", "s"), ("ı", "i"), ("е", "e"), ("ё", "е"), ("a", "a "), ("1", "١")]
    )
    func different(a: String, b: String) {
        #expect(a.caseFolded != b.caseFolded)
    }
}
