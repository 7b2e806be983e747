public import HTTPSemantics
public import HTTPTypes

/// The cache directives of a response, as they apply to a cache with given rules. RFC 9111 §5.2.2, RFC 5861, RFC 9213.
public struct ResponseDirectives: Sendable, Equatable {
    /// The scope of `no-cache` and `private`.
    public enum Scope: Sendable, Equatable {
        /// The whole response.
        case everything
        /// The named fields only: the qualified form (RFC 9111 §5.2.2.4, §5.2.2.7).
        case fields([HTTPField.Name])
    }

    /// The response must not be stored. RFC 9111 §5.2.2.5.
    public var noStore: Bool
    /// The response must not be used without validation. RFC 9111 §5.2.2.4.
    public var noCache: Scope?
    /// The response must not be stored by a shared cache. RFC 9111 §5.2.2.7.
    public var isPrivate: Scope?
    /// The response is explicitly cacheable. RFC 9111 §5.2.2.9.
    public var isPublic: Bool
    /// The response must not be used stale. RFC 9111 §5.2.2.2.
    public var mustRevalidate: Bool
    /// The response must not be used stale by a shared cache. RFC 9111 §5.2.2.8.
    public var proxyRevalidate: Bool
    /// The response may be stored only by caches that understand its status code; they ignore `no-store`. RFC 9111
    /// §5.2.2.3.
    public var mustUnderstand: Bool
    /// Freshness lifetime. RFC 9111 §5.2.2.1.
    public var maxAge: DeltaSeconds?
    /// Freshness lifetime for shared caches; includes `proxy-revalidate`. RFC 9111 §5.2.2.10.
    public var sharedMaxAge: DeltaSeconds?
    /// Seconds for which a stale response may be used while it is being validated; an invalid value permits nothing.
    /// RFC 5861 §3.
    public var staleWhileRevalidate: Int?
    /// Seconds for which a stale response may be used when the origin fails; an invalid value permits nothing. RFC
    /// 5861 §4.
    public var staleIfError: Int?
    /// Whether a targeted field applies, so that `Cache-Control` and `Expires` are ignored. RFC 9213 §2.2.
    public var isTargeted: Bool

    /// Reads the header fields of a response.
    /// - Parameters:
    ///   - fields: the fields, all lines.
    ///   - policy: rules of the cache: its targeted fields and the directives it ignores.
    public init(_ fields: HTTPFields, policy: CachingRules) {
        let targeted = TargetedCacheControl.first(of: policy.targetedFields, in: fields)
        isTargeted = targeted != nil
        var control = targeted ?? CacheControl(fields)
        if !policy.ignoredDirectives.isEmpty {
            control.directives.removeAll { policy.ignoredDirectives.contains($0.name) }
        }
        noStore = control.contains("no-store")
        noCache = Self.scope("no-cache", in: control)
        isPrivate = Self.scope("private", in: control)
        isPublic = control.contains("public")
        mustRevalidate = control.contains("must-revalidate")
        proxyRevalidate = control.contains("proxy-revalidate")
        mustUnderstand = control.contains("must-understand")
        maxAge = control.deltaSeconds("max-age")
        sharedMaxAge = control.deltaSeconds("s-maxage")
        staleWhileRevalidate = control.deltaSeconds("stale-while-revalidate")?.value
        staleIfError = control.deltaSeconds("stale-if-error")?.value
    }

    /// Returns the fields that must not be stored, or not be used without validation, by a shared or private cache.
    func restrictedFields(shared: Bool) -> [HTTPField.Name] {
        var names: [HTTPField.Name] = []
        if case .fields(let listed) = noCache { names += listed }
        if shared, case .fields(let listed) = isPrivate { names += listed }
        return names
    }

    /// Returns whether the response may never be used stale: an explicit directive overrides every permission. RFC
    /// 9111 §4.2.4.
    func forbidsStale(shared: Bool) -> Bool {
        mustRevalidate || noCache == .everything || (shared && (proxyRevalidate || sharedMaxAge != nil))
    }

    /// Returns the widest scope: one unqualified occurrence, or one whose field list cannot be read, covers the whole
    /// response.
    private static func scope(_ name: String, in control: CacheControl) -> Scope? {
        var listed: [HTTPField.Name] = []
        var isPresent = false
        for directive in control.directives where directive.name == name {
            guard case .value(let text) = directive.argument else { return .everything }
            let members = FieldList.members(of: text)
            let names = members.compactMap { HTTPField.Name(String($0)) }
            guard !names.isEmpty, names.count == members.count else { return .everything }
            listed += names
            isPresent = true
        }
        return isPresent ? .fields(listed) : nil
    }
}
