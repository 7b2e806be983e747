import Foundation
import HTTPTypes

/// One stored response held against the wishes of one request.
struct Assessment {
    private let reuse: Reuse
    private let directives: ResponseDirectives
    private let wishes: RequestDirectives
    private let policy: CachingRules
    private let age: Double
    let validation: Validation

    init(
        of stored: CachedResponseHead,
        at index: Int,
        for request: HTTPFields,
        wishes: RequestDirectives,
        policy: CachingRules,
        now: Date
    ) {
        reuse = policy.reuse(of: stored, at: index, now: now)
        directives = ResponseDirectives(stored.headerFields, policy: policy)
        self.wishes = wishes
        self.policy = policy
        age = stored.age(at: now)
        validation = Validation(
            index: index,
            stored: stored,
            condition: ConditionalRequest(validating: stored, client: request),
            // RFC 9211 §2.2: "request" where the stored response was fresh and only the request did not take it.
            reason: reuse.freshness.isFresh && directives.noCache != .everything ? .request : .stale,
            fallback: Self.fallback(
                stored,
                staleness: reuse.freshness.staleness,
                directives: directives,
                wishes: wishes,
                policy: policy
            )
        )
    }

    var decision: Decision {
        if isUsableAsItIs { return .serve(reuse) }
        if isUsableWhileRevalidated {
            var served = reuse
            served.revalidation = wishes.onlyIfCached ? nil : validation
            return .serve(served)
        }
        guard wishes.onlyIfCached else { return .validate(validation) }
        // To be kept from the network is to be disconnected (RFC 9111 §4.2.4): where that permits a stale answer, this
        // does.
        return validation.fallback.contains(.unreachable) && !wishes.noCache ? .serve(reuse) : .gatewayTimeout
    }

    private var isFresh: Bool { reuse.freshness.isFresh }

    /// Whether an explicit directive leaves any use without validation at all. RFC 9111 §5.2.1.4, §5.2.2.4.
    private var isBarred: Bool { wishes.noCache || directives.noCache == .everything }

    /// RFC 9111 §4: fresh, or stale and allowed to be.
    private var isUsableAsItIs: Bool {
        guard !isBarred, leavesMinimum else { return false }
        let overdue = max(reuse.freshness.staleness, wishes.maxAge.map { age - Double($0) } ?? -.infinity)
        if overdue < 0 { return true }
        // RFC 9111 §5.2.1.2; the response's own prohibition wins (§4.2.4), but it is about stale answers only.
        if !isFresh, directives.forbidsStale(shared: policy.shared) { return false }
        return switch wishes.maxStale {
        case .unlimited?: true
        case .seconds(let limit)?: overdue <= Double(limit)
        case nil: false
        }
    }

    /// RFC 9111 §5.2.1.3.
    private var leavesMinimum: Bool {
        wishes.minFresh.map { -reuse.freshness.staleness >= Double($0) } ?? true
    }

    /// RFC 5861 §3. A client that set limits of its own did not ask for a stale answer.
    private var isUsableWhileRevalidated: Bool {
        guard !isFresh, !isBarred, leavesMinimum, !directives.forbidsStale(shared: policy.shared),
            let window = directives.staleWhileRevalidate
        else {
            return false
        }
        return reuse.freshness.staleness <= Double(window) && wishes.maxAge.map { age < Double($0) } ?? true
    }

    /// RFC 9111 §4.2.4, RFC 5861 §4. That the client asked for validation is no reason against: it was tried. Stored
    /// errors are no last good.
    private static func fallback(
        _ stored: CachedResponseHead,
        staleness: Double,
        directives: ResponseDirectives,
        wishes: RequestDirectives,
        policy: CachingRules
    ) -> Fallback {
        if directives.forbidsStale(shared: policy.shared) || stored.status.code >= 500 { return [] }
        if policy.lastGood { return [.unreachable, .serverError, .anyRefusal] }
        let window = max(directives.staleIfError ?? -1, wishes.staleIfError ?? -1)
        return window >= 0 && staleness <= Double(window) ? [.unreachable, .serverError] : []
    }
}
