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

    @Test("The client's tags follow the stored one, which is not repeated; a star is dropped")
    func clientTags() {
        let merged = condition([.eTag: "\"a\""], client: [.ifNoneMatch: "\"x,y\", W/\"a\", \"b\""])
        #expect(merged.ifNoneMatch == "\"a\", \"x,y\", \"b\"" && merged.asksForClient)
        #expect(condition([.eTag: "\"a\""], client: [.ifNoneMatch: "\"a\""]) == condition([.eTag: "\"a\""]))
        #expect(condition([.eTag: "\"a\""], client: [.ifNoneMatch: "*"]).ifNoneMatch == "\"a\"")
    }

    @Test("The client's date is replaced by the stored one; a client's tag rules out validation by date")
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

    @Test("Without stored validators the client's preconditions are sent unchanged")
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
