import HTTPTypes
import Testing

@testable import HTTP

struct StoredPartsTests {
    @Test("RFC 9111 §3.3 Parts that touch or overlap are one; what is missing is what none of them has")
    func joined() {
        let parts = StoredParts(of: 100, [40..<50, 0..<10, 10..<20, 15..<30, 60..<60])
        #expect(parts.ranges == [0..<30, 40..<50])
        #expect(parts.missing(in: 0..<100) == [30..<40, 50..<100])
        #expect(parts.missing(in: 5..<30) == [] && parts.missing(in: 20..<45) == [30..<40])
        #expect(parts.missing(in: 30..<40) == [30..<40] && parts.missing(in: 99..<100) == [99..<100])
        #expect(!parts.isComplete && parts.adding([25..<41, 49..<100]).isComplete)
    }

    @Test("RFC 9111 §3.3 Nothing is missing of an empty range")
    func empty() {
        #expect(StoredParts(of: 10, []).missing(in: 3..<3) == [] && StoredParts(of: 0, []).isComplete)
    }
}

/// Storing parts of a representation.
@Suite struct CachingRulesPartsTests {
    private static func fields(_ tag: String? = "\"a\"", _ range: String? = "bytes 2-4/10", _ more: HTTPFields = [:])
        -> HTTPFields
    {
        var fields = more
        fields[.cacheControl] = "max-age=60"
        fields[.eTag] = tag
        fields[.contentRange] = range
        return fields
    }

    private static func part(_ range: Range<Int>, _ tag: String = "\"a\"", age: Double = 0) -> CachedResponseHead {
        var head = Sample.stored([.eTag: tag, .contentLength: "10"], age: age, status: .partialContent)
        head.parts = StoredParts(of: 10, [range])
        return head
    }

    @Test("RFC 9111 §3.3 A 206 with a strong entity tag is stored as an incomplete 200")
    func stored() throws {
        let head = try #require(Sample.shared.storability(Self.fields(), status: .partialContent).stored)
        #expect(head.parts == StoredParts(of: 10, [2..<5]))
        #expect(head.headerFields[.contentLength] == "10" && head.headerFields[.contentRange] == nil)
    }

    @Test(
        "RFC 9110 §15.3.7.3 A 206 is not stored that could not be combined",
        arguments: [
            fields(nil), fields("W/\"a\""), fields("\"a\"", nil), fields("\"a\"", "bytes 2-4/*"),
            fields("\"a\"", "bytes 2-4/10", [.contentLength: "2"]),
            fields("\"a\"", "bytes 2-4/10", [.contentType: "multipart/byteranges; boundary=x"]),
        ]
    )
    func refused(fields: HTTPFields) {
        #expect(Sample.shared.storability(fields, status: .partialContent).refusal == .partial)
    }

