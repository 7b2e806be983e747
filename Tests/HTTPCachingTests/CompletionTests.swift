import HTTPTypes
import Testing

@testable import HTTPCaching

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
