import Testing

@testable import Notes

@Suite("Passwords")
struct PasswordTests {
    @Test(
        "Lengths and kinds of space",
        arguments: [
            ("a", true), ("", false), (String(repeating: "é", count: 512), true),
            (String(repeating: "é", count: 513), false),
        ]
    )
    func limits(text: String, isAccepted: Bool) {
        #expect(((try? Password(text)) != nil) == isAccepted)
    }

    @Test("A no-break space is a space, and nothing is trimmed")
    func spaces() throws {
        #expect(try Password("a\u{A0}b") == Password("a b"))
        #expect(try Password(" a") != Password("a"))
    }
}
