import Foundation
import HTTPCaching
import HTTPTypes
import Logging
public import Storage

/// An upstream's own API behind an HTTP cache (RFC 9111, 5861, 9211). `HTTPCaching` decides; this asks, stores, and
/// passes on.
///
/// Its answers are stored under a name of their own: what a screen made of the same URL is never taken for what the
/// upstream said of a raw request.
public final class Mount: Sendable {
    /// What is mounted.
    public let upstream: Upstream
    let policy: Policy
    let hasher: CredentialHasher
    let flights = MountFlights()
    /// Bumped when what is stored under a URL changes.
    let changes = ChangeStamps()
    /// Bumped when a write makes what is stored under a URL doubtful.
    let invalidations = ChangeStamps()
    let background = BackgroundTasks()

    /// Mounts an upstream. `hasher` makes credentials into keys of the store.
    public init(_ upstream: Upstream, hasher: CredentialHasher) {
        self.upstream = upstream
        self.hasher = hasher
        let options = upstream.configuration.mount
        policy = Policy(
            cacheName: "larder",
            shared: options.shared,
            heuristics: options.heuristics ? .tenPercent : .off,
            lastGood: options.lastGood
        )
    }

    /// Name under which the store keeps its answers.
    public var storeName: String { "\(upstream.configuration.name).raw" }

    /// Ends validations that nobody waits for.
    public func stop() { background.stop() }

    /// Answers a request, from the store or the upstream.
    ///
    /// - Throws: ``UpstreamError`` where there is nothing to answer with; `CancellationError`; `StorageError`.
    public func answer(_ request: MountRequest) async throws -> MountAnswer {
        let inquiry = try MountInquiry(request, to: upstream.configuration, hasher: hasher)
        let arrival = upstream.clock.now()
        var flight: MountFlight?
        var isUnreadable = false
        var mayCollapse = inquiry.mayCollapse
        while true {
            let look = look(for: inquiry)
            let stored = inquiry.readsStore && !isUnreadable ? try candidates(for: inquiry) : []
            let plan: Relay
            switch decision(inquiry, stored) {
            case .gatewayTimeout: throw UpstreamError.notStored
            case .serve(let reuse):
                flight?.land(.stored)
                guard let body = try await open(stored[reuse.index]) else {
                    isUnreadable = true
                    continue
                }
                if let validation = reuse.revalidation {
                    revalidate(inquiry, Relay(validation: validation, candidates: stored))
                }
                let isOffline = !upstream.reachability.isReachable
                var answer = served(inquiry, reuse, body, account: reuse.status, isOffline: isOffline)
                answer.validity = validity(of: reuse, stored[reuse.index], inquiry, since: look)
                return answer
            case .validate(let validation):
                if leavesAlone(inquiry), validation.fallback.contains(.unreachable),
                    let answer = try await standIn(
                        inquiry,
                        validation,
                        stored[validation.index],
                        detail: "offline",
                        isTried: false
                    )
                {
                    return answer
                }
                if let pause = pause(for: inquiry) {
                    guard validation.fallback.covers(status: pause.status.code),
                        let answer = try await standIn(
                            inquiry,
                            validation,
                            stored[validation.index],
                            detail: "retry-after",
                            isTried: false,
                            isOffline: false
                        )
                    else { throw pause.error }
                    return answer
                }
                plan = Relay(validation: validation, candidates: stored)
            case .forward(let reason):
                if let pause = pause(for: inquiry) { throw pause.error }
                plan = Relay(reason: reason, candidates: stored)
            }
            guard mayCollapse, flight == nil else { return try await relay(inquiry, plan, flight) }
            switch await flights.board(.init(url: inquiry.key, credential: inquiry.credential)) {
            // Look again: the flight before may have landed between the look and this.
            case .lead(let own): flight = own
            case .left: throw CancellationError()
            case .landed(.failed(let error)) where plan.validation == nil: throw error
            case .landed(let outcome):
                mayCollapse = outcome == .abandoned
                if outcome == .stored, let answer = try await joined(inquiry, since: arrival, plan.reason) {
                    return answer
                }
            }
        }
    }

    /// The decision of RFC 9111 §4. What a write has made doubtful (§4.4) is validated first.
    private func decision(_ inquiry: MountInquiry, _ stored: [StoredAnswer]) -> Decision {
        let responses = stored.map(\.response)
        var request = inquiry.judged
        if let index = policy.selectedIndex(for: request.headerFields, among: responses), stored[index].isInvalidated {
            request.headerFields.append(HTTPField(name: .cacheControl, value: "no-cache"))
        }
        return policy.decision(for: request, candidates: responses, now: upstream.clock.now())
    }

    /// Whether the upstream is known to be out of reach, so that asking would only cost time; not where its connections
    /// break, which costs none.
    private func leavesAlone(_ inquiry: MountInquiry) -> Bool {
        let reachability = upstream.reachability
        return !reachability.isReachable && !inquiry.asksAnew
            && reachability.lastError?.reason != UnreachableReason.reset.rawValue
    }

    /// What the upstream has asked for with `Retry-After`, as it holds for the reads of screens: nobody reads from it
    /// until then but who asks for the network. Writes are tried.
    private func pause(for inquiry: MountInquiry) -> (status: HTTPResponse.Status, error: UpstreamError)? {
        let reachability = upstream.reachability
        guard inquiry.readsStore, !inquiry.asksAnew, let seconds = reachability.secondsPaused(at: upstream.clock.now())
        else { return nil }
        let status = reachability.pausedBy ?? .tooManyRequests
        return (status, .failing(status: status, retryAfter: seconds))
    }

    /// The answer that another client's request has brought since this one arrived. RFC 9111 §4: collapsed requests;
    /// §5.2.2.4: but not `no-cache`, nor what a write has overtaken that was done when this one arrived.
    private func joined(_ inquiry: MountInquiry, since arrival: Date, _ reason: CacheStatus.Forward) async throws
        -> MountAnswer?
    {
        let stored = try candidates(for: inquiry)
        guard let index = policy.selectedIndex(for: inquiry.judged.headerFields, among: stored.map(\.response)),
            stored[index].response.responseTime >= arrival, !stored[index].isInvalidated,
            !CacheControl(stored[index].response.headerFields).contains("no-cache"),
            let body = try await open(stored[index])
        else { return nil }
        let reuse = policy.reuse(of: stored[index].response, at: index, now: upstream.clock.now())
        return served(
            inquiry,
            reuse,
            body,
            account: policy.account(of: reason, upstreamStatus: nil, collapsed: true),
            isOffline: false
        )
    }

    /// RFC 5861 §3: validates while the client has its answer already.
    private func revalidate(_ inquiry: MountInquiry, _ plan: Relay) {
        guard let flight = flights.leadIfFree(.init(url: inquiry.key, credential: inquiry.credential)) else { return }
        background.start { [self] in
            do {
                let answer = try await relay(inquiry.withoutRange, plan, flight)
                if case .stream(let parts, _) = answer.body { for try await _ in parts {} }
            } catch {
                upstream.logger.debug("a validation in the background failed", metadata: ["error": "\(error)"])
            }
        }
    }
}
