import HTTPSemantics
import Testing

@Suite("Entity tags (RFC 9110 §8.8.3)")
struct EntityTagTests {
    private func tag(_ text: String) throws -> EntityTag { try #require(EntityTag(text)) }

    @Test("Weak comparison disregards weakness, strong comparison demands its absence")
    func comparison() throws {
        #expect(try tag("W/\"a\"").matchesWeakly(tag("\"a\"")))
        #expect(try !tag("W/\"a\"").matchesStrongly(tag("\"a\"")))
        #expect(try !tag("W/\"a\"").matchesStrongly(tag("W/\"a\"")))
        #expect(try tag("\"a\"").matchesStrongly(tag("\"a\"")))
        #expect(try !tag("\"a\"").matchesWeakly(tag("\"A\"")))
    }

    @Test("A tag without quotation marks equals itself only")
    func unquoted() throws {
        #expect(try tag("abc").matchesWeakly(tag("abc")))
        #expect(try !tag("abc").matchesWeakly(tag("\"abc\"")))
        #expect(EntityTag("  ") == nil)
    }

    @Test("Tags whose bytes could not be read are never equal")
    func unreadable() throws {
        #expect(try !tag("\"a\u{FFFD}\"").matchesWeakly(tag("\"a\u{FFFD}\"")))
    }
}