    @Test("RFC 9111 §3 What forbids to store a whole forbids to store a part")
    func forbidden() {
        var fields = Self.fields()
        fields[.cacheControl] = "no-store"
        #expect(Sample.shared.storability(fields, status: .partialContent).refusal == .noStore)
        fields[.cacheControl] = "private"
        #expect(Sample.shared.storability(fields, status: .partialContent).refusal == .isPrivate)
        #expect(
            Sample.shared.storability(Self.fields(), status: .partialContent, to: Sample.request(.post)).refusal
                == .method
        )
    }

    @Test("RFC 9111 §3.4 Parts with the same strong entity tag are combined under the newer head")
    func beside() {
        let placement = Sample.shared.placement(of: Self.part(5..<10), among: [Self.part(2..<5, age: 9)])
        guard case .beside(0, let head) = placement else {
            Issue.record("\(placement)")
            return
        }
        #expect(head.parts?.ranges == [2..<10] && head.responseTime == Sample.now)
        let late = Sample.shared.placement(of: Self.part(5..<10, age: 9), among: [Self.part(2..<5)])
        guard case .beside(0, let newer) = late else {
            Issue.record("\(late)")
            return
        }
        #expect(newer.parts?.ranges == [2..<10] && newer.responseTime == Sample.now)
    }

    @Test("RFC 9110 §15.3.7.3 A part of another representation is not combined, and replaces no newer one")
    func other() {
        let (old, new) = (Self.part(0..<5, age: 9), Self.part(5..<10, "\"b\""))
        #expect(Sample.shared.placement(of: new, among: [old]) == .anew(replacing: [0]))
        #expect(Sample.shared.placement(of: old, among: [new]) == .discarded)
        #expect(Sample.shared.placement(of: new, among: []) == .anew(replacing: []))
    }

    @Test("RFC 9111 §3.4 A part replaces no whole, of whichever representation", arguments: ["\"a\"", "\"b\""])
    func whole(tag: String) {
        let whole = Sample.stored([.eTag: "\"a\""], age: 99)
        #expect(Sample.shared.placement(of: Self.part(0..<5, tag), among: [whole]) == .discarded)
    }

    @Test("RFC 9111 §3.3 The beginning of a whole is a part if it can be completed")
    func beginning() {
        let whole = Sample.stored([.eTag: "\"a\"", .contentLength: "10"])
        let part = Sample.shared.beginning(of: whole, received: 4)
        #expect(part?.parts == StoredParts(of: 10, [0..<4]) && part?.status == .partialContent)
        #expect(Sample.shared.beginning(of: whole, received: 10) == nil)
        #expect(Sample.shared.beginning(of: whole, received: 0) == nil)
        #expect(Sample.shared.beginning(of: Sample.stored([.eTag: "\"a\""]), received: 4) == nil)
        for fields: HTTPFields in [[.contentLength: "10"], [.eTag: "W/\"a\"", .contentLength: "10"]] {
            #expect(Sample.shared.beginning(of: Sample.stored(fields), received: 4) == nil)
        }
        let error = Sample.stored([.eTag: "\"a\"", .contentLength: "10"], status: .notFound)
        #expect(Sample.shared.beginning(of: error, received: 4) == nil)
    }
}

/// Requests for bytes of which some are stored.
@Suite struct CompletionTests {
    /// Bytes 20 to 49 and 60 to 79 of a hundred, fresh.
    private static var stored: CachedResponseHead {
        var head = Sample.stored(
            [.cacheControl: "max-age=60", .eTag: "\"a\"", .contentLength: "100"],
            status: .partialContent
        )
        head.parts = StoredParts(of: 100, [20..<50, 60..<80])
        return head
    }

    private static func completion(_ missing: Range<Int>) -> Decision {
        .complete(Completion(index: 0, stored: stored, missing: missing))
    }

    private static func outcome(_ status: HTTPResponse.Status, _ fields: HTTPFields) -> CompletionOutcome {
        Sample.shared.outcome(
            of: Completion(index: 0, stored: stored, missing: 50..<60),
            response: Sample.response(fields, status: status),
            request: Sample.request(.get, [.range: "bytes=20-79"]),
            requestTime: Sample.now,
            responseTime: Sample.now
        )
    }

    private static let missing: HTTPFields = [
        .eTag: "\"a\"", .contentRange: "bytes 50-59/100", .contentLength: "10", .cacheControl: "max-age=9",
    ]

    @Test("RFC 9111 §3.3 A range within the stored parts is served, as a 206", arguments: ["20-49", "60-60", "-0"])
    func served(range: String) {
        let decision = Sample.shared.decision([.range: "bytes=\(range)"], for: Self.stored)
        #expect((decision.served != nil) == (range != "-0"))
        let response = ServedResponse(
            to: Sample.request(.get, [.range: "bytes=60-60"]),
            from: Self.stored,
            age: 0,
            bodyLength: 100
        )
        #expect(response.head.status == .partialContent && response.body == .part(60...60))
        #expect(response.head.headerFields[.contentRange] == "bytes 60-60/100")
    }

    @Test("RFC 9111 §3.4 One gap is requested alone, whether the client wants a range or all")
    func gap() {
        #expect(Sample.shared.decision([.range: "bytes=30-69"], for: Self.stored) == Self.completion(50..<60))
        #expect(Sample.shared.decision([.range: "bytes=70-"], for: Self.stored) == Self.completion(80..<100))
        #expect(Sample.shared.decision([.range: "bytes=0-24"], for: Self.stored) == Self.completion(0..<20))
        var beginning = Self.stored
        beginning.parts = StoredParts(of: 100, [0..<50])
        let whole = Sample.shared.decision(for: beginning)
        #expect(whole == .complete(Completion(index: 0, stored: beginning, missing: 50..<100)))
    }

