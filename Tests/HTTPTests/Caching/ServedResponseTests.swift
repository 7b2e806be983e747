import Foundation
import HTTP
import HTTPTypes
import Testing

@Suite("Responses from the store (RFC 9111 §4, §4.3.2)")
struct ServedResponseTests {
    private let modified = Sample.date(-3000)

    private func response(
        _ request: HTTPFields = [:],
        method: HTTPRequest.Method = .get,
        from fields: HTTPFields = [:],
        status: HTTPResponse.Status = .ok
    ) -> ServedResponse {
        ServedResponse(
            to: Sample.request(method, request),
            from: Sample.stored(fields, status: status),
            age: 33,
            bodyLength: 11
        )
    }

    @Test("Age is generated and replaces the received one, Date and Expires stay")
    func age() {
        let fields = response(from: [.age: "30", .date: Sample.date(-33), .expires: Sample.date(60)]).head.headerFields
        #expect(fields[values: .age] == ["33"])
        #expect(fields[.date] == Sample.date(-33) && fields[.expires] == Sample.date(60))
    }

    @Test("HEAD gets the head of GET and no body (RFC 9110 §9.3.2)")
    func head() {
        let got = response(method: .head, from: [.eTag: "\"a\""])
        #expect(got.head == response(from: [.eTag: "\"a\""]).head && got.body == .none)
        #expect(response([.range: "bytes=0-1"], method: .head).head.status == .ok)
    }

    @Test("204 has neither body nor length")
    func noContent() {
        let got = response(status: .noContent)
        #expect(got.body == .none && !got.head.headerFields.contains(.contentLength))
    }

    @Test(
        "If-None-Match is compared weakly, in any place of the list",
        arguments: ["\"a\"", "W/\"a\"", "\"1\", \"a\", \"2\"", "\"1\", \"2,3\", W/\"a\"", "*", "x, \"a\""]
    )
    func ifNoneMatch(value: String) {
        #expect(response([.ifNoneMatch: value], from: [.eTag: "\"a\""]).head.status == .notModified)
        #expect(response([.ifNoneMatch: value], from: [.eTag: "W/\"a\""]).body == .none)
    }

    @Test("If-None-Match with other tags gets the whole", arguments: ["\"b\"", "a", "\"A\"", "\"a, b\""])
    func ifNoneMatchElse(value: String) {
        #expect(response([.ifNoneMatch: value], from: [.eTag: "\"a\""]).body == .whole)
        #expect(response([.ifNoneMatch: "\"x\""]).body == .whole)
    }

    @Test("If-Modified-Since is compared with Last-Modified, in every form of date")
    func ifModifiedSince() {
        #expect(response([.ifModifiedSince: modified], from: [.lastModified: modified]).head.status == .notModified)
        #expect(
            response([.ifModifiedSince: Sample.date(-2000)], from: [.lastModified: modified]).head.status
                == .notModified
        )
        #expect(response([.ifModifiedSince: Sample.date(-3001)], from: [.lastModified: modified]).head.status == .ok)
        #expect(response([.ifModifiedSince: "yesterday"], from: [.lastModified: modified]).head.status == .ok)
        let old = response(
            [.ifModifiedSince: "Sunday, 06-Nov-94 08:49:37 GMT"],
            from: [.lastModified: "Sun Nov  6 08:49:37 1994"]
        )
        #expect(old.head.status == .notModified)
    }

    @Test("Without Last-Modified the date of the response is compared")
    func ifModifiedSinceDate() {
        #expect(response([.ifModifiedSince: Sample.date()]).head.status == .notModified)
        #expect(response([.ifModifiedSince: Sample.date(-1)]).head.status == .ok)
    }

    @Test("If-None-Match precedes If-Modified-Since, whichever of them would give 304")
    func precedence() {
        let stored: HTTPFields = [.eTag: "\"a\"", .lastModified: modified]
        #expect(
            response([.ifNoneMatch: "\"a\"", .ifModifiedSince: Sample.date(-9000)], from: stored).head.status
                == .notModified
        )
        #expect(response([.ifNoneMatch: "\"b\"", .ifModifiedSince: modified], from: stored).head.status == .ok)
    }

    @Test("Preconditions count for successes only (RFC 9110 §13.2.1)")
    func notSuccessful() {
        #expect(response([.ifNoneMatch: "\"a\""], from: [.eTag: "\"a\""], status: .notFound).head.status == .notFound)
    }

    @Test("304 carries what RFC 9110 §15.4.5 requires, and Last-Modified only as the sole validator")
    func notModifiedFields() {
        var stored: HTTPFields = [
            .contentType: "text/plain", .contentEncoding: "gzip", .contentLength: "11", .made("X"): "1",
            .lastModified: modified,
        ]
        for name in ["Content-Location", "ETag", "Expires", "Vary", "Cache-Control", "Date"] {
            stored[.made(name)] = "\"a\""
        }
        let names = Set(response([.ifNoneMatch: "\"a\""], from: stored).head.headerFields.map(\.name))
        #expect(names == [.contentLocation, .eTag, .expires, .vary, .cacheControl, .date, .age])
        #expect(
            response([.ifModifiedSince: modified], from: [.lastModified: modified]).head.headerFields.contains(
                .lastModified
            )
        )
    }
}

