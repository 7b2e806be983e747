import Testing

@testable import Sandbox

@Suite struct RedactionTests {
    // SHA-256("abc") of FIPS 180-2, appendix B.1, begins with ba7816bf8f01.
    private static let hash = "sha256:ba7816bf8f01"

    @Test(
        "HARN-13 tokens in JSON, forms and other text are hidden, whole or cut off; the rest stays",
        arguments: [
            (#"{"access_token":"abc","n":1}"#, #"{"access_token":"HASH","n":1}"#),
            (#"{"Refresh_Token" : "abc"#, #"{"Refresh_Token" : "HASH"#), ("code=abc&x=1", "code=HASH&x=1"),
            ("a=1&client_secret=abc", "a=1&client_secret=HASH"), (#"{"decode":"abc"}"#, #"{"decode":"abc"}"#),
            (#"{"code":""}"#, #"{"code":""}"#), ("the code abc", "the code abc"), ("token: abc, x", "token: HASH, x"),
            (#"{"password":null,"key":"abc"}"#, #"{"password":HASHNULL,"key":"abc"}"#), ("", ""),
        ]
    )
    func texts(text: String, shown: String) {
        let expected = shown.replacing("HASHNULL", with: Redaction.value("null")).replacing("HASH", with: Self.hash)
        #expect(Redaction.text(text) == expected)
    }

    @Test("an escaped quote does not end a token")
    func escapes() {
        #expect(
            Redaction.text(#"{"token":"a\"bc","x":1}"#) == #"{"token":""# + Redaction.value(#"a\"bc"#) + #"","x":1}"#
        )
        #expect(Redaction.text(#"{"token":"a\"#) == #"{"token":""# + Redaction.value(#"a\"#))
    }

    @Test("a secret of the request is hidden wherever it is; a key only in a query")
    func elsewhere() {
        #expect(Redaction.text("before abcd after", alsoHiding: ["abcd"]) == "before \(Redaction.value("abcd")) after")
        #expect(Redaction.target("/people/api/x?key=abc&count=2") == "/people/api/x?key=\(Self.hash)&count=2")
        #expect(Redaction.target("/token=abc") == "/token=abc")
    }
}
