import Foundation
import TestKit
import Testing

@testable import Storage

@Suite("Searches for words")
struct WordQueryTests {
    /// Whether a search finds a text, without any index.
    private func finds(_ question: String, in text: String) -> Bool {
        let (query, found) = (WordQuery(question), SearchTerms(text))
        let passages = found.passages.split(separator: "\n")
        return !query.isEmpty && query.terms.allSatisfy(found.terms.contains)
            && query.passages.allSatisfy { part in passages.contains { $0.contains(part) } }
    }

    @Test(
        "NOTE-12 All words must occur, the last as a beginning, in any case, width and form",
        arguments: [
            ("dogs ba", "a dogs bark", true), ("do ba", "dogs bark", false), ("og", "dogs", false),
            ("GRÜSSE", "Grüße", true), ("grusse", "Grüße", true), ("fussg", "Fußgänger", true), ("fi", "ﬁsh", true),
            ("ﬁsh", "fish", true), ("ａｂｃ", "abc", true), ("e\u{301}tude", "ÉTUDE", true), ("½", "1/2", true),
            ("12.5", "12.50", true), ("foo@bar.com", "mail to foo@bar.com", true), ("bar", "foo@bar.com", true),
            ("c++", "C++ code", true), ("c++", "c code", false), ("c", "C++ code", true), ("c+", "C++", true),
            ("c++ code", "C++ code", true), ("c#", "f# and c#", true), ("d#", "f# and c#", false),
            ("internationalizationings", "Internationalizationings", true), ("कि", "किताब", true),
        ]
    )
    func words(question: String, text: String, isFound: Bool) {
        #expect(finds(question, in: text) == isFound)
    }

    @Test(
        "NOTE-12 Parts of Chinese, Japanese, Korean and Thai words are found, and no part that is not there",
        arguments: [
            ("北", "我在北京大学", true), ("京大", "我在北京大学", true), ("北京大学", "我在北京大学", true), ("北大", "我在北京大学", false),
            ("東京都庁舎", "東京都庁 京都庁舎", false), ("東京都庁", "東京都庁 京都庁舎", true), ("ｶﾀｶﾅ", "カタカナ", true), ("찌개", "김치찌개", true),
            ("김치찌개", "김치찌개", true), ("치개", "김치찌개", false), ("แมว", "ฉันเลี้ยงแมวสองตัว", true),
            ("เลี้ยงแมว", "ฉันเลี้ยงแมวสองตัว", true), ("แมวตัว", "ฉันเลี้ยงแมวสองตัว", false),
            ("IPHONE手", "iPhone手机", true),
        ]
    )
    func passages(question: String, text: String, isFound: Bool) {
        #expect(finds(question, in: text) == isFound)
        #expect(finds(question.decomposedStringWithCompatibilityMapping, in: text) == isFound)
        #expect(finds(question, in: text.decomposedStringWithCanonicalMapping) == isFound)
    }

    @Test(
        "NOTE-12 Emoji are found by themselves, by their parts and without their skin tones, flags as a whole",
        arguments: [
            ("👍", "👍🏽", true), ("👍🏽", "👍🏽", true), ("👍🏽", "👍", false), ("👩", "👨‍👩‍👧", true), ("👨‍👩", "👨‍👩‍👧", true),
            ("👨‍👩‍👧", "x👨‍👩‍👧", true), ("👨‍👧", "👨‍👩‍👧", false), ("👩‍🚀", "👩🏽‍🚀", true), ("🔥", "❤️‍🔥", true),
            ("❤", "❤️", true),
            ("🇩🇪", "🇫🇷🇩🇪", true), ("🇷🇩", "🇫🇷🇩🇪", false), ("🏴󠁧󠁢󠁥󠁮󠁧󠁿", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", true), ("🏴󠁧󠁢󠁥󠁮󠁧󠁿", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", false),
            ("🎉🎃", "🎃 or 🎉", true),
            ("☐ milk", "☐ Milk", true), ("🎃 tonight", "tonight 🎉", false),
        ]
    )
    func emoji(question: String, text: String, isFound: Bool) {
        #expect(finds(question, in: text) == isFound)
    }

    @Test(
        "Nothing to search for: no letter, digit or emoji",
        arguments: ["", " ", "!? …", "\u{301}", "\u{FE0F}", "\u{200D}", "+#", "\u{0}"]
    )
    func empty(question: String) {
        #expect(WordQuery(question).isEmpty)
    }

    @Test("A search has a bounded number of terms, whatever its length")
    func bounded() {
        #expect(WordQuery(String(repeating: "ab cd ", count: 2000)).terms.count <= WordQuery.mostWords)
        let long = WordQuery(String(repeating: "北京大学图书馆", count: 500))
        #expect(long.terms.count <= WordQuery.mostGrams && long.passages.count == 1)
        let emoji = String(repeating: "🎉🎃", count: 900)
        #expect(WordQuery(emoji + " " + emoji).terms.count <= WordQuery.mostWords * WordQuery.mostWords)
        #expect(WordQuery(String(repeating: "a", count: 10_000)).terms == [String(repeating: "a", count: 24)])
    }

