import Foundation
import HTTP
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

@Suite("Responses to a validation (RFC 9111 §4.3.3, §4.3.4)")
struct ValidationOutcomeTests {
    private let later = Sample.now.addingTimeInterval(1)
    private let foo = HTTPField.Name.made("Foo")

    private func stored(_ fields: HTTPFields = [.eTag: "\"a\""], varying: HTTPFields = [:], age: Double = 20)
        -> CachedResponseHead
    {
        var all: HTTPFields = [.cacheControl: "max-age=10"]
        all.append(contentsOf: fields)
        return Sample.stored(all, age: age, varying: varying)
    }

    private func outcome(
        _ response: HTTPFields,
        status: HTTPResponse.Status = .notModified,
        request: HTTPFields = [:],
        policy: CachingRules = Sample.shared,
        for candidates: CachedResponseHead...
    ) -> ValidationOutcome? {
        guard
            let validation = policy.decision(
                for: Sample.request(.get, request),
                candidates: candidates,
                now: Sample.now
            ).validation
        else { return nil }
        return policy.outcome(
            of: validation,
            response: Sample.response(response, status: status),
            request: Sample.request(.get, request),
            candidates: candidates,
            requestTime: Sample.now,
            responseTime: later
        )
    }

    private func freshened(_ outcome: ValidationOutcome?) -> [Int]? {
        if case .freshened(let updates, _)? = outcome { updates.map(\.index) } else { nil }
    }

    private func serving(_ outcome: ValidationOutcome?) -> FreshenedResponse? {
        if case .freshened(_, let serving)? = outcome { serving } else { nil }
    }

    @Test("A 304 with the stored tag freshens: new times, new fields, old ones kept")
    func freshens() {
        let served = serving(
            outcome(
                [.eTag: "\"a\"", .cacheControl: "max-age=99", foo: "new"],
                for: stored([.eTag: "\"a\"", foo: "old", .made("Bar"): "kept"])
            )
        )
        #expect(served?.stored.headerFields[.cacheControl] == "max-age=99")
        #expect(served?.stored.headerFields[foo] == "new")
        #expect(served?.stored.headerFields[.made("Bar")] == "kept")
        #expect(served?.stored.requestTime == Sample.now && served?.stored.responseTime == later)
        #expect(served?.stored.age(at: later) == 1 && served?.mayBeKept == true)
    }

    @Test("Length, coding and part of the stored bytes stay, hop-by-hop fields and cookies do not come in (§3.2)")
    func unchanged() {
        var response: HTTPFields = [
            .eTag: "\"a\"", .contentLength: "10", .contentEncoding: "br", .contentRange: "bytes 0-1/2",
            .connection: "x",
        ]
        for name in ["x", "Transfer-Encoding", "Proxy-Authenticate", "Set-Cookie"] { response[.made(name)] = "1" }
        let before = stored([.eTag: "\"a\"", .contentLength: "36", .contentEncoding: "gzip"])
        let fields = serving(outcome(response, for: before))?.stored.headerFields
        #expect(fields?[.contentLength] == "36" && fields?[.contentEncoding] == "gzip")
        #expect(fields.map { Set($0.map(\.name)) } == [.cacheControl, .eTag, .contentLength, .contentEncoding, .date])
    }

    @Test("Repeated lines of a field are replaced by the repeated lines of the 304")
    func repeatedLines() {
        var response = Sample.lines(foo, "1", "2")
        response[.eTag] = "\"a\""
        var before: HTTPFields = [.eTag: "\"a\""]
        before.append(contentsOf: Sample.lines(foo, "x", "y", "z"))
        #expect(serving(outcome(response, for: stored(before)))?.stored.headerFields[values: foo] == ["1", "2"])
    }

    @Test("The Age of the stored response ends with its validation; one in the 304 counts")
    func age() {
        let aged = stored([.eTag: "\"a\"", .age: "500"])
        #expect(serving(outcome([.eTag: "\"a\""], for: aged))?.stored.age(at: later) == 1)
        #expect(serving(outcome([.eTag: "\"a\"", .age: "7"], for: aged))?.stored.age(at: later) == 8)
    }

    @Test("A 304 that forbids storing leaves a response for this request only")
    func mayNotBeKept() {
        for control in ["no-store", "private"] {
            #expect(serving(outcome([.eTag: "\"a\"", .cacheControl: control], for: stored()))?.mayBeKept == false)
        }
        #expect(serving(outcome([.eTag: "\"a\"", .vary: "*"], for: stored()))?.mayBeKept == false)
        let fields = serving(
            outcome([.eTag: "\"a\"", .cacheControl: "no-cache=\"foo\""], for: stored([.eTag: "\"a\"", foo: "1"]))
        )?.stored.headerFields
        #expect(fields?.contains(foo) == false)
    }

    @Test("A new Vary takes the values of the validating request")
    func newVary() {
        let served = serving(outcome([.eTag: "\"a\"", .vary: "Foo"], request: [foo: "1"], for: stored()))
        #expect(served?.stored.varyingFields == [foo: "1"])
    }

