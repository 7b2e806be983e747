public import HTTPTypes

extension CacheStatus {
    /// Adds this account behind those of the caches nearer to the origin. RFC 9211 §2: the list runs from the origin to
    /// the client.
    public func append(to fields: inout HTTPFields, cacheName: String) {
        fields.append(HTTPField(name: .cacheStatus, value: member(of: cacheName)))
    }
}

extension CachingRules {
    /// The account of a request that went to the upstream, whether its response or, that failing, a stored one was sent.
    /// - Parameters:
    ///   - reason: why it went, from ``Decision``.
    ///   - upstreamStatus: status of the upstream's response; nil where there was none.
    ///   - stored: whether the response was stored.
    ///   - collapsed: whether the request waited for another one's answer (RFC 9211 §2.6).
    ///   - detail: further information, such as `unreachable` or `stale-if-error`.
    public func account(
        of reason: CacheStatus.Forward,
        upstreamStatus: Int?,
        stored: Bool = false,
        collapsed: Bool = false,
        detail: String? = nil
    ) -> CacheStatus {
        // RFC 9211 §2.3: the status is of use where it differs from what the client sees, or tells how a validation
        // went.
        let isTelling = reason == .stale || reason == .request || reason == .partial
        return CacheStatus(
            .forward(reason),
            forwardStatus: isTelling ? upstreamStatus : nil,
            stored: stored,
            collapsed: collapsed,
            detail: detail
        )
    }
}
