import HTTPSemantics
import Testing

@Suite("Bearer tokens (RFC 6750 §2.1)")
struct BearerTokenTests {
    @Test(
        "The scheme has no case; anything else than a scheme and a token is none",
        arguments: [
            ("Bearer abc", "abc"), ("bEARER  abc ", "abc"), ("Basic abc", nil), ("Bearer", nil), ("Bearer ", nil),
            ("", nil), ("abc", nil),
        ]
    )
    func parse(text: String, expected: String?) {
        #expect(BearerToken.parse(text) == expected)
    }
}