    @Test(
        "RFC 9111 §3.3 What the parts do not help with is forwarded as it is",
        arguments: [
            [:], [.range: "bytes=0-99"], [.range: "bytes=0-9"], [.range: "bytes=100-"],
            [.range: "bytes=20-29,60-69"], [.range: "items=0-9"],
            [.range: "bytes=30-69", .ifNoneMatch: "\"b\""],
        ] as [HTTPFields]
    )
    func forwarded(fields: HTTPFields) {
        #expect(Sample.shared.decision(fields, for: Self.stored) == .forward(.partial))
    }

    @Test("RFC 9111 §3.3 A HEAD is served once all bytes are stored; so is a GET of the whole, as a 200")
    func complete() {
        let head = Sample.request(.head)
        let incomplete = Sample.shared.decision(for: head, candidates: [Self.stored], now: Sample.now)
        #expect(incomplete == .forward(.partial))
        var all = Self.stored
        all.parts = StoredParts(of: 100, [0..<100])
        #expect(Sample.shared.decision(for: head, candidates: [all], now: Sample.now).served != nil)
        #expect(Sample.shared.decision(for: all).served != nil)
        let response = ServedResponse(to: Sample.request(), from: all, age: 0, bodyLength: 100)
        #expect(response.head.status == .ok && response.body == .whole)
    }

    @Test("RFC 9110 §13.1.5 With an If-Range of another version the whole is meant")
    func ifRange() {
        var all = Self.stored
        all.parts = StoredParts(of: 100, [0..<80])
        let fields: HTTPFields = [.range: "bytes=0-9", .ifRange: "\"b\""]
        let expected = Completion(index: 0, stored: all, missing: 80..<100)
        #expect(Sample.shared.decision(fields, for: all) == .complete(expected))
        #expect(Sample.shared.decision([.range: "bytes=0-9", .ifRange: "\"a\""], for: all).served != nil)
    }

    @Test("RFC 9111 §4.2 Stale parts are validated; §5.2.1.7 only-if-cached gets what is there")
    func directives() {
        var stale = Self.stored
        stale.headerFields[.cacheControl] = "max-age=0"
        let validation = Sample.shared.decision([.range: "bytes=20-29"], for: stale).validation
        #expect(validation?.condition.ifNoneMatch == "\"a\"")
        let only: HTTPFields = [.range: "bytes=30-69", .cacheControl: "only-if-cached"]
        #expect(Sample.shared.decision(only, for: Self.stored) == .gatewayTimeout(nil))
    }

    @Test("RFC 9110 §13.1.5 The missing bytes are requested on the condition that the version is the same")
    func request() {
        var fields: HTTPFields = [.range: "bytes=30-69", .accept: "*/*"]
        Completion(index: 0, stored: Self.stored, missing: 50..<60).apply(to: &fields)
        #expect(fields == [.range: "bytes=50-59", .accept: "*/*", .ifRange: "\"a\""])
    }

    @Test("RFC 9111 §3.4 The missing bytes of the same version are combined, with the fields of the new response")
    func combined() {
        guard case .combined(let head) = Self.outcome(.partialContent, Self.missing) else {
            Issue.record("not combined")
            return
        }
        #expect(head.parts?.ranges == [20..<80] && head.headerFields[.cacheControl] == "max-age=9")
        #expect(head.headerFields[.contentLength] == "100" && head.headerFields[.contentRange] == nil)
    }

    @Test(
        "RFC 9110 §15.3.7.3 Other bytes, another version or length are not combined",
        arguments: [
            (HTTPField.Name.eTag, "\"b\""), (.eTag, "W/\"a\""), (.contentRange, "bytes 50-59/101"),
            (.contentRange, "bytes 50-58/100"), (.contentRange, "bytes 40-49/100"), (.contentLength, "9"),
        ]
    )
    func retried(name: HTTPField.Name, value: String) {
        var fields = Self.missing
        fields[name] = value
        #expect(Self.outcome(.partialContent, fields) == .retry)
        fields[name] = nil
        #expect(Self.outcome(.partialContent, fields) == .retry)
    }

    @Test("RFC 9110 §14.2 A whole or an error is the response; a 416 is about the bytes that the cache requested")
    func others() {
        for status in [HTTPResponse.Status.ok, .notFound, .serviceUnavailable] {
            #expect(Self.outcome(status, [:]) == .pass)
        }
        #expect(Self.outcome(.rangeNotSatisfiable, [:]) == .retry && Self.outcome(.notModified, [:]) == .retry)
    }
}
