import Foundation
import Freshness
import HTTPCaching
import HTTPTypes
import NIOCore
import ResponseStore
import Upstream

/// One request on its way through a mount: carries out the steps of ``ProxyMachine``.
struct ProxyExchange {
    /// What a step led to.
    enum Progress {
        case response(ProxyResponse)
        case event(ProxyEvent)
    }

    let mount: Mount
    var request: ProxiedRequest
    /// The stored responses that the decision is about.
    var candidates: [CachedResponse] = []
    /// The right to fetch the response for all who wait for it.
    var flight: MountFlight?
    /// The upstream's response.
    var forwarded: ForwardedResponse?
    /// What the store was when it was looked at.
    private(set) var snapshot: StoreSnapshot?
    private let began: Date
    private var machine: ProxyMachine

    init(_ mount: Mount, _ request: ProxiedRequest, _ machine: ProxyMachine) {
        self.mount = mount
        self.request = request
        self.machine = machine
        began = mount.upstream.clock.now()
    }

    /// Why the request was sent, and which stored response it validates.
    var plan: ForwardPlan { machine.plan }
    var rules: CachingRules { mount.rules }
    var store: MountStore { mount.store }
    var client: UpstreamClient { mount.upstream.client }
    var now: Date { mount.upstream.clock.now() }

    /// Runs the request to its response.
    ///
    /// - Throws: ``UpstreamError`` if there is no response; `CancellationError`; `StorageError`.
    mutating func run() async throws -> ProxyResponse {
        var step = machine.first
        while true {
            switch try await perform(step) {
            case .response(let response): return response
            case .event(let event): step = machine.next(event)
            }
        }
    }

    private mutating func perform(_ step: ProxyStep) async throws -> Progress {
        switch step {
        case .look(let usingStore): .event(try look(usingStore: usingStore))
        case .serve(let reuse): try await serve(reuse)
        case .serveStale(let validation, let cause, _): try await serveStale(validation, cause)
        case .wait: .event(try await wait())
        case .serveCollapsed(let reason): try await serveCollapsed(reason)
        case .validate(let validation): .event(try await send(validation))
        case .complete(let completion): try await complete(completion)
        case .forward: .event(try await send(nil))
        case .forwardUnconditionally: .event(try await sendUnconditionally())
        case .serveFreshened(let updates, let serving): try await serveFreshened(updates, serving)
        case .pass: try await pass()
        case .fail(let error): throw error
        }
    }

    /// Decides by what is stored (RFC 9111 §4). What a write has invalidated (§4.4) is validated first.
    private mutating func look(usingStore: Bool) throws -> ProxyEvent {
        let snapshot = StoreSnapshot(of: mount, for: request)
        self.snapshot = snapshot
        candidates = request.readsStore && usingStore ? try store.candidates(for: request) : []
        let heads = candidates.map(\.head)
        var keyed = request.cacheKeyRequest
        if candidates.contains(where: \.isInvalidated),
            let index = rules.selectedIndex(for: keyed.headerFields, among: heads), candidates[index].isInvalidated
        {
            keyed.headerFields.append(HTTPField(name: .cacheControl, value: "no-cache"))
        }
        let now = snapshot.now
        let pause = client.pause(for: request.credential, at: now)
        let upstream = UpstreamState(client.reachability, pause: pause, for: request, at: now)
        if upstream.isOutOfReach { client.probeIfIdle() }
        return .looked(rules.decision(for: keyed, candidates: heads, now: now), upstream)
    }

    /// Joins the same request of another client, and waits for its end.
    private mutating func wait() async throws -> ProxyEvent {
        switch await mount.flights.join(request.flightKey) {
        case .leads(let own):
            flight = own
            return .leads
        case .completed(let outcome): return .completed(outcome)
        case .cancelled: throw CancellationError()
        }
    }

    /// Whether a stored response arrived since this request began: it was received for another client's.
    func isReceivedSince(_ stored: CachedResponse) -> Bool { stored.head.responseTime >= began }
}
