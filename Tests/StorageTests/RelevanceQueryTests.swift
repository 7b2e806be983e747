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
        #expect(RelevanceQuery.Texts(title: "Tug", others: ["Barge", "Support"]).folded == "tug\nbarge\nsupport")
    }
}