    @Test("A strong tag freshens every response that has it, a weak one or a date only the most recent")
    func selection() {
        let old = stored([.eTag: "\"a\"", .lastModified: Sample.date(-99)], age: 50)
        let new = stored([.eTag: "\"a\"", .lastModified: Sample.date(-99)], age: 20)
        let other = stored([.eTag: "\"b\""], age: 30)
        #expect(freshened(outcome([.eTag: "\"a\""], for: old, new, other)) == [0, 1])
        #expect(freshened(outcome([.eTag: "W/\"a\""], for: old, new, other)) == [1])
        #expect(freshened(outcome([.lastModified: Sample.date(-99)], for: old, new, other)) == [1])
        #expect(serving(outcome([.eTag: "\"a\""], for: old, new, other))?.index == 1)
        #expect(freshened(outcome([.eTag: "\"b\""], for: old, new, other)) == [2])
    }

    @Test("Variants that the request does not match are not freshened")
    func variants() {
        let mine = stored([.eTag: "\"a\"", .vary: "Foo"], varying: [foo: "1"])
        let yours = stored([.eTag: "\"a\"", .vary: "Foo"], varying: [foo: "2"])
        #expect(freshened(outcome([.eTag: "\"a\""], request: [foo: "1"], for: mine, yours)) == [0])
    }

    @Test("A 304 without validators refers to the validated response, unless the client named another one")
    func withoutValidators() {
        #expect(freshened(outcome([:], for: stored())) == [0])
        #expect(freshened(outcome([:], for: stored([.lastModified: Sample.date(-99)]))) == [0])
        #expect(outcome([:], request: [.ifNoneMatch: "\"x\""], for: stored()) == .passNotModified)
    }

    @Test("A 304 for the client's own version is forwarded; one that matches nothing leads to a second request")
    func foreign() {
        #expect(outcome([.eTag: "\"x\""], request: [.ifNoneMatch: "\"x\""], for: stored()) == .passNotModified)
        #expect(outcome([.eTag: "\"x\""], for: stored()) == .retryUnconditionally)
        #expect(outcome([:], for: stored([:])) == .retryUnconditionally)
    }

    @Test("A full response replaces; a server error does so unless the stored response may be used")
    func fullResponse() {
        #expect(outcome([:], status: .ok, for: stored()) == .replace)
        #expect(outcome([:], status: .serviceUnavailable, for: stored()) == .replace)
        #expect(outcome([:], status: .serviceUnavailable, policy: Sample.lastGood, for: stored()) == .useStored)
        #expect(outcome([:], status: .tooManyRequests, policy: Sample.lastGood, for: stored()) == .useStored)
        #expect(outcome([:], status: .notFound, policy: Sample.lastGood, for: stored()) == .replace)
        let tolerant = Sample.stored([.cacheControl: "max-age=10, stale-if-error=60"], age: 20)
        #expect(outcome([:], status: .badGateway, for: tolerant) == .useStored)
        #expect(outcome([:], status: .notImplemented, for: tolerant) == .replace)
    }
}

@Suite("Responses to HEAD (RFC 9111 §4.3.5)")
struct HeadEffectTests {
    private func effects(_ response: HTTPFields, status: HTTPResponse.Status = .ok, on stored: CachedResponseHead...)
        -> [HeadEffect]
    {
        Sample.shared.effects(
            ofHead: Sample.response(response, status: status),
            to: Sample.request(.head),
            candidates: stored,
            requestTime: Sample.now,
            responseTime: Sample.now
        )
    }

    @Test("A response that describes the same representation freshens it and keeps fields that it does not have")
    func same() {
        let stored = Sample.stored(
            [.cacheControl: "max-age=2", .made("A"): "1", .made("B"): "1", .contentLength: "5"],
            age: 9
        )
        guard
            case .update(let update)? = effects(
                [.cacheControl: "max-age=1000", .made("A"): "2", .contentLength: "5"],
                on: stored
            ).first
        else {
            Issue.record("not updated")
            return
        }
        #expect(update.stored.headerFields[.made("A")] == "2" && update.stored.headerFields[.made("B")] == "1")
        #expect(Sample.shared.freshness(of: update.stored, at: Sample.now).isFresh)
    }

    @Test("Another tag, date or length makes the stored response outdated")
    func different() {
        let stored = Sample.stored([.eTag: "\"a\"", .lastModified: Sample.date(-9), .contentLength: "5"])
        #expect(effects([.eTag: "\"b\""], on: stored) == [.outdated(index: 0)])
        #expect(effects([.lastModified: Sample.date(-8)], on: stored) == [.outdated(index: 0)])
        #expect(effects([.contentLength: "6"], on: stored) == [.outdated(index: 0)])
        #expect(effects([.eTag: "\"a\""], on: Sample.stored([:])) == [.outdated(index: 0)])
    }

    @Test("Other statuses, and stored responses of other statuses, are unchanged")
    func statuses() {
        #expect(effects([:], status: .gone, on: Sample.stored([:])).isEmpty)
        #expect(effects([:], on: Sample.stored([:], status: .notFound)).isEmpty)
    }
}
