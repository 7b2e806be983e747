import Testing

@testable import Sandbox

@Suite struct LikePatternTests {
    @Test(
        "LIKE as SQLite has it",
        arguments: [
            ("%mug%", "Enamel MUG 350", true), ("%кружка%", "Кружка", false), ("%ружка%", "Кружка", true),
            ("%5_%", "500", true), ("%5_%", "5", false),
            ("%a%b%", "xaxxbx", true), ("%a%b%", "xbxxax", false), ("", "", true), ("", "a", false), ("%", "", true),
            ("_", "🐈", true), ("%aab%", "aaab", true),
            ("%%%", "abc", true), ("a_c", "abc", true), ("a_c", "ac", false),
        ]
    )
    func matches(pattern: String, text: String, expected: Bool) {
        #expect(LikePattern(pattern).matches(text) == expected)
    }
}
