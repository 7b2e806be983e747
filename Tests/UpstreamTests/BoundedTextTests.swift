import Testing

@testable import Upstream

struct BoundedTextTests {
    @Test("TRUST-19 A text of an upstream is cut, whatever its characters are made of")
    func length() {
        #expect("Каша".rowText(longest: 4) == "Каша" && "Каша!".rowText(longest: 4) == "Каша")
        let marks = "a" + String(repeating: "\u{301}", count: 100_000)
        #expect(marks.count == 1 && marks.rowText(longest: 10)?.unicodeScalars.count == 40)
        #expect("👩‍👩‍👧‍👦👩‍👩‍👧‍👦".rowText(longest: 2) == "👩‍👩‍👧‍👦👩")
    }

    @Test("A text has no NUL, and is none if it is blank")
    func blank() {
        #expect("a\0b".rowText(longest: 10) == "ab" && "\0 \n".rowText(longest: 10) == nil)
        #expect("".rowText(longest: 10) == nil)
    }
}
