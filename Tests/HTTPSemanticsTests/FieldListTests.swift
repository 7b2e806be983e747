import HTTPSemantics
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
