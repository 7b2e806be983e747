import Foundation
import HTTPTypes

/// One stored response compared with the directives of one request.
struct Assessment {
    private let reuse: Reuse
    private let directives: ResponseDirectives
    private let requestDirectives: RequestDirectives
    private let policy: CachingRules
    private let age: Double
    let validation: Validation

    init(
        of stored: CachedResponseHead,
        at index: Int,
        for request: HTTPFields,
        requestDirectives: RequestDirectives,
        policy: CachingRules,
        now: Date
    ) {
        directives = ResponseDirectives(stored.headerFields, policy: policy)
        age = stored.age(at: now)
        reuse = policy.reuse(of: stored, at: index, age: age, directives: directives, now: now)
        self.requestDirectives = requestDirectives
        self.policy = policy
        validation = Validation(
            index: index,
            stored: stored,
            condition: ConditionalRequest(validating: stored, client: request),
            // RFC 9211 §2.2: "request" if the stored response was fresh and only the request did not accept it.
            reason: reuse.freshness.isFresh && directives.noCache != .everything ? .request : .stale,
            fallback: Self.fallback(
                stored,
                staleness: reuse.freshness.staleness,
                directives: directives,
                requestDirectives: requestDirectives,
                policy: policy
            )
        )
    }

    var decision: Decision {
        if isUsableWithoutValidation { return .serve(reuse) }
        if isUsableWhileRevalidated {
            var served = reuse
            served.revalidation = requestDirectives.onlyIfCached ? nil : validation
            return .serve(served)
        }
        guard requestDirectives.onlyIfCached else { return .validate(validation) }
        let isUsableIfDisconnected = validation.fallback.contains(.unreachable) && !requestDirectives.noCache
        return .gatewayTimeout(isUsableIfDisconnected ? validation : nil)
    }

    private var isFresh: Bool { reuse.freshness.isFresh }

    /// Whether an explicit directive forbids any use without validation. RFC 9111 §5.2.1.4, §5.2.2.4.
    private var forbidsUnvalidatedUse: Bool { requestDirectives.noCache || directives.noCache == .everything }

    /// Whether the response is fresh, or stale and permitted to be. RFC 9111 §4.
    private var isUsableWithoutValidation: Bool {
        guard !forbidsUnvalidatedUse, satisfiesMinFresh else { return false }
        let overdue = max(reuse.freshness.staleness, requestDirectives.maxAge.map { age - Double($0) } ?? -.infinity)
        if overdue < 0 { return true }
        // RFC 9111 §5.2.1.2; the response's own prohibition wins (§4.2.4), but it concerns stale responses only.
        if !isFresh, directives.forbidsStale(shared: policy.shared) { return false }
        return switch requestDirectives.maxStale {
        case .unlimited?: true
        case .seconds(let limit)?: overdue <= Double(limit)
        case nil: false
        }
    }

    /// Whether the response stays fresh for `min-fresh`. RFC 9111 §5.2.1.3.
    private var satisfiesMinFresh: Bool {
        requestDirectives.minFresh.map { -reuse.freshness.staleness >= Double($0) } ?? true
    }

    /// Whether a stale response may be used while it is validated. RFC 5861 §3. A client that sets limits of its own
    /// did not ask for a stale response.
    private var isUsableWhileRevalidated: Bool {
        guard !isFresh, !forbidsUnvalidatedUse, satisfiesMinFresh, !directives.forbidsStale(shared: policy.shared),
            let window = directives.staleWhileRevalidate
        else {
            return false
        }
        return reuse.freshness.staleness <= Double(window) && requestDirectives.maxAge.map { age < Double($0) } ?? true
    }

    /// Returns the failures after which the stored response may be used. RFC 9111 §4.2.4, RFC 5861 §4. A client that
    /// asked for validation does not prevent it: validation was tried. Stored errors are not a last good response.
    private static func fallback(
        _ stored: CachedResponseHead,
        staleness: Double,
        directives: ResponseDirectives,
        requestDirectives: RequestDirectives,
        policy: CachingRules
    ) -> Fallback {
        if directives.forbidsStale(shared: policy.shared) || stored.status.code >= 500 { return [] }
        if policy.lastGood { return [.unreachable, .serverError, .anyRefusal] }
        let window = max(directives.staleIfError ?? -1, requestDirectives.staleIfError ?? -1)
        return window >= 0 && staleness <= Double(window) ? [.unreachable, .serverError] : []
    }
}
