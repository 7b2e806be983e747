public import Foundation
public import HTTPTypes

extension CachingRules {
    /// Decides how a request is handled. RFC 9111 §4.
    /// - Parameters:
    ///   - request: the request, its hop-by-hop fields removed.
    ///   - candidates: all responses that are stored for its target URI.
    ///   - now: the current time.
    public func decision(for request: HTTPRequest, candidates: [CachedResponseHead], now: Date) -> Decision {
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
    public func selectedIndex(for request: HTTPFields, among candidates: [CachedResponseHead]) -> Int? {
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
    public func reuse(of stored: CachedResponseHead, at index: Int, now: Date, detail: String? = nil) -> Reuse {
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
