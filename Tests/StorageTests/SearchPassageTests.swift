import TestKit
import Testing

@testable import Storage

@Suite("Phrases and passages of a search")
struct SearchPassageTests {
    /// The passage with its hits in brackets.
    private static func passage(_ words: [(String, isComplete: Bool)], in text: String) -> String? {
        var wanted = SearchWords()
        for (word, isComplete) in words { wanted.add(word, isComplete: isComplete) }
        return SearchPassage(of: text, words: wanted)?.parts.map { $0.hit ? "[\($0.text)]" : $0.text }.joined()
    }

    @Test(
        "NOTE-15 The words of a search are marked as they are written, whatever their form in the search",
        arguments: [
            ("dog out", "A dog outside", "A [dog] [out]side"), ("og", "A dog", nil),
            ("STRASSE", "Die Straße.", "Die [Straße]."),
            ("zur", "Café Zürich", "Café [Zür]ich"), ("東京", "今日は東京で", "今日は[東京]で"),
            ("777888", "Счёт №777888", "Счёт №[777888]"),
            ("km", "5㎞ on foot", "5[㎞] on foot"), ("№777888", "Счёт №777888", "Счёт [№][777888]"),
            ("👍", "Good👍🏽!", "Good[👍🏽]!"),
            ("الاسكندرية", "في الإسكندرية", "في [الإسكندرية]"), ("c++", "C++ and C", "[C++] and C"), ("!!", "a", nil),
            ("a b", "a\nb\r\na", "[a] [b] [a]"),
        ] as [(String, String, String?)]
    )
    func marks(words: String, text: String, expected: String?) {
        #expect(Self.passage([(words, false)], in: text) == expected)
    }

    @Test("NOTE-15 A hit far within a text has some words before and behind, none of them cut")
    func window() throws {
        let text =
            (1...500).map { "word\($0)" }.joined(separator: " ") + " needle " + String(repeating: "tail ", count: 500)
        let found = try #require(Self.passage([("needle", true)], in: text))
        #expect(found.hasPrefix("…word") && found.hasSuffix("tail…") && found.contains(" word500 [needle] tail"))
        #expect(found.count < 170)
        let long = String(repeating: "x", count: 300)
        #expect(try #require(Self.passage([(long, true)], in: "a \(long) b")).count < 170)
        #expect(Self.passage([("needle", true)], in: String(repeating: "a ", count: 60_000) + "needle") == nil)
    }

    @Test("NOTE-15 A passage is part of its text, and each of its hits is one of the words")
    func anything() throws {
        var chance = SeededRandom(seed: 15)
        let pieces = ["dog", "Dogs", " ", "\n", "東京", "é", "№5", "Straße", "🎉", ".", "\u{301}", "ß", "ａ"]
        for _ in 0..<2000 {
            let text = (0..<Int.random(in: 0...80, using: &chance)).map { _ in
                pieces.randomElement(using: &chance) ?? ""
            }
            .joined()
            var words = SearchWords()
            words.add(pieces.randomElement(using: &chance) ?? "", isComplete: Bool.random(using: &chance))
            guard let passage = SearchPassage(of: text, words: words) else { continue }
            let plain = passage.parts.map(\.text).joined()
            #expect(passage.parts.contains(where: \.hit) && plain.count <= 164)
            let inner = plain.unicodeScalars.drop { $0 == "…" }.prefix { $0 != "…" }
            let whole = String(text.map { $0.isNewline ? " " : $0 })
            #expect(Array(whole.unicodeScalars).contains(Array(inner)), "\(text) \(plain)")
        }
    }

    @Test(
        "NOTE-15 The words of a phrase follow each other, whatever is between them",
        arguments: [
            ("dog outside", true), ("Dog, OUTSIDE", true), ("dog out", false), ("a outside", false),
            ("outside a", false),
            ("outside 東京", true), ("outside 京都", false), ("no 5", true), ("№5", true),
        ]
    )
    func phrases(phrase: String, isFound: Bool) throws {
        let text = SearchPhraseText("A dog\noutside 東京都庁; №5")
        #expect(text.has(try #require(SearchPhrase(phrase))) == isFound)
    }

    @Test("NOTE-15 The last word of a phrase that is being typed may be the beginning of one")
    func typed() throws {
        let text = SearchPhraseText("a dog outside")
        #expect(text.has(try #require(SearchPhrase("dog out", isComplete: false))))
        #expect(SearchPhrase("-") == nil && SearchPhrase("dog")?.isWord == true)
    }

    @Test("NOTE-15 A sign such as № is a word of its own and part of the word beside it; other forms are as before")
    func signs() {
        let found = { (text: String, query: String) in
            let (terms, query) = (SearchTerms(text), WordQuery(query, isComplete: true))
            return query.terms.allSatisfy(terms.terms.contains)
        }
        for (text, query) in [
            ("№777888", "777888"), ("№777888", "no777888"), ("№777888", "№777888"), ("№ 5", "no 5"), ("5㎞", "km"),
            ("5㎞", "5"), ("5㎞", "5km"), ("20℃", "20"), ("Larder™", "larder"), ("x²", "x"), ("x²", "x2"),
            ("ﬁsh", "fish"),
            ("㍿", "株式"), ("أحمد", "احمد"), ("مكتبة", "مكتبه"), ("مصطفى", "مصطفي"),
        ] {
            #expect(found(text, query), "\(text) \(query)")
        }
        #expect(!found("ﬁsh", "sh") && !found("№777888", "77788"))
    }
}
