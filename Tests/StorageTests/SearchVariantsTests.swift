import Foundation
import GRDB
import TestKit
import Testing

@testable import Storage

@Suite("Other searches for a text")
struct SearchVariantsTests {
    private static let words = [
        "лампа настольная", "лампа", "кроссовки беговые", "чайник", "кружка", "елка", "футболка", "стол", "стул",
        "running shoes", "boots", "battery", "laptop", "headphones", "wi-fi router", "t-shirt", "iphone", "nike",
        "keyboard", "smartwatch", "sofa", "nike",
    ]

    /// Returns the first variant whose words some text has all of.
    private func variant(_ text: String) throws -> SearchVariant? {
        let rows = Self.words.map { StoredWords.words(of: $0.searchFolded) }
        return try SearchVariants.first(for: text, among: StoredWords(of: Self.words)) { variant in
            rows.contains { row in variant.words.allSatisfy { $0.contains { $0.allSatisfy(row.contains) } } }
                ? true : nil
        }?.variant
    }

    @Test(
        "ONE-08 the way by which each text is found",
        arguments: [
            ("ЛАМПА", "лампа", []), ("настольная лампа", "настольная лампа", []), ("router wi", "router wi", []),
            ("Ёлка", "елка", []), ("лампу", "лампа", [.stem]), ("лампы", "лампа", [.stem]),
            ("boot", "boots", []), ("batteries", "battery", [.stem]), ("run shoe", "running shoes", []),
            ("кросовки", "кроссовки", [.typo]), ("чайнкик", "чайник", [.typo]), ("чйаник", "чайник", [.typo]),
            ("айник", "чайник", [.typo]), ("laptpo", "laptop", [.typo]), ("keybaord", "keyboard", [.typo]),
            ("wifi", "wi fi", [.typo]), ("lap top", "laptop", [.typo]), ("smart watch", "smartwatch", [.typo]),
            ("krossovki", "кроссовки", [.transliteration]), ("айфон", "iphone", [.transliteration]),
            ("найк", "nike", [.transliteration]), ("kruzhka", "кружка", [.transliteration]),
            ("софа", "sofa", [.transliteration]), ("lampu", "лампа", [.stem, .transliteration]),
            ("kfvgf", "лампа", [.layout]), ("xfqybr", "чайник", [.layout]), ("ащщещи", nil, []),
            ("ддфзещз", "laptop", [.typo, .layout]), ("дфзещз", "laptop", [.layout]),
            ("kfvge", "лампа", [.stem, .layout]),
            ("[jkjlbkmybr", nil, []), ("zzzzzz", nil, []), ("", nil, []), ("🐈", nil, []),
        ] as [(String, String?, [SearchWay])]
    )
    func ways(text: String, found: String?, used: [SearchWay]) throws {
        let variant = try variant(text)
        #expect(variant?.text == found, "\(text): \(String(describing: variant))")
        #expect(variant?.used ?? [] == used, "\(text): \(String(describing: variant))")
    }

    @Test("ONE-08 one letter changed, missing or added, and two in the other order, are one error")
    func distance() {
        func isOne(_ one: String, _ other: String) -> Bool {
            EditDistance.isOne(Array(one.unicodeScalars), Array(other.unicodeScalars))
        }
        for (one, other) in [
            ("abcd", "abxd"), ("abcd", "abd"), ("abcd", "abccd"), ("abcd", "acbd"), ("ab", "ba"), ("", "a"),
        ] {
            #expect(isOne(one, other) && isOne(other, one), "\(one) \(other)")
        }
        for (one, other) in [("abcd", "abcd"), ("abcd", "axxd"), ("abcd", "ab"), ("abcd", "cbad"), ("abcd", "bcda")] {
            #expect(!isOne(one, other) && !isOne(other, one), "\(one) \(other)")
        }
    }

