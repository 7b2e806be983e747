import Foundation
import HTTPSemantics
import HTTPTypes
import Testing

@Suite("Preconditions (RFC 9110 §13)")
struct PreconditionsTests {
    private let modified = Date(timeIntervalSince1970: 784_111_777)
    private var now: Date { modified + 3600 }

    private func isNotModified(_ fields: HTTPFields, tag: String? = "\"a\"") -> Bool {
        Preconditions.isNotModified(fields, tag: tag.flatMap { EntityTag($0) }, lastModified: modified, now: now)
    }

    private func allowsRange(_ condition: String, tag: String? = "\"a\"", date: Date? = nil) -> Bool {
        Preconditions.allowsRange(
            [.ifRange: condition],
            tag: tag.flatMap { EntityTag($0) },
            lastModified: modified,
            date: date ?? now,
            now: now
        )
    }

    @Test("If-None-Match compares weakly, and beside it If-Modified-Since is ignored")
    func ifNoneMatch() {
        #expect(isNotModified([.ifNoneMatch: "W/\"a\""]) && !isNotModified([.ifNoneMatch: "\"b\""]))
        #expect(!isNotModified([.ifNoneMatch: "\"b\"", .ifModifiedSince: HTTPDate.format(now)]))
        #expect(isNotModified([.ifNoneMatch: "*"], tag: nil) && !isNotModified([.ifNoneMatch: "\"a\""], tag: nil))
    }

    @Test("If-Modified-Since counts if it is a date, not before the modification")
    func ifModifiedSince() {
        #expect(isNotModified([.ifModifiedSince: HTTPDate.format(modified)]))
        #expect(!isNotModified([.ifModifiedSince: HTTPDate.format(modified - 1)]))
        #expect(!isNotModified([.ifModifiedSince: "yesterday"]) && !isNotModified([:]))
    }

    @Test("If-Range takes a strong tag, or the very date if it lies a second before the response")
    func ifRange() {
        #expect(allowsRange("\"a\"") && !allowsRange("W/\"a\"") && !allowsRange("\"b\""))
        #expect(!allowsRange("W/\"a\"", tag: "W/\"a\"") && !allowsRange("\"a\"", tag: nil))
        #expect(allowsRange(HTTPDate.format(modified)) && !allowsRange(HTTPDate.format(modified + 1)))
        #expect(!allowsRange(HTTPDate.format(modified), date: modified + 0.5))
        #expect(Preconditions.allowsRange([:], tag: nil, lastModified: nil, date: now, now: now))
    }
}