@Suite("Ranges from a stored whole (RFC 9110 §14)")
struct RangeTests {
    private func range(_ value: String, of length: Int = 11) -> ByteRange {
        ByteRange([.range: value], length: length)
    }

    @Test("First to last, open end, suffix, and an end beyond the whole")
    func satisfiable() {
        #expect(range("bytes=0-1") == .part(0...1))
        #expect(range("Bytes=1-") == .part(1...10))
        #expect(range("bytes=-1") == .part(10...10))
        #expect(range("bytes=-50") == .part(0...10))
        #expect(range("bytes=5-99999999999999999999999") == .part(5...10))
        #expect(range("bytes= 2-3 ,") == .part(2...3))
    }

    @Test("A range beyond the end or without length, cannot be satisfied")
    func notSatisfiable() {
        #expect(range("bytes=11-") == .notSatisfiable)
        #expect(range("bytes=-0") == .notSatisfiable)
        #expect(range("bytes=0-0", of: 0) == .notSatisfiable)
        #expect(range("bytes=-5", of: 0) == .notSatisfiable)
    }

    @Test(
        "Broken ranges, other units and several ranges get the whole",
        arguments: [
            "bytes", "bytes=", "bytes=-", "bytes=3-2", "bytes=a-b", "bytes=1", "lines=0-1", "bytes=0-1, 3-4",
            "bytes=--1", "bytes=+1-2", "bytes 0-1",
        ]
    )
    func whole(value: String) {
        #expect(range(value) == .whole)
    }

    @Test("No Range, or several fields of it, get the whole")
    func fields() {
        #expect(ByteRange([:], length: 11) == .whole)
        #expect(ByteRange(Sample.lines(.range, "bytes=0-1", "bytes=2-3"), length: 11) == .whole)
    }

    private func response(_ request: HTTPFields, from fields: HTTPFields = [:], status: HTTPResponse.Status = .ok)
        -> ServedResponse
    {
        ServedResponse(
            to: Sample.request(.get, request),
            from: Sample.stored(fields, status: status),
            age: 0,
            bodyLength: 11
        )
    }

    @Test("206 names the part and keeps the stored fields; 416 names the length")
    func heads() {
        let part = response([.range: "bytes=2-5"], from: [.contentLength: "11", .made("A"): "1", .eTag: "\"a\""])
        #expect(part.head.status == .partialContent && part.body == .part(2...5))
        #expect(
            part.head.headerFields[.contentRange] == "bytes 2-5/11"
                && part.head.headerFields[values: .contentLength] == ["4"]
        )
        #expect(part.head.headerFields[.made("A")] == "1" && part.head.headerFields[.eTag] == "\"a\"")
        let none = response([.range: "bytes=11-"], from: [.contentType: "text/plain"])
        #expect(none.head.status == .rangeNotSatisfiable && none.body == .none)
        #expect(none.head.headerFields[.contentRange] == "bytes */11" && !none.head.headerFields.contains(.contentType))
    }

    @Test("Preconditions come before ranges; only 200 has parts")
    func order() {
        #expect(
            response([.range: "bytes=0-1", .ifNoneMatch: "\"a\""], from: [.eTag: "\"a\""]).head.status == .notModified
        )
        #expect(response([.range: "bytes=0-1"], status: .notFound).body == .whole)
    }

    @Test("If-Range takes a strong tag or an equal, strong date; otherwise the whole is sent (RFC 9110 §13.1.5)")
    func ifRange() {
        func body(_ condition: String, _ stored: HTTPFields) -> ServedResponse.Body {
            response([.range: "bytes=0-1", .ifRange: condition], from: stored).body
        }
        let modified = Sample.date(-60)
        #expect(body("\"a\"", [.eTag: "\"a\""]) == .part(0...1))
        #expect(body("W/\"a\"", [.eTag: "W/\"a\""]) == .whole)
        #expect(body("\"b\"", [.eTag: "\"a\""]) == .whole)
        #expect(body("\"a\"", [:]) == .whole)
        #expect(body(modified, [.lastModified: modified]) == .part(0...1))
        #expect(body(Sample.date(-59), [.lastModified: modified]) == .whole)
        #expect(body(Sample.date(), [.lastModified: Sample.date()]) == .whole)
    }
}

