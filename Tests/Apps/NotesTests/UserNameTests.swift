import Testing

@testable import Notes

@Suite("User names")
struct UserNameTests {
    @Test("Names: trimmed, bounded, without control characters")
    func names() throws {
        #expect(try UserName(" Bob\n").shown == "Bob")
        #expect(throws: UserName.Fault.tooShort) { try UserName(" \t") }
        #expect(throws: UserName.Fault.invalid) { try UserName("a\u{2028}b") }
        #expect(throws: UserName.Fault.invalid) { try UserName(String(repeating: "a", count: 257)) }
        #expect(try UserName("ÅNGSTRÖM").key == UserName("a\u{30A}ngstro\u{308}m").key)
    }
}
