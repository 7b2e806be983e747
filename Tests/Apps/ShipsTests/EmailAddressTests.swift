import TestKit
import Testing

@testable import Ships

@Suite("E-mail addresses")
struct EmailAddressTests {
    @Test(
        "SHIP-02 addresses of the usual form pass",
        arguments: [
            "example@domain.com", "a@b.c", "first.last+tag@sub.domain.co.uk", "ünï@dömain.example", "名前@例え.テスト",
            "'quoted'@x.org", "👩‍🚀@x.org",
            String(repeating: "a", count: 248) + "@bc.de",
        ]
    )
    func valid(text: String) {
        #expect(EmailAddress.isValid(text))
    }

    @Test(
        "SHIP-02 malformed addresses do not",
        arguments: [
            "", "example", "@domain.com", "example@", "example@domain", "a@b@c.de", "a@@b.de", "a@.de", "a@b..de",
            "a@b.", "a@.b.de", "a b@c.de", "a@b .de",
            " a@b.de",
            "a@b.de\n", "a\u{0}@b.de", "a\u{7F}@b.de", "a\u{85}@b.de", "a\u{A0}b@c.de", "a\u{3000}@b.de",
            "a@\u{301}b.de",
            String(repeating: "a", count: 249) + "@bc.de",
        ]
    )
    func invalid(text: String) {
        #expect(!EmailAddress.isValid(text))
    }

    @Test("the limit of 254 counts bytes, not characters")
    func bytes() {
        #expect(!EmailAddress.isValid(String(repeating: "ü", count: 130) + "@b.de"))
    }
}
