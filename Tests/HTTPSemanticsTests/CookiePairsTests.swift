import Testing

@testable import HTTPSemantics

struct CookiePairsTests {
    @Test("The pairs whose names begin with a prefix, in order and byte for byte")
    func named() {
        let line = "a=1; larder-x-disk=t1;larder-x-ships=\"t 2\" ;  larder-x-disk=t3; xlarder-x-=4; larder-y-disk=5;;="
        let expected: [Substring] = ["larder-x-disk=t1", "larder-x-ships=\"t 2\"", "larder-x-disk=t3"]
        #expect(CookiePairs.named("larder-x-", in: line) == expected)
        #expect(CookiePairs.named("larder-x-", in: "").isEmpty)
        #expect(CookiePairs.named("larder-x-", in: "Larder-x-disk=1; a=\"; larder-x-disk=2\"") == ["larder-x-disk=2\""])
    }

    @Test(
        "A line without the pairs of a prefix",
        arguments: [
            ("a=1; larder-x-disk=2; b=3", "a=1; b=3"), ("a=1;b=2", "a=1; b=2"), ("larder-x-disk=2", nil), ("", nil),
            ("LARDER-x=1; larder-", nil), ("larder=1", "larder=1"), ("a=larder-x", "a=larder-x"), (" ; a", "a"),
        ] as [(String, String?)]
    )
    func without(line: String, expected: String?) {
        #expect(CookiePairs.line(line, without: "larder-") == expected)
    }

    @Test(
        "SRV-11 A server that sets a cookie of a prefix, however it spells it",
        arguments: [
            "larder-x-ships=t", " larder-x-ships=t; Path=/", "LARDER-x=t", "=larder-x-ships=t", "larder-x-ships",
            "\t= larder-x-ships=t",
        ]
    )
    func sets(line: String) {
        #expect(CookiePairs.sets(line, "larder-"))
    }

    @Test("Other cookies are set", arguments: ["a=larder-x", "larder=1", "", "xlarder-=1"])
    func others(line: String) {
        #expect(!CookiePairs.sets(line, "larder-"))
    }
}
