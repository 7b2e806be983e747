import Foundation
import HTTPTypes
import TestKit
import Testing

@testable import HTTP
@testable import Upstream

/// The way of a request as a value: events in, steps out.
struct ProxyMachineTests {
    private static let head = CachedResponseHead(
        url: "https://api.test/thing",
        status: .ok,
        headerFields: [.cacheControl: "max-age=1"],
        requestTime: Date(timeIntervalSince1970: 0),
        responseTime: Date(timeIntervalSince1970: 0)
    )

    private static func validation(_ fallback: Fallback = [.unreachable, .serverError]) -> Validation {
        Validation(
            index: 0,
            stored: head,
            condition: ConditionalRequest(validating: head, client: [:]),
            reason: .stale,
            fallback: fallback
        )
    }

    private static let reuse = CachingRules(cacheName: "larder", shared: true).reuse(
        of: head,
        at: 0,
        now: Date(timeIntervalSince1970: 0)
    )

    private static let down = UpstreamState(isOutOfReach: true, pause: nil)
    private static let paused = UpstreamState(
        isOutOfReach: false,
        pause: UpstreamState.Pause(status: .serviceUnavailable, seconds: 7)
    )
    private static let pause = UpstreamError.known(.failing(status: .serviceUnavailable, retryAfter: 7))
    private static let refused = UpstreamError.unreachable(.refused)

    private var machine = ProxyMachine(mayCollapse: false)
    private var collapsing = ProxyMachine(mayCollapse: true)

    @Test("A request begins with a look at the store; what is fresh there is served")
    mutating func fresh() {
        #expect(machine.first == .look(usingStore: true))
        #expect(machine.next(.looked(.serve(Self.reuse), Self.down)) == .serve(Self.reuse))
    }

    @Test("A stored response whose body is lost is looked past")
    mutating func lostBody() {
        _ = machine.next(.looked(.serve(Self.reuse), .ready))
        #expect(machine.next(.unreadable) == .look(usingStore: false))
        #expect(machine.next(.looked(.forward(.uriMiss), .ready)) == .forward(.uriMiss))
    }

    @Test("only-if-cached without a usable response fails")
    mutating func onlyIfCached() {
        #expect(machine.next(.looked(.gatewayTimeout(nil), .ready)) == .fail(.notStored))
    }

    @Test("TRUST-07 only-if-cached gets a stale response only while the upstream is out of reach (RFC 9111 §4.2.4)")
    mutating func onlyIfDisconnected() {
        let validation = Self.validation()
        #expect(machine.next(.looked(.gatewayTimeout(validation), .ready)) == .fail(.notStored))
        let step = machine.next(.looked(.gatewayTimeout(validation), Self.down))
        #expect(step == .serveStale(validation, .offline, otherwise: .fail(.notStored)))
    }

    @Test("While the upstream is out of reach, a stored response is served without asking, if it may be")
    mutating func outOfReach() {
        let validation = Self.validation()
        let step = machine.next(.looked(.validate(validation), Self.down))
        #expect(step == .serveStale(validation, .offline, otherwise: .validate(validation)))
        #expect(machine.next(.unreadable) == .validate(validation))
        let strict = Self.validation([])
        #expect(machine.next(.looked(.validate(strict), Self.down)) == .validate(strict))
        #expect(machine.next(.looked(.forward(.uriMiss), Self.down)) == .forward(.uriMiss))
    }

    @Test("A pause that the upstream asked for is observed; what is stored is served if a 503 permits it")
    mutating func pause() {
        let validation = Self.validation()
        let stale = ProxyStep.serveStale(validation, .paused, otherwise: .fail(Self.pause))
        #expect(machine.next(.looked(.validate(validation), Self.paused)) == stale)
        #expect(machine.next(.unreadable) == .fail(Self.pause))
        #expect(machine.next(.looked(.validate(Self.validation([])), Self.paused)) == .fail(Self.pause))
        #expect(machine.next(.looked(.forward(.uriMiss), Self.paused)) == .fail(Self.pause))
    }

