import HTTPSemantics
import Testing

@Suite("Bare items of structured fields (RFC 9651 §3.3)")
struct StructuredTextTests {
    @Test(
        "A token is written as it is, everything else as a string without what a string cannot hold",
        arguments: [
            ("stale-if-error", "stale-if-error"), ("*a:/b", "*a:/b"), ("", "\"\""), ("1a", "\"1a\""),
            ("a b", "\"a b\""), ("a\"\\\u{E9}\n", "\"a\\\"\\\\\""),
        ]
    )
    func items(text: String, expected: String) {
        #expect(StructuredText.tokenOrString(text) == expected)
    }
}
