import Foundation
import HTTPTypes
import Testing

@testable import HTTP

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

struct ContentRangeTests {
    private func part(_ values: String...) -> ContentRange? {
        ContentRange(HTTPFields(values.map { HTTPField(name: .contentRange, value: $0) }))
    }

    @Test("RFC 9110 §14.4 Positions and the length of the whole are read")
    func read() {
        #expect(part("bytes 0-9/10")?.range == 0..<10)
        #expect(part("Bytes 2-2/10")?.range == 2..<3 && part("bytes 2-2/10")?.completeLength == 10)
    }

    @Test(
        "RFC 9110 §14.4 A part that is invalid, of another unit or of an unknown whole is none",
        arguments: [
            "bytes 0-10/10", "bytes 5-4/10", "bytes */10", "bytes 0-9/*", "items 0-9/10", "bytes 0-9", "bytes=0-9/10",
            "bytes -1/10", "bytes 0-/10", "bytes 0-9/10/10", "bytes 0-9-9/10", "0-9/10", "", "bytes +0-9/10",
            "bytes 0-9/99999999999999999999",
        ]
    )
    func invalid(value: String) {
        #expect(part(value) == nil)
    }

    @Test("RFC 9110 §5.3 A repeated field is no part")
    func repeated() {
        #expect(part("bytes 0-4/10", "bytes 5-9/10") == nil && part() == nil)
    }
}