    @Test("ONE-08 an error at any place of a word of at least four letters is found, in a table as in memory")
    func errors() throws {
        let database = try LarderDatabase.withCacheTables(in: .temporary(), migrations: [], logger: .quiet)
        let vocabulary = SearchVocabulary("word")
        let words: Set = ["лампа", "keyboard", "чай", "desk"]
        try database.write { db in
            try db.execute(sql: vocabulary.creation)
            try vocabulary.change([], to: words, of: 7, db)
            try vocabulary.change([], to: ["другое"], of: 8, db)
        }
        var generator = SeededRandom(seed: 1)
        for word in words where word.count >= 4 {
            for _ in 0..<200 {
                let wrong = Self.mistyped(word, &generator)
                guard wrong.count >= 4, !words.contains(wrong) else { continue }
                let found = try database.read { db in
                    try SearchVariants.first(for: wrong, among: vocabulary.words(of: 7, db)) {
                        $0.text == word ? $0 : nil
                    }
                }
                #expect(found != nil, "\(wrong) for \(word)")
            }
        }
        try database.write { try vocabulary.change(words, to: ["чай"], of: 7, $0) }
        let left = try database.read { try String.fetchAll($0, sql: "SELECT word FROM word ORDER BY word") }
        #expect(left == ["другое", "чай"])
    }

    @Test("ONE-08 words are looked up by their beginnings and ends in an index, and none is sorted")
    func plans() throws {
        let database = try LarderDatabase.withCacheTables(in: .temporary(), migrations: [], logger: .quiet)
        let vocabulary = SearchVocabulary("word")
        try database.write { try $0.execute(sql: vocabulary.creation) }
        let arguments: StatementArguments = [1, "a", "b", 1, 9]
        for (sql, index) in [
            (vocabulary.byBeginning, "PRIMARY KEY (owner=? AND word>? AND word<?)"),
            (vocabulary.byEnd, "INDEX word_by_end (owner=? AND reversed>? AND reversed<?)"),
        ] {
            let plan = try QueryPlan(sql, arguments, in: database)
            #expect(plan.description.contains(index) && !plan.sorts, "\(plan)")
        }
    }

    private static func mistyped(_ word: String, _ generator: inout SeededRandom) -> String {
        var letters = Array(word)
        let index = Int.random(in: 0..<letters.count, using: &generator)
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: letters[index] = "щ"
        case 1: letters.remove(at: index)
        case 2: letters.insert("щ", at: index)
        default: if index > 0 { letters.swapAt(index - 1, index) }
        }
        return String(letters)
    }

    @Test(
        "ONE-08 whatever the text, the work is bounded",
        arguments: [
            String(repeating: "щ", count: 10_000), String(repeating: "шщ ", count: 5000),
            String(repeating: "shchyaioxe ", count: 1000), String(repeating: "\u{202E}a\u{300}", count: 3000),
            String(repeating: "ﷺ", count: 2000), "\" OR * NEAR(", "a\u{0}b", String(repeating: "\u{1F1E6}", count: 999),
        ]
    )
    func bounds(text: String) throws {
        let variants = SearchVariants(StoredWords(of: Self.words))
        var searches = 0
        let found = try variants.first(for: text.searchFolded) { variant -> Bool? in
            searches += 1
            #expect(variant.words.count <= WordQuery.mostWords)
            #expect(variant.words.allSatisfy { $0.count <= SearchVariant.mostAlternatives })
            return nil
        }
        #expect(found == nil && searches <= 6 && variants.lookups < SearchVariants.mostLookups + 10)
    }

    @Test("a word has a bounded number of spellings, its usual one among the first")
    func spellings() {
        for (word, spelling) in [
            ("кружка", "kruzhka"), ("щука", "shchuka"), ("krossovki", "кроссовки"), ("shchetka", "щетка"),
            ("chaynik", "чайник"), ("iphone", "айфон"), ("вайфай", "wifi"), ("yabloko", "яблоко"),
        ] {
            let found = Transliteration.spellings(of: word)
            #expect(found.contains(spelling) && found.count <= Transliteration.most, "\(word): \(found)")
        }
        #expect(Transliteration.spellings(of: "straße").isEmpty && Transliteration.spellings(of: "").isEmpty)
        #expect(KeyboardLayout.other(",jnbyrb") == "ботинки" && KeyboardLayout.other("ищще") == "boot")
        #expect(KeyboardLayout.other("лампа led") == nil && KeyboardLayout.other("123") == nil)
    }
}
