import Foundation
import HTTPCaching
import HTTPTypes
import Testing

@Suite("Preconditions for a validation (RFC 9111 §4.3.1)")
struct ConditionalRequestTests {
    private let modified = Sample.date(-3000)

    private func condition(_ stored: HTTPFields, client: HTTPFields = [:]) -> ConditionalRequest {
        ConditionalRequest(validating: Sample.stored(stored), client: client)
    }

    @Test("Both stored validators are sent, weak ones as they are")
    func own() {
        let both = condition([.eTag: "W/\"a\"", .lastModified: modified])
        #expect(both.ifNoneMatch == "W/\"a\"" && both.ifModifiedSince == modified)
        #expect(both.asksForStored && !both.asksForClient)
        #expect(condition([.lastModified: modified]).ifModifiedSince == modified)
        #expect(!condition([:]).asksForStored)
    }

    @Test("The client's tags stand behind the stored one, which is not repeated; a star gives way")
    func clientTags() {
        let merged = condition([.eTag: "\"a\""], client: [.ifNoneMatch: "\"x,y\", W/\"a\", \"b\""])
        #expect(merged.ifNoneMatch == "\"a\", \"x,y\", \"b\"" && merged.asksForClient)
        #expect(condition([.eTag: "\"a\""], client: [.ifNoneMatch: "\"a\""]) == condition([.eTag: "\"a\""]))
        #expect(condition([.eTag: "\"a\""], client: [.ifNoneMatch: "*"]).ifNoneMatch == "\"a\"")
    }

    @Test("The client's date gives way to the stored one; a client's tag rules out asking by date")
    func clientDate() {
        #expect(
            condition([.lastModified: modified], client: [.ifModifiedSince: Sample.date(-1)]).ifModifiedSince
                == modified
        )
        let tagged = condition([.lastModified: modified], client: [.ifNoneMatch: "\"x\""])
        #expect(
            tagged.ifNoneMatch == "\"x\"" && tagged.ifModifiedSince == nil && !tagged.asksForStored
                && tagged.asksForClient
        )
    }

    @Test("Without stored validators the client's preconditions go as they are")
    func noValidator() {
        let passed = condition([:], client: [.ifModifiedSince: modified])
        #expect(passed.ifModifiedSince == modified && passed.asksForClient && !passed.asksForStored)
    }

    @Test("Applied, the preconditions replace the client's and touch nothing else")
    func apply() {
        var fields: HTTPFields = [
            .ifNoneMatch: "*", .ifModifiedSince: Sample.date(-1), .range: "bytes=0-1", .made("Abc"): "123",
        ]
        condition([.eTag: "\"a\""]).apply(to: &fields)
        #expect(fields == [.ifNoneMatch: "\"a\"", .range: "bytes=0-1", .made("Abc"): "123"])
    }
}

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