    @Test("Out of reach and paused: the pause counts if the stored body is lost")
    mutating func downAndPaused() {
        let validation = Self.validation()
        let state = UpstreamState(isOutOfReach: true, pause: Self.paused.pause)
        let stale = ProxyStep.serveStale(validation, .paused, otherwise: .fail(Self.pause))
        #expect(
            machine.next(.looked(.validate(validation), state))
                == .serveStale(validation, .offline, otherwise: stale)
        )
        #expect(machine.next(.unreadable) == stale)
        #expect(machine.next(.unreadable) == .fail(Self.pause))
    }

    @Test("A request that another one could serve waits for it, and looks again when it leads")
    mutating func leads() {
        #expect(collapsing.next(.looked(.forward(.uriMiss), .ready)) == .wait(ForwardPlan(.uriMiss)))
        #expect(collapsing.next(.leads) == .look(usingStore: true))
        #expect(collapsing.next(.looked(.forward(.uriMiss), .ready)) == .forward(.uriMiss), "waits once")
    }

    @Test("What the other request stored is served; if it may not be, this one is sent")
    mutating func collapsed() {
        _ = collapsing.next(.looked(.forward(.uriMiss), .ready))
        #expect(collapsing.next(.completed(.stored)) == .serveCollapsed(.uriMiss))
        #expect(collapsing.next(.unreadable) == .look(usingStore: true))
        #expect(collapsing.next(.looked(.forward(.uriMiss), .ready)) == .forward(.uriMiss))
    }

    @Test("If the other client left, this request may wait for the next one; if its response was private, it is sent")
    mutating func abandoned() {
        _ = collapsing.next(.looked(.forward(.uriMiss), .ready))
        #expect(collapsing.next(.completed(.abandoned)) == .look(usingStore: true))
        #expect(collapsing.next(.looked(.forward(.uriMiss), .ready)) == .wait(ForwardPlan(.uriMiss)))
        #expect(collapsing.next(.completed(.notStored)) == .look(usingStore: true))
        #expect(collapsing.next(.looked(.forward(.uriMiss), .ready)) == .forward(.uriMiss))
    }

    @Test("The other request's failure is this one's, unless something stored may be served")
    mutating func sharedFailure() {
        _ = collapsing.next(.looked(.forward(.uriMiss), .ready))
        #expect(collapsing.next(.completed(.failed(Self.refused))) == .fail(Self.refused))
        var other = ProxyMachine(mayCollapse: true)
        _ = other.next(.looked(.validate(Self.validation()), .ready))
        #expect(other.next(.completed(.failed(Self.refused))) == .look(usingStore: true))
    }

    @Test("Without a response what is stored is served, if it may be")
    mutating func failure() {
        let validation = Self.validation()
        _ = machine.next(.looked(.validate(validation), .ready))
        #expect(
            machine.next(.failed(Self.refused))
                == .serveStale(validation, .failed(Self.refused), otherwise: .fail(Self.refused))
        )
        #expect(machine.next(.unreadable) == .fail(Self.refused))
        _ = machine.next(.looked(.validate(Self.validation([])), .ready))
        #expect(machine.next(.failed(Self.refused)) == .fail(Self.refused))
        _ = machine.next(.looked(.forward(.uriMiss), .ready))
        #expect(machine.next(.failed(Self.refused)) == .fail(Self.refused))
    }

    @Test("A 304 freshens what is stored; if its body is lost, all of it is fetched")
    mutating func freshened() {
        let update = FreshenedResponse(index: 0, stored: Self.head, mayBeKept: true)
        _ = machine.next(.looked(.validate(Self.validation()), .ready))
        #expect(
            machine.next(.responded(.notModified, .freshened([update], serving: update)))
                == .serveFreshened([update], serving: update)
        )
        #expect(machine.next(.unreadable) == .forward(.miss))
        #expect(machine.next(.failed(Self.refused)) == .fail(Self.refused), "nothing is stored any more")
    }

    @Test("A 304 about nothing that is known is followed by a request without preconditions")
    mutating func unknown304() {
        _ = machine.next(.looked(.validate(Self.validation()), .ready))
        #expect(machine.next(.responded(.notModified, .retryUnconditionally)) == .forwardUnconditionally(.stale))
        #expect(machine.next(.responded(.ok, nil)) == .pass)
    }

    @Test("A refusal is hidden by what is stored; it is passed on if that is lost")
    mutating func refusal() {
        let validation = Self.validation()
        _ = machine.next(.looked(.validate(validation), .ready))
        #expect(
            machine.next(.responded(.badGateway, .useStored))
                == .serveStale(validation, .status(.badGateway), otherwise: .pass)
        )
        #expect(machine.next(.unreadable) == .pass)
    }

    @Test("Everything else is passed on", arguments: [nil, ValidationOutcome.replace, .passNotModified])
    func passes(outcome: ValidationOutcome?) {
        var machine = ProxyMachine(mayCollapse: false)
        _ = machine.next(.looked(.validate(Self.validation()), .ready))
        #expect(machine.next(.responded(.ok, outcome)) == .pass)
    }

    @Test("A small body that breaks off is replaced by what is stored, or fails")
    mutating func brokenBody() {
        let validation = Self.validation()
        let error = UpstreamError.badResponse(status: .ok, reason: UpstreamError.cutShort)
        _ = machine.next(.looked(.validate(validation), .ready))
        _ = machine.next(.responded(.ok, .replace))
        #expect(machine.next(.brokeOff(.ok)) == .serveStale(validation, .brokeOff(.ok), otherwise: .fail(error)))
        _ = machine.next(.looked(.forward(.uriMiss), .ready))
        #expect(machine.next(.brokeOff(.ok)) == .fail(error))
    }

    @Test("A validation in the background begins with its request")
    func background() {
        let validation = Self.validation()
        var machine = ProxyMachine(validating: validation)
        #expect(machine.first == .validate(validation))
        #expect(machine.plan == ForwardPlan(validation))
        #expect(machine.next(.responded(.ok, .replace)) == .pass)
    }

    @Test("How a stored response is marked as stale")
    func causes() {
        #expect(StaleCause.offline.isOffline && !StaleCause.offline.isTried)
        #expect(!StaleCause.paused.isOffline && !StaleCause.paused.isTried)
        #expect(StaleCause.failed(Self.refused).detail == "unreachable")
        #expect(StaleCause.failed(.badResponse(status: nil, reason: "")).detail == "bad-response")
        #expect(StaleCause.failed(Self.refused).isOffline)
        let refused = StaleCause.status(.badGateway)
        #expect(refused.upstreamStatus == 502 && !refused.isOffline && refused.isTried)
    }
}

