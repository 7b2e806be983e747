import Testing

@testable import Storage

@Suite struct KeyPrefixTests {
    @Test("The range of a prefix ends before the first text that does not begin with it")
    func end() {
        #expect(KeyPrefix("/a/").end == "/a0")
        #expect(KeyPrefix("a\u{D7FF}").end == "a\u{E000}")
        #expect(KeyPrefix("a\u{10FFFF}").end == "b")
        #expect(KeyPrefix("\u{10FFFF}").end == nil)
        #expect(KeyPrefix("").end == nil)
    }
}
