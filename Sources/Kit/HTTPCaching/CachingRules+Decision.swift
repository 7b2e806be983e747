public import Foundation
public import HTTPTypes

extension CachingRules {
    /// Decides what to do with a request. RFC 9111 §4.
    /// - Parameters:
    ///   - request: the request, its hop-by-hop fields removed.
    ///   - candidates: all that is stored for its target URI.
    ///   - now: the time.
    public func decision(for request: HTTPRequest, candidates: [CachedResponseHead], now: Date) -> Decision {
        // RFC 9111 §4: other methods are written through.
        guard request.method == .get || request.method == .head else { return .forward(.method) }
        let wishes = RequestDirectives(request.headerFields)
        guard let index = selectedIndex(for: request.headerFields, among: candidates) else {
            if wishes.onlyIfCached { return .gatewayTimeout }
            return .forward(candidates.isEmpty ? .uriMiss : .varyMiss)
        }
        let assessment = Assessment(
            of: candidates[index],
            at: index,
            for: request.headerFields,
            wishes: wishes,
            policy: self,
            now: now
        )
        // RFC 9111 §4.3.2: If-Match and If-Unmodified-Since are for the origin to evaluate. RFC 9111 §5.2.1.5: what may
        // not be stored may not freshen anything either.
        if wishes.noStore || request.headerFields.contains(.ifMatch)
            || request.headerFields.contains(.ifUnmodifiedSince)
        {
            return wishes.onlyIfCached ? .gatewayTimeout : .forward(assessment.validation.reason)
        }
        return assessment.decision
    }

    /// Of the stored responses that `Vary` lets match, the one with the most recent date; of equal ones the one received
    /// last. RFC 9111 §4, §4.1.
    public func selectedIndex(for request: HTTPFields, among candidates: [CachedResponseHead]) -> Int? {
        candidates.indices
            .filter {
                candidates[$0].method == .get && candidates[$0].status.code != 206 && candidates[$0].matches(request)
            }
            .max {
                (candidates[$0].date, candidates[$0].responseTime) < (candidates[$1].date, candidates[$1].responseTime)
            }
    }

    /// A stored response with its age and account, for use at this moment; whether it may be used is for
    /// ``decision(for:candidates:now:)`` and ``Fallback`` to say.
    /// - Parameter detail: `detail` of the account, such as `offline`.
    public func reuse(of stored: CachedResponseHead, at index: Int, now: Date, detail: String? = nil) -> Reuse {
        let freshness = freshness(of: stored, at: now)
        return Reuse(
            index: index,
            stored: stored,
            age: Int(stored.age(at: now).rounded(.down)),
            freshness: freshness,
            status: CacheStatus(.hit, timeToLive: freshness.timeToLive, detail: detail),
            revalidation: nil
        )
    }
}
