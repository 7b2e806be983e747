import HTTP
import Testing

@Suite("Lists of field values (RFC 9110 §5.6.1)")
struct FieldListTests {
    @Test("Empty members are ignored, whitespace around members is removed")
    func members() {
        #expect(FieldList.members(of: " a ,, \tb\t,") == ["a", "b"])
        #expect(FieldList.members(of: "").isEmpty && FieldList.members(of: " , ").isEmpty)
    }

    @Test("A separator inside of a quoted string does not separate, whichever separator it is")
    func quoted() {
        #expect(FieldList.members(of: #"a="x,y;z", b"#) == [#"a="x,y;z""#, "b"])
        #expect(FieldList.members(of: #"a="x,y;z";b"#, separator: ";") == [#"a="x,y;z""#, "b"])
    }

    @Test("A backslash escapes in a quoted-string and not in an entity-tag")
    func escapes() {
        #expect(FieldList.members(of: #""a\", "b""#) == [#""a\", "b""#])
        #expect(FieldList.members(of: #""a\", "b""#, escapes: false) == [#""a\""#, #""b""#])
    }

    @Test("A mark that is never closed hides nothing")
    func open() {
        #expect(FieldList.members(of: #"a="x, no-store"#) == [#"a="x"#, "no-store"])
    }

    @Test("Trimming removes bytes, also before a combining mark")
    func trim() {
        #expect(FieldList.trim(" \ta b\t ").elementsEqual("a b"))
        #expect(FieldList.trim(" \u{301}").unicodeScalars.elementsEqual(["\u{301}"]))
    }

    @Test("A quoted-string is read from end to end or not at all")
    func unquoted() {
        #expect(FieldList.unquoted(#""a\"b\\""#) == #"a"b\"#)
        for text in ["a", "\"", #""a" "#, #""a"b""#, #""a\""#] { #expect(FieldList.unquoted(text[...]) == nil) }
    }
}

@Suite("Values with parameters (RFC 9110 §5.6.6, RFC 2045 §5.1)")
struct ParameterizedValueTests {
    @Test("Value and names have no case, values do; of two parameters with one name the first counts")
    func parameters() throws {
        let value = try #require(ParameterizedValue(#" Form-Data ; NAME="a;b" ; x=Y; x=z;"#))
        #expect(value.value == "form-data" && value.parameters == ["name": "a;b", "x": "Y"])
    }

    @Test("What is incomplete is nothing", arguments: ["a;b", "a;=c", "a;b=\"c", "a;b=\"c\"d"])
    func incomplete(text: String) {
        #expect(ParameterizedValue(text) == nil)
    }

    @Test(
        "The essence is what stands before the first semicolon",
        arguments: [
            ("Application/JSON; charset=utf-8", "application/json"), (" text/html ", "text/html"), ("", ""), (";a", ""),
        ]
    )
    func essence(text: String, expected: String) {
        #expect(ParameterizedValue.essence(of: text) == expected)
    }

    @Test(
        "An extended parameter is decoded in its charset",
        arguments: [
            ("UTF-8''%e2%82%ac", "€"), ("utf-8'en'a%20b", "a b"), ("ISO-8859-1''%A3", "£"), ("UTF-8''%FF", nil),
            ("UTF-16''a", nil), ("UTF-8''%+f", nil), ("a", nil),
        ]
    )
    func extended(text: String, expected: String?) throws {
        #expect(try #require(ParameterizedValue("a; filename*=\(text)")).extended("filename") == expected)
    }
}

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
