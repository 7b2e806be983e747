import HTTPSemantics
import Testing

@Suite("Dictionaries of structured fields (RFC 9651 §3.2)")
struct StructuredDictionaryTests {
    private func members(_ text: String) -> [String]? {
        StructuredDictionary(text)?.members.map { "\($0.key)=\($0.value)" }
    }

    @Test("Each type has its value; what no directive takes is other")
    func types() {
        let text = "a, b=?0, c=-15, d=\"x\\\"y\", e=tok/en:*, f=1.5, g=:YQ==:, h=(1 2);p, i=@12, j=%\"f%c3%bc\""
        let values = StructuredDictionary(text)?.members.map(\.value)
        #expect(values?.prefix(3) == [.boolean(true), .boolean(false), .integer(-15)])
        #expect(values?.dropFirst(3).prefix(2) == [.string("x\"y"), .token("tok/en:*")])
        #expect(values?.dropFirst(5) == [.other, .other, .other, .other, .other])
    }

    @Test("A key that is given again keeps its place and takes the last value")
    func repeated() {
        #expect(members("a=1, b=2, a=3") == ["a=integer(3)", "b=integer(2)"])
    }

    @Test(
        "A field with an error is no dictionary at all",
        arguments: [
            "A=1", "a=", "a=1,", "a=1 b=2", "a=\"x", "a=\"\\x\"", "a=?2", "a=:x", "a=(1", "a=1.", "a=1.2345",
            "a=1234567890123456", "a=1;B", "a=\u{E9}", "a=@1.5", "a=%\"%C3\"", "=1", "a=-",
        ]
    )
    func malformed(text: String) {
        #expect(members(text) == nil)
    }

    @Test("1,024 members are read, more are refused before they cost anything", .timeLimit(.minutes(10)))
    func limit() {
        func text(_ count: Int) -> String { (0..<count).map { "a\($0)" }.joined(separator: ", ") }
        #expect(members(text(1024))?.count == 1024)
        #expect(members(text(1025)) == nil && members(text(1_000_000)) == nil)
        #expect(members("a" + String(repeating: ";b", count: 1_000_000)) == nil)
    }
}
