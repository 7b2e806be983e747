public import HTTPTypes

/// What kind of cache decides: the choices that RFC 9111 leaves to whoever runs one.
public struct CachingRules: Sendable, Equatable {
    /// How to guess a freshness lifetime where the response gives none. RFC 9111 §4.2.2.
    public enum Heuristics: Sendable, Equatable {
        /// Do not guess: a response without a lifetime is stale at once.
        case off
        /// A part of the time since the last modification, such as 0.1, but at most a given time.
        case lastModified(fraction: Double, atMost: Duration)

        /// Ten per cent of the time since the last modification, at most a day.
        public static let tenPercent = Heuristics.lastModified(fraction: 0.1, atMost: .seconds(86_400))
    }

    /// Name that this cache writes into `Cache-Status`; a token (RFC 9211 §2).
    public var cacheName: String
    /// Whether answers go to more than one user. A per-credential cache is not shared. RFC 9111 §1.
    public var shared: Bool
    /// Guessed freshness lifetimes.
    public var heuristics: Heuristics
    /// A freshness lifetime set by whoever asks, in place of what the response says; counted from reception, whatever
    /// `Age` came along.
    ///
    /// It applies to statuses that are cacheable by themselves, and lifts no prohibition: `no-store`, `no-cache` and
    /// the like still hold.
    public var freshnessOverride: Duration?
    /// Whether any stored response may be used when the upstream fails, unless the response's own directives forbid it. RFC
    /// 9111 §4.2.4.
    public var lastGood: Bool
    /// Targeted fields that this cache obeys, the most specific first. RFC 9213 §2.2.
    public var targetedFields: [HTTPField.Name]
    /// Response directives, in lower case, which this cache disregards by configuration; for an application's own store
    /// behind a known API.
    public var ignoredDirectives: Set<String>

    /// Creates a policy. Without `targetedFields`, a shared cache obeys `CDN-Cache-Control` and a private one no
    /// targeted field.
    public init(
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
    /// The duration in seconds.
    var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
