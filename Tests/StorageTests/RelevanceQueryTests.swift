import TestKit
import Testing

@testable import Storage

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