    @Test("No term has what separates terms or is syntax of the index")
    func separators() {
        let ascii = String(String.UnicodeScalarView((UInt8(0)...0x7F).map { Unicode.Scalar($0) }))
        var terms = SearchTerms("c++ f# " + ascii + " ١٢ 北京, " + ascii).terms
        SearchTerms.addGrams(of: Substring(ascii.searchFolded), to: &terms)
        #expect(terms.count > 200)
        let isPlain = { (scalar: Unicode.Scalar) in !scalar.isASCII || scalar.isASCIIAlphanumeric }
        #expect(terms.allSatisfy { $0.unicodeScalars.allSatisfy(isPlain) })
    }

    @Test(
        "NOTE-12 Every text is found by each of its words and by parts of them, in other case and form",
        arguments: 1...40
    )
    func everyWord(seed: Int) {
        var chance = SeededRandom(seed: UInt64(seed))
        let alphabets = [
            "abcßéøzAZ", "αβςΣώ", "абёйЯ", "北京大学東", "がカーア", "กขี่มา", "한글김치각", "🎉👍🏽👩‍👧🇩🇪", "ａ１ﬁ①", "कीखि",
        ].map(Array.init)
        let words = (0..<12).map { _ in
            let letters = alphabets.randomElement(using: &chance) ?? []
            return String(
                (0..<Int.random(in: 1...9, using: &chance)).compactMap { _ in letters.randomElement(using: &chance) }
            )
        }
        let text = words.joined(separator: [" ", ", ", "\n", "-"].randomElement(using: &chance) ?? " ")
        for word in words {
            for form in [
                word, word.uppercased(), word.lowercased(), word.decomposedStringWithCanonicalMapping,
                word.decomposedStringWithCompatibilityMapping,
            ] {
                #expect(finds(form, in: text), "\(form) in \(text)")
            }
            let beginning = String(word.prefix(Int.random(in: 1...9, using: &chance)))
            #expect(finds(beginning, in: text), "\(beginning) in \(text)")
        }
    }
}

@Suite("The relevance of texts in memory") struct RelevanceQueryTests {
    @Test(
        "ONE-08 whole words before beginnings before other parts, the title before other texts",
        arguments: [
            ("barge", "The Barge", "", 0), ("barge", "Bargeman", "", 1), ("barge", "Aubarge", "", 2),
            ("barge", "Zed", "a barge", 3), ("barge", "Zed", "Bargetown", 4), ("barge", "Zed", "aubarge", 5),
            ("barge", "Zed", "", nil), ("barge the", "The Barge", "", 0), ("barge tug", "The Barge", "Tug", 3),
            ("barge tug", "The Barge", "", nil), ("man", "Bargeman and man", "", 0), ("a", "Banana", "a", 2),
            ("ёлка", "Елка", "", 0), ("straße", "STRASSE 2", "", 0), ("é", "Café", "", 2), ("", "x", "", 0),
            ("кот", "скотный двор, кот", "", 0), ("2", "Instructions 2", "", 0), ("№5", "N", "дом №5", 3),
        ] as [(String, String, String, Int?)]
    )
    func rank(text: String, title: String, other: String, rank: Int?) {
        #expect(RelevanceQuery(text).rank(of: .init(title: title, others: [other])) == rank)
    }

    @Test("ONE-08 equal searches have equal words; of a long text sixteen count")
    func words() {
        #expect(RelevanceQuery(" Foo  BAR ") == RelevanceQuery("foo bar"))
        #expect(RelevanceQuery("   ").words.isEmpty)
        #expect(RelevanceQuery(String(repeating: "a ", count: 5000)).words.count == 16)
    }

    @Test("ONE-08 a table has the hits of its rows, each rank in their order, and their folded texts")
    func table() {
        var random = SeededRandom(seed: 40)
        let words = ["barge", "tug", "aubarge", "bargeman", "лодка", "x"]
        func texts() -> RelevanceQuery.Texts {
            func word() -> String { words.randomElement(using: &random) ?? "" }
            return .init(title: "\(word()) \(word())", others: [word(), word()])
        }
        var table = RelevanceQuery.Table()
        #expect(table.hits(of: RelevanceQuery("barge")).isEmpty)
        let rows = (0..<200).map { _ in texts() }
        for row in rows { table.append(row) }
        for text in ["barge", "barge tug", "лод", "arg x", "none"] {
            let query = RelevanceQuery(text)
            let ranks = rows.indices.compactMap { row in query.rank(of: rows[row]).map { [$0, row] } }
            let expected = ranks.sorted { $0.lexicographicallyPrecedes($1) }
            #expect(table.hits(of: query).map { [$0.rank, $0.row] } == expected)
        }
        table = RelevanceQuery.Table()
        table.append(.init(title: "Tug", others: ["Barge", "Support"]))
        table.append(.init(title: "Ёж"))
        #expect(table.folded(0) == "tug\nbarge\nsupport" && table.folded(1) == "еж\n")
    }
}