@Suite("Stale responses (RFC 9111 §4.2.4, RFC 5861)")
struct FallbackTests {
    private func stored(_ directives: String, status: HTTPResponse.Status = .ok) -> CachedResponseHead {
        Sample.stored([.cacheControl: "max-age=10\(directives)", .eTag: "\"a\""], age: 20, status: status)
    }

    @Test("stale-while-revalidate serves within its window and validates in the background (RFC 5861 §3)")
    func staleWhileRevalidate() {
        let served = Sample.shared.decision(for: stored(", stale-while-revalidate=10")).served
        #expect(served?.revalidation?.condition.ifNoneMatch == "\"a\"")
        #expect(served?.status.member(of: "larder") == "larder; hit; ttl=-10")
        #expect(Sample.shared.decision(for: stored(", stale-while-revalidate=9")).served == nil)
        #expect(Sample.shared.decision(for: stored(", stale-while-revalidate=x")).served == nil)
    }

    @Test("stale-while-revalidate yields to prohibitions and to the directives of the client")
    func staleWhileRevalidateForbidden() {
        for directive in ["must-revalidate", "proxy-revalidate", "s-maxage=10", "no-cache"] {
            #expect(
                Sample.shared.decision(for: stored(", stale-while-revalidate=60, \(directive)")).served == nil,
                "\(directive)"
            )
        }
        for wish in ["no-cache", "max-age=5", "min-fresh=1"] {
            #expect(
                Sample.shared.decision([.cacheControl: wish], for: stored(", stale-while-revalidate=60")).served == nil,
                "\(wish)"
            )
        }
        let offline = Sample.shared.decision(
            [.cacheControl: "only-if-cached"],
            for: stored(", stale-while-revalidate=60")
        ).served
        #expect(offline != nil && offline?.revalidation == nil)
    }

    @Test("stale-if-error permits a stale response within its window, from either side (RFC 5861 §4)")
    func staleIfError() {
        func fallback(_ directives: String, _ request: HTTPFields = [:]) -> Fallback? {
            Sample.shared.decision(request, for: stored(directives)).validation?.fallback
        }
        #expect(fallback("") == [])
        #expect(fallback(", stale-if-error=10") == [.unreachable, .serverError])
        #expect(fallback(", stale-if-error=9") == [])
        #expect(fallback("", [.cacheControl: "stale-if-error=10"]) == [.unreachable, .serverError])
        #expect(fallback(", must-revalidate, stale-if-error=60") == [])
    }

    @Test("The last good response is allowed unless it forbids that itself")
    func lastGood() {
        func fallback(_ directives: String, status: HTTPResponse.Status = .ok) -> Fallback? {
            Sample.lastGood.decision(for: stored(directives, status: status)).validation?.fallback
        }
        #expect(fallback("")?.contains(.unreachable) == true)
        #expect(fallback("", status: .notFound)?.contains(.unreachable) == true)
        #expect(fallback("", status: .serviceUnavailable) == [])
        for directive in ["must-revalidate", "proxy-revalidate", "no-cache", "s-maxage=2"] {
            #expect(fallback(", \(directive)") == [], "\(directive)")
        }
        #expect(
            Sample.lastGood.decision([.cacheControl: "no-cache"], for: stored("")).validation?.fallback.contains(
                .unreachable
            ) == true
        )
    }

    @Test("Which statuses are failures: four by stale-if-error, all 5xx and 429 for the last good response")
    func failures() {
        let declared: Fallback = [.unreachable, .serverError]
        #expect([200, 404, 429, 500, 501, 502, 503, 504, 599].filter(declared.covers) == [500, 502, 503, 504])
        #expect([200, 404, 429, 500, 501, 599].filter(Fallback.anyRefusal.covers) == [429, 500, 501, 599])
        #expect(!Fallback.unreachable.covers(status: 503))
    }
}