@Suite("Mounts: pauses", .timeLimit(.minutes(10)))
struct UpstreamStateTests {
    @Test(
        "SRV-05 SRV-07 Until its Retry-After ends, neither mounts nor screens read an upstream, except to revalidate",
        arguments: [HTTPResponse.Status.tooManyRequests, .serviceUnavailable]
    )
    func pause(status: HTTPResponse.Status) async throws {
        let it = try MountScenario(MountOptions(methods: [.get, .head, .post]))
        let transport = it.scene.transport
        transport.then(
            response(.ok, "one", fields: it.fields("max-age=5")),
            response(status, fields: [.retryAfter: "30"])
        )
        try await it.ask()
        it.scene.clock.advance(by: .seconds(6))
        #expect(try await it.ask(.get, "/other").status == status.code)
        #expect(transport.count == 2)

        let stale = try await it.ask()
        #expect(
            stale.body == "one" && stale.cacheStatus == "larder; hit; ttl=-1; detail=retry-after" && !stale.isOffline
        )
        await #expect(throws: UpstreamError.known(.failing(status: status, retryAfter: 30))) {
            try await it.ask(.get, "/other")
        }
        await #expect(throws: UpstreamError.known(.failing(status: status, retryAfter: 30))) {
            try await it.scene.upstream.read(it.scene.list())
        }
        #expect(transport.count == 2)

        transport.then(response(.ok, "written"), response(.ok, "new", fields: it.fields("max-age=5")))
        #expect(try await it.ask(.post, "/other", body: "{}").body == "written", "a write is tried")
        #expect(try await it.ask(.get, "/thing", [.cacheControl: "no-cache"]).body == "new")
    }

    @Test("SRV-07 What must be validated is not shown unvalidated during the pause either")
    func mustRevalidate() async throws {
        let it = try MountScenario()
        it.scene.transport.then(
            response(.ok, "one", fields: it.fields("max-age=5, must-revalidate")),
            response(.tooManyRequests, fields: [.retryAfter: "30"])
        )
        try await it.ask()
        it.scene.clock.advance(by: .seconds(6))
        #expect(try await it.ask(.get, "/other").status == 429)
        await #expect(throws: UpstreamError.known(.failing(status: .tooManyRequests, retryAfter: 30))) {
            try await it.ask()
        }
        #expect(it.scene.transport.count == 2)
    }

    @Test("SRV-05 Cache-Status has fwd, and an error says that a request was sent, if and only if one was")
    func told() async throws {
        let it = try MountScenario()
        let transport = it.scene.transport
        func ask(_ target: String = "/thing", _ fields: HTTPFields = [:], isSent: Bool) async throws {
            let before = transport.count
            do {
                let seen = try await it.ask(.get, target, fields)
                #expect(seen.cacheStatus?.contains("fwd=") == isSent, "\(seen)")
            } catch let error as UpstreamError {
                #expect(error.wasSent == isSent, "\(error)")
            }
            #expect((transport.count > before) == isSent)
        }
        transport.then(
            response(.ok, "one", fields: it.fields("max-age=5")),
            response(.tooManyRequests, fields: [.retryAfter: "30"])
        )
        try await ask(isSent: true)
        try await ask(isSent: false)
        try await ask("/other", [.cacheControl: "only-if-cached"], isSent: false)
        try await ask("/other", isSent: true)
        try await ask("/other", isSent: false)
        try await ask("/other", [.range: "bytes=0-1"], isSent: false)
        it.scene.clock.advance(by: .seconds(6))
        try await ask(isSent: false)
        it.scene.clock.advance(by: .seconds(60))
        transport.goAway()
        try await ask(isSent: true)
        try await ask(isSent: false)
        try await ask("/thing", [.cacheControl: "only-if-cached"], isSent: false)
        try await ask("/thing", [.cacheControl: "no-cache"], isSent: true)
        try await ask("/other", isSent: true)
    }

    @Test("SRV-05 A Retry-After that a mount receives applies to screens, too")
    func shared() async throws {
        let it = try MountScenario()
        try await it.scene.age(it.scene.list())
        it.scene.transport.then(response(.serviceUnavailable, fields: [.retryAfter: "30"]))
        try await it.ask()
        let result = try await it.scene.upstream.read(it.scene.list())
        #expect(result.cacheStatus?.hasSuffix("detail=retry-after") == true)
    }
}
