import Foundation
package import HTTPTypes

/// The choices that RFC 9111 leaves to the operator of a cache.
package struct CachingRules: Sendable, Equatable {
    /// How a freshness lifetime is estimated if the response gives none. RFC 9111 §4.2.2.
    package enum Heuristics: Sendable, Equatable {
        /// No estimate: a response without a lifetime is stale at once.
        case off
        /// A part of the time since the last modification, such as 0.1, but at most a given time.
        case lastModified(fraction: Double, atMost: Duration)

        /// Ten per cent of the time since the last modification, at most a day.
        package static let tenPercent = Heuristics.lastModified(fraction: 0.1, atMost: .seconds(86_400))
    }

    /// Name that this cache writes into `Cache-Status`; a token (RFC 9211 §2).
    package var cacheName: String
    /// Whether responses are served to more than one user. A cache per credential is not shared. RFC 9111 §1.
    var shared: Bool
    var heuristics: Heuristics
    /// A freshness lifetime set by the caller, instead of the one of the response; counted from reception, regardless
    /// of `Age`.
    ///
    /// It applies to heuristically cacheable statuses and overrides no prohibition: `no-store`, `no-cache` and similar
    /// directives still hold.
    var freshnessOverride: Duration?
    /// Whether any stored response may be used when the upstream fails, unless the response's own directives
    /// forbid it. RFC 9111 §4.2.4.
    var lastGood: Bool
    /// Targeted fields that this cache obeys, the most specific first. RFC 9213 §2.2.
    var targetedFields: [HTTPField.Name]
    /// Response directives, in lower case, that this cache ignores by configuration; for an application's own store
    /// behind a known API.
    var ignoredDirectives: Set<String>

    /// Creates rules. Without `targetedFields`, a shared cache obeys `CDN-Cache-Control` and a private one no
    /// targeted field.
    package init(
        cacheName: String,
        shared: Bool = true,
        heuristics: Heuristics = .off,
        freshnessOverride: Duration? = nil,
        lastGood: Bool = false,
        targetedFields: [HTTPField.Name]? = nil,
        ignoredDirectives: Set<String> = []
    ) {
        self.cacheName = cacheName
        self.shared = shared
        self.heuristics = heuristics
        self.freshnessOverride = freshnessOverride
        self.lastGood = lastGood
        self.targetedFields = targetedFields ?? (shared ? [.cdnCacheControl] : [])
        self.ignoredDirectives = ignoredDirectives
    }
}

extension Duration {
    var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}

/// How long a response may be used, and how much of that time is left. RFC 9111 §4.2.
package struct Freshness: Sendable, Equatable {
    /// Freshness lifetime in seconds.
    package var lifetime: Double
    /// The age that is compared with the lifetime, in seconds.
    var age: Double

    package init(lifetime: Double, age: Double) {
        self.lifetime = lifetime
        self.age = age
    }

    /// RFC 9111 §4.2 `response_is_fresh`.
    package var isFresh: Bool { lifetime > age }
    /// Seconds since the response became stale; negative while it is fresh.
    package var staleness: Double { age - lifetime }
    /// Remaining freshness in whole seconds, negative when stale: `ttl` of RFC 9211 §2.4.
    package var timeToLive: Int { Int(lifetime.rounded(.down)) - Int(age.rounded(.down)) }
}

extension CachingRules {
    /// Statuses whose responses may be stored, and their lifetime estimated, without an explicit directive. RFC 9110
    /// §15.1.
    static let heuristicallyCacheable: Set<Int> = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501]

    func freshness(
        of stored: CachedResponseHead,
        directives: ResponseDirectives,
        age: Double,
        at now: Date
    ) -> Freshness {
        if let freshnessOverride, Self.heuristicallyCacheable.contains(stored.status.code) {
            // "Always" is given as the largest duration; it is limited like any other number of seconds (§1.2.2).
            return Freshness(
                lifetime: min(freshnessOverride.inSeconds, Double(DeltaSeconds.limit)),
                age: stored.residentTime(at: now)
            )
        }
        return Freshness(lifetime: lifetime(of: stored, directives: directives), age: age)
    }

    /// Returns the first that applies of `s-maxage` (shared only), `max-age`, `Expires` less `Date`, and an estimate.
    /// An invalid one means 0. RFC 9111 §4.2.1.
    private func lifetime(of stored: CachedResponseHead, directives: ResponseDirectives) -> Double {
        if shared, let seconds = directives.sharedMaxAge { return Double(seconds.value ?? 0) }
        if let seconds = directives.maxAge { return Double(seconds.value ?? 0) }
        // RFC 9213 §2.2: a targeted field overrides Expires as well.
        if !directives.isTargeted, let expires = stored.headerFields.value(of: .expires) {
            // RFC 9111 §5.3: a value that is not a date, especially "0", is past. Several lines joined are not a date
            // either.
            guard let expiry = HTTPDate.parse(expires, now: stored.responseTime) else { return 0 }
            return max(0, expiry.timeIntervalSince(stored.date))
        }
        return heuristicLifetime(of: stored, isPublic: directives.isPublic)
    }

    /// RFC 9111 §4.2.2.
    private func heuristicLifetime(of stored: CachedResponseHead, isPublic: Bool) -> Double {
        guard case .lastModified(let fraction, let limit) = heuristics,
            isPublic || Self.heuristicallyCacheable.contains(stored.status.code),
            let modified = stored.lastModified
        else { return 0 }
        return min(max(0, stored.date.timeIntervalSince(modified) * fraction), limit.inSeconds)
    }
}
