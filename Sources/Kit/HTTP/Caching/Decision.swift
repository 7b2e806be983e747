package import Foundation
package import HTTPTypes

/// The use of stored responses for a request. RFC 9111 §4.
package enum Decision: Sendable, Equatable {
    /// Respond from the store.
    case serve(Reuse)
    /// Validate a stored response at the origin.
    case validate(Validation)
    /// Request the bytes that are missing, and combine them with stored ones. RFC 9111 §3.4.
    case complete(Completion)
    /// Forward the request unchanged; no stored response can be used.
    case forward(CacheStatus.Forward)
    /// Respond with 504: the client forbids the network (`only-if-cached`, RFC 9111 §5.2.1.7) and no stored response
    /// may be used. The validation is of a stale response that may be used if the cache is disconnected (§4.2.4); nil
    /// if there is none.
    case gatewayTimeout(Validation?)
}

/// A stored response that may be sent now.
package struct Reuse: Sendable, Equatable {
    /// Its index among the candidates.
    package var index: Int
    package var stored: CachedResponseHead
    /// Its age in seconds.
    package var exactAge: Double
    package var freshness: Freshness
    /// Its `Cache-Status`: a hit with the remaining freshness.
    package var status: CacheStatus
    /// The validation to make in the background: the response is stale, but may be used while it is validated. RFC 5861
    /// §3.
    package var revalidation: Validation?
}

extension Reuse {
    /// Its age in whole seconds: the value of `Age`. RFC 9111 §5.1.
    package var age: Int { Int(exactAge.rounded(.down)) }
}

extension CachingRules {
    /// Decides how a request is handled. RFC 9111 §4.
    /// - Parameters:
    ///   - request: the request, its hop-by-hop fields removed.
    ///   - candidates: all responses that are stored for its target URI.
    ///   - now: the current time.
    package func decision(for request: HTTPRequest, candidates: [CachedResponseHead], now: Date) -> Decision {
        // RFC 9111 §4: other methods are written through.
        guard request.method == .get || request.method == .head else { return .forward(.method) }
        let requestDirectives = RequestDirectives(request.headerFields)
        guard let index = selectedIndex(for: request.headerFields, among: candidates) else {
            if requestDirectives.onlyIfCached { return .gatewayTimeout(nil) }
            return .forward(candidates.isEmpty ? .uriMiss : .varyMiss)
        }
        let assessment = Assessment(
            of: candidates[index],
            at: index,
            for: request.headerFields,
            requestDirectives: requestDirectives,
            policy: self,
            now: now
        )
        // RFC 9111 §4.3.2: If-Match and If-Unmodified-Since are for the origin to evaluate. RFC 9111 §5.2.1.5: a
        // response that may not be stored may not freshen a stored one either.
        if requestDirectives.noStore || request.headerFields.contains(.ifMatch)
            || request.headerFields.contains(.ifUnmodifiedSince)
        {
            return requestDirectives.onlyIfCached ? .gatewayTimeout(nil) : .forward(assessment.validation.reason)
        }
        return decision(for: request, missingIn: candidates[index], at: index) ?? assessment.decision
    }

    /// Selects, of the stored responses that match by `Vary`, the one with the most recent date; of equal ones the one
    /// received last. RFC 9111 §4, §4.1.
    /// - Returns: its index; nil if no stored response matches.
    package func selectedIndex(for request: HTTPFields, among candidates: [CachedResponseHead]) -> Int? {
        candidates.indices
            .filter {
                candidates[$0].method == .get && candidates[$0].isSelectable && candidates[$0].matches(request)
            }
            .max {
                (candidates[$0].date, candidates[$0].responseTime) < (candidates[$1].date, candidates[$1].responseTime)
            }
    }

    /// Returns a stored response with its age and `Cache-Status` at this moment; whether it may be used is decided by
    /// ``decision(for:candidates:now:)`` and ``Fallback``.
    /// - Parameters:
    ///   - stored: the response.
    ///   - index: its index among the candidates.
    ///   - now: the current time.
    ///   - detail: `detail` of the `Cache-Status`, such as `offline`.
    package func reuse(of stored: CachedResponseHead, at index: Int, now: Date, detail: String? = nil) -> Reuse {
        let directives = ResponseDirectives(stored.headerFields, policy: self)
        return reuse(of: stored, at: index, age: stored.age(at: now), directives: directives, now: now, detail: detail)
    }

    /// Returns the same for a response whose age and directives are known.
    func reuse(
        of stored: CachedResponseHead,
        at index: Int,
        age: Double,
        directives: ResponseDirectives,
        now: Date,
        detail: String? = nil
    ) -> Reuse {
        let freshness = freshness(of: stored, directives: directives, age: age, at: now)
        return Reuse(
            index: index,
            stored: stored,
            exactAge: age,
            freshness: freshness,
            status: CacheStatus(.hit, timeToLive: freshness.timeToLive, detail: detail),
            revalidation: nil
        )
    }
}

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
