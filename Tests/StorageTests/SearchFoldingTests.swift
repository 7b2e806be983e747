import Testing

@testable import Storage

@Suite("Texts as searches compare them")
struct SearchFoldingTests {
    @Test(
        "NOTE-12 Case is folded fully, forms and width do not count, and letters are composed",
        arguments: [
            ("Straße", "strasse"), ("STRASSE", "strasse"), ("Σίσυφος", "σισυφοσ"), ("ΣΊΣΥΦΟΣ", "σισυφοσ"),
            ("ａｂｃ１２", "abc12"), ("ﬁsh", "fish"), ("ｶﾞﾗｽ", "ガラス"), ("①", "1"), ("Ǆ", "dz"), ("ſ", "s"), ("ﷲ", "الله"),
            ("\u{1100}\u{1161}\u{11A8}", "각"), ("e\u{301}", "e"), ("J\u{30C}", "j"), ("ǰ", "j"),
        ]
    )
    func forms(text: String, folded: String) {
        #expect(text.searchFolded == folded)
    }

    @Test(
        "NOTE-12 Diacritics of Latin and Greek letters, ё and points that readers supply do not count; other marks do",
        arguments: [
            ("Łódź", "lodz"), ("Ærø", "aero"), ("İstanbul", "istanbul"), ("Diyarbakır", "diyarbakir"), ("ёлка", "елка"),
            ("за\u{301}мок", "замок"), ("йод", "йод"), ("سَلامٌ", "سلام"), ("שָׁלוֹם", "שלום"), ("कि", "कि"),
            ("ก่า", "ก่า"),
        ]
    )
    func marks(text: String, folded: String) {
        #expect(text.searchFolded.unicodeScalars.elementsEqual(folded.unicodeScalars))
    }

    @Test("NOTE-12 Characters without a shape are left out, except those that join the parts of an emoji")
    func invisible() {
        #expect("so\u{AD}ft\u{200B}\u{FEFF} a\u{200D}b \u{202E}x".searchFolded == "soft ab x")
        let family = "👨\u{200D}👩\u{200D}👧"
        #expect(family.searchFolded.unicodeScalars.elementsEqual(family.unicodeScalars))
        #expect("❤\u{FE0F}\u{200D}🔥".searchFolded.unicodeScalars.elementsEqual("❤\u{200D}🔥".unicodeScalars))
    }

    @Test(
        "A flag is a part of a name as a whole only",
        arguments: [
            ("🇩🇪", "Berlin 🇩🇪", true), ("🇩", "Berlin 🇩🇪", false), ("🇪", "Berlin 🇩🇪", false), ("🇪🇺", "🇩🇪🇺🇸", false),
            ("🇺🇸", "🇩🇪🇺🇸", true), ("🇩🇪🇺🇸", "a🇩🇪🇺🇸b", true), ("n 🇩🇪", "Berlin 🇩🇪", true), ("🇩", "half 🇩 flag", true),
            ("🇩 f", "half 🇩 flag", true), ("🇩", "odd 🇪🇺🇩", true),
        ]
    )
    func flags(part: String, name: String, isPart: Bool) {
        #expect(name.partFolded.utf8.contains(part.partFolded.utf8) == isPart)
        #expect(SearchTerms.parts(of: name.partFolded).isSuperset(of: PartQuery(part).terms) == isPart)
    }

    @Test("Folding a folded text changes nothing, whatever the character")
    func idempotent() {
        let others = (UInt32(0)...0x2FFFF).lazy.filter { $0 % 7 == 0 || $0 < 0x3400 }.compactMap(Unicode.Scalar.init)
        let wrong = others.filter { scalar in
            let folded = String(scalar).searchFolded
            return !folded.searchFolded.unicodeScalars.elementsEqual(folded.unicodeScalars)
        }
        #expect(Array(wrong).isEmpty)
    }
}

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
