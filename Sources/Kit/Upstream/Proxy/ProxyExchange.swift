import Concurrency
import Foundation
import HTTP
import HTTPTypes
import NIOCore
import Storage

/// One request on its way through a mount: carries out the steps of ``ProxyMachine``.
struct ProxyExchange {
    /// The outcome of a step.
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
    /// The state of the store when it was read.
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
    /// - Throws: `UpstreamError` if there is no response; `CancellationError`; `StorageError`.
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

    /// Decides by the stored responses (RFC 9111 §4). Those that a write has invalidated (§4.4) are validated first.
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

extension ProxyExchange {
    /// Returns a stored response that may be used, and validates it in the background if it is to be (RFC 5861 §3).
    func serve(_ reuse: Reuse) async throws -> Progress {
        flight?.complete(.stored)
        let stored = candidates[reuse.index]
        guard let body = try await store.open(stored, for: request) else { return .event(.unreadable) }
        if let validation = reuse.revalidation {
            mount.revalidate(request, validation, among: candidates)
        }
        var response = served(
            reuse,
            body,
            as: reuse.status,
            isOffline: !client.reachability.isReachable
        )
        response.changeToken = snapshot?.changeToken(of: reuse, stored, request, in: mount)
        return .response(response)
    }

    /// Returns a stored response in place of the upstream's.
    func serveStale(_ validation: Validation, _ cause: StaleCause) async throws -> Progress {
        guard let body = try await store.open(candidates[validation.index], for: request) else {
            return .event(.unreadable)
        }
        let reuse = rules.reuse(
            of: validation.stored,
            at: validation.index,
            now: now,
            detail: cause.detail
        )
        let status =
            cause.isTried
            ? rules.account(
                of: validation.reason,
                upstreamStatus: cause.upstreamStatus,
                detail: cause.detail
            )
            : reuse.status
        return .response(served(reuse, body, as: status, isOffline: cause.isOffline))
    }

    /// Returns the response that another client's request has stored since this one began (RFC 9111 §4); not one that
    /// says `no-cache` (§5.2.2.4), nor one that a write has overtaken.
    func serveCollapsed(_ reason: CacheStatus.Forward) async throws -> Progress {
        let stored = try store.candidates(for: request)
        guard
            let index = rules.selectedIndex(
                for: request.cacheKeyRequest.headerFields,
                among: stored.map(\.head)
            ),
            isReceivedSince(stored[index]), !stored[index].isInvalidated,
            !CacheControl(stored[index].head.headerFields).contains("no-cache"),
            let body = try await store.open(stored[index], for: request)
        else { return .event(.unreadable) }
        let reuse = rules.reuse(of: stored[index].head, at: index, now: now)
        let status = rules.account(of: reason, upstreamStatus: nil, collapsed: true)
        return .response(served(reuse, body, as: status, isOffline: false))
    }

    /// Updates stored responses from a 304, and returns the one it is about (RFC 9111 §4.3.4).
    mutating func serveFreshened(_ updates: [FreshenedResponse], _ serving: FreshenedResponse)
        async throws -> Progress
    {
        guard let forwarded else { return .event(.unreadable) }
        try await drain(forwarded)
        // Opened before anything is removed: a response that may not be kept still serves this request.
        let body = try await store.open(candidates[serving.index], for: request)
        try await store.update(updates, of: candidates, from: forwarded, confirms: true)
        flight?.complete(.stored)
        guard let body else {
            candidates = []
            return .event(.unreadable)
        }
        let reuse = rules.reuse(of: serving.stored, at: serving.index, now: now)
        return .response(
            served(reuse, body, as: rules.account(of: plan.reason, upstreamStatus: 304), isOffline: false)
        )
    }

    /// Makes the response from the store. The client's own preconditions and range are evaluated here.
    func served(_ reuse: Reuse, _ body: MountBody, as cacheStatus: CacheStatus, isOffline: Bool)
        -> ProxyResponse
    {
        let length = body.length
        let response = ServedResponse(
            to: request.cacheKeyRequest,
            from: reuse.stored,
            age: reuse.age,
            bodyLength: length
        )
        var head = response.head
        cacheStatus.append(to: &head.headerFields, cacheName: rules.cacheName)
        if isOffline { head.headerFields[.larderOffline] = "?1" }
        return switch response.body {
        case .none: ProxyResponse(head: head, body: .none)
        case .whole: ProxyResponse(head: head, body: body.part(0..<length))
        case .part(let range):
            ProxyResponse(head: head, body: body.part(range.lowerBound..<(range.upperBound + 1)))
        }
    }

    /// Records the effect of a response to HEAD (RFC 9111 §4.3.5) or to a write (§4.4) on stored responses.
    ///
    /// - Returns: The response, as one received after the invalidation.
    func recordEffects(of received: ForwardedResponse) async throws -> ForwardedResponse {
        let changed = Invalidation.targets(of: request.cacheKeyRequest, url: request.key, response: received.head)
        let forwarded =
            changed.isEmpty ? received : try await store.invalidate(changed, by: received, to: request)
        let effects = rules.effects(
            ofHead: forwarded.head,
            to: request.cacheKeyRequest,
            candidates: candidates.map(\.head),
            requestTime: forwarded.requestTime,
            responseTime: forwarded.responseTime
        )
        var updates: [FreshenedResponse] = []
        var outdated: [CachedResponse.ID] = []
        for effect in effects {
            switch effect {
            case .update(let update): updates.append(update)
            case .outdated(let index): if let id = candidates[index].id { outdated.append(id) }
            }
        }
        if !updates.isEmpty { try await store.update(updates, of: candidates, from: forwarded, confirms: false) }
        if !outdated.isEmpty { try await store.invalidate(outdated, under: request.key) }
        return forwarded
    }

    /// Returns the head under which a response is stored; nil if it is not stored. Then the superseded response does
    /// not stay valid.
    func storedHead(of forwarded: ForwardedResponse) async throws -> CachedResponseHead? {
        let storability = rules.storability(
            of: forwarded.head,
            to: request.cacheKeyRequest,
            url: request.key,
            requestTime: forwarded.requestTime,
            responseTime: forwarded.responseTime
        )
        switch storability {
        case .store(let head) where head.parts != nil: return isStorable(part: head) ? head : nil
        case .store(let head) where forwarded.announced ?? 0 <= store.largestBody: return head
        case .store: try await store.removeSuperseded(by: request)
        default:
            guard isSuperseding(forwarded) else { break }
            let ids = candidates.filter { $0.head.matches(request.cacheKeyRequest.headerFields) }.compactMap(\.id)
            try await store.invalidate(ids, under: request.key)
        }
        return nil
    }

    /// Whether a part is of use: no whole is stored, and one would be.
    private func isStorable(part head: CachedResponseHead) -> Bool {
        guard let length = head.parts?.completeLength, length <= store.largestBody else { return false }
        return !candidates.contains {
            $0.head.parts == nil && $0.head.matches(request.cacheKeyRequest.headerFields)
        }
    }

    /// Whether a response that is not stored shows that the stored one, which was to be validated, is not current. It
    /// must be whole (RFC 9111 §4.3.3), and about the resource, not about this request's part, preconditions or timing.
    private func isSuperseding(_ forwarded: ForwardedResponse) -> Bool {
        let code = forwarded.response.status.code
        return plan.validation != nil && request.cacheKeyRequest.method == .get && (200..<500).contains(code)
            && ![206, 304, 408, 412, 416, 429].contains(code)
    }
}
