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
    /// How freshness lifetimes are estimated.
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
