import Testing

@testable import Server

struct RequestIdentitiesTests {
    @Test(
        "SRV-12 A harmless identity of the client is kept",
        arguments: ["a", "550e8400-e29b-41d4-a716-446655440000", "A.b:c_d-9", String(repeating: "x", count: 128)]
    )
    func kept(text: String) {
        #expect(RequestIdentities(run: "r").identity(wanted: text) == text)
    }

    @Test(
        "SRV-12 Any other is replaced by run and number",
        arguments: ["", " ", "a b", "a\nb", "ä", "a,b", "\"", "<x>", "a\u{0}", String(repeating: "x", count: 129)]
    )
    func replaced(text: String) {
        let identities = RequestIdentities(run: "r")
        #expect(identities.identity(wanted: text) == "r-1")
        #expect(identities.identity(wanted: nil) == "r-2")
    }
}
