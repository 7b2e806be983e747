import Foundation
import HTTPCaching
import HTTPTypes
import Logging
public import Storage

/// An upstream's own API behind an HTTP cache (RFC 9111, 5861, 9211). `HTTPCaching` decides; this asks, stores, and
/// passes on.
///
/// Its responses are stored under a name of their own: what a screen made of the same URL is never taken for what the
/// upstream said of a raw request.
public final class Mount: Sendable {
    /// What is mounted.
    public let upstream: Upstream
    let policy: CachingRules
    let hasher: CredentialHasher
    let flights = MountFlights()
    /// Bumped when what is stored under a URL changes.
    let changes = VersionCounters()
    /// Bumped when a write makes what is stored under a URL doubtful.
    let invalidations = VersionCounters()
    let background = BackgroundTasks()

    /// Mounts an upstream. `hasher` makes credentials into keys of the store.
    public init(_ upstream: Upstream, hasher: CredentialHasher) {
        self.upstream = upstream
        self.hasher = hasher
        let options = upstream.configuration.mount
        policy = CachingRules(
            cacheName: "larder",
            shared: options.shared,
            heuristics: options.heuristics ? .tenPercent : .off,
            lastGood: options.lastGood
        )
    }

    /// Name under which the store keeps its responses.
    public var storeName: String { "\(upstream.configuration.name).raw" }

    /// Ends validations that nobody waits for.
    public func stop() { background.stop() }

    /// Answers a request, from the store or the upstream.
    ///
    /// - Throws: ``UpstreamError`` where there is nothing to answer with; `CancellationError`; `StorageError`.
    public func respond(to request: MountRequest) async throws -> ProxyResponse {
        let inquiry = try ProxiedRequest(request, to: upstream.configuration, hasher: hasher)
        let arrival = upstream.clock.now()
        var flight: MountFlight?
        var isUnreadable = false
        var mayCollapse = inquiry.mayCollapse
        while true {
            let look = look(for: inquiry)
            let stored = inquiry.readsStore && !isUnreadable ? try candidates(for: inquiry) : []
            let plan: ForwardPlan
            switch decision(inquiry, stored) {
            case .gatewayTimeout: throw UpstreamError.notStored
            case .serve(let reuse):
                flight?.complete(.stored)
                guard let body = try await open(stored[reuse.index]) else {
                    isUnreadable = true
                    continue
                }
                if let validation = reuse.revalidation {
                    revalidate(inquiry, ForwardPlan(validation: validation, candidates: stored))
                }
                let isOffline = !upstream.reachability.isReachable
                var response = served(inquiry, reuse, body, account: reuse.status, isOffline: isOffline)
                response.changeToken = changeToken(of: reuse, stored[reuse.index], inquiry, since: look)
                return response
            case .validate(let validation):
                if leavesAlone(inquiry), validation.fallback.contains(.unreachable),
                    let response = try await serveStale(
                        inquiry,
                        validation,
                        stored[validation.index],
                        detail: "offline",
                        isTried: false
                    )
                {
                    return response
                }
                if let pause = pause(for: inquiry) {
                    guard validation.fallback.covers(status: pause.status.code),
                        let response = try await serveStale(
                            inquiry,
                            validation,
                            stored[validation.index],
                            detail: "retry-after",
                            isTried: false,
                            isOffline: false
                        )
                    else { throw pause.error }
                    return response
                }
                plan = ForwardPlan(validation: validation, candidates: stored)
            case .forward(let reason):
                if let pause = pause(for: inquiry) { throw pause.error }
                plan = ForwardPlan(reason: reason, candidates: stored)
            }
            guard mayCollapse, flight == nil else { return try await relay(inquiry, plan, flight) }
            switch await flights.join(.init(url: inquiry.key, credential: inquiry.credential)) {
            // Look again: the flight before may have landed between the look and this.
            case .lead(let own): flight = own
            case .left: throw CancellationError()
            case .completed(.failed(let error)) where plan.validation == nil: throw error
            case .completed(let outcome):
                mayCollapse = outcome == .abandoned
                if outcome == .stored, let response = try await joined(inquiry, since: arrival, plan.reason) {
                    return response
                }
            }
        }
    }

    /// The decision of RFC 9111 §4. What a write has made doubtful (§4.4) is validated first.
    private func decision(_ inquiry: ProxiedRequest, _ stored: [CachedResponse]) -> Decision {
        let responses = stored.map(\.head)
        var request = inquiry.cacheKeyRequest
        if let index = policy.selectedIndex(for: request.headerFields, among: responses), stored[index].isInvalidated {
            request.headerFields.append(HTTPField(name: .cacheControl, value: "no-cache"))
        }
        return policy.decision(for: request, candidates: responses, now: upstream.clock.now())
    }

    /// Whether the upstream is known to be out of reach, so that asking would only cost time; not where its connections
    /// break, which costs none.
    private func leavesAlone(_ inquiry: ProxiedRequest) -> Bool {
        let reachability = upstream.reachability
        return !reachability.isReachable && !inquiry.requiresRevalidation
            && reachability.lastError?.reason != UnreachableReason.reset.rawValue
    }

    /// What the upstream has asked for with `Retry-After`, as it holds for the reads of screens: nobody reads from it
    /// until then but who asks for the network. Writes are tried.
    private func pause(for inquiry: ProxiedRequest) -> (status: HTTPResponse.Status, error: UpstreamError)? {
        let reachability = upstream.reachability
        guard inquiry.readsStore, !inquiry.requiresRevalidation,
            let seconds = reachability.secondsPaused(at: upstream.clock.now())
        else { return nil }
        let status = reachability.pausedBy ?? .tooManyRequests
        return (status, .failing(status: status, retryAfter: seconds))
    }

    /// The response that another client's request has brought since this one arrived. RFC 9111 §4: collapsed requests;
    /// §5.2.2.4: but not `no-cache`, nor what a write has overtaken that was done when this one arrived.
    private func joined(_ inquiry: ProxiedRequest, since arrival: Date, _ reason: CacheStatus.Forward) async throws
        -> ProxyResponse?
    {
        let stored = try candidates(for: inquiry)
        guard let index = policy.selectedIndex(for: inquiry.cacheKeyRequest.headerFields, among: stored.map(\.head)),
            stored[index].head.responseTime >= arrival, !stored[index].isInvalidated,
            !CacheControl(stored[index].head.headerFields).contains("no-cache"),
            let body = try await open(stored[index])
        else { return nil }
        let reuse = policy.reuse(of: stored[index].head, at: index, now: upstream.clock.now())
        return served(
            inquiry,
            reuse,
            body,
            account: policy.account(of: reason, upstreamStatus: nil, collapsed: true),
            isOffline: false
        )
    }

    /// RFC 5861 §3: validates while the client has its response already.
    private func revalidate(_ inquiry: ProxiedRequest, _ plan: ForwardPlan) {
        guard let flight = flights.leadIfFree(.init(url: inquiry.key, credential: inquiry.credential)) else { return }
        background.start { [self] in
            do {
                let response = try await relay(inquiry.withoutRange, plan, flight)
                if case .stream(let parts, _) = response.body { for try await _ in parts {} }
            } catch {
                upstream.logger.debug("a validation in the background failed", metadata: ["error": "\(error)"])
            }
        }
    }
}
