import Foundation
import HTTPTypes
import Testing
import Upstream

@testable import HTTPCaching
@testable import Proxy

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
        #expect(
            collapsing.next(.looked(.forward(.uriMiss), .ready)) == .wait(ForwardPlan(.uriMiss))
        )
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
        #expect(
            machine.next(.brokeOff(.ok)) == .serveStale(validation, .brokeOff(.ok), otherwise: .fail(error))
        )
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
